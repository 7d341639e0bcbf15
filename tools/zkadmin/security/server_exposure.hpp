// What a server of the ensemble tells everybody about its settings, without a session.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zkadmin {

/// What a server did not tell is missing.
struct server_exposure {
  std::string server;                     ///< As configured, "host:port".
  std::string admin_server{};             ///< "host:port" of its AdminServer, if that answers; else empty.
  bool is_admin_local = false;            ///< It answered at a loopback address, so perhaps only this machine.
  std::vector<std::string> secrets{};     ///< Names of properties with secrets that the AdminServer shows. No values.
  std::optional<bool> skips_acls{};       ///< `skipACL`.
  std::optional<bool> all_words{};        ///< It answers all four-letter words.
  std::optional<bool> has_plain_port{};   ///< `clientPort`
  std::optional<bool> has_secure_port{};  ///< `secureClientPort`
  std::vector<std::string> gaps{};        ///< What may be open or closed, because no answer tells, and why.
  friend bool operator==(const server_exposure&, const server_exposure&) = default;
};

/// Takes what the answer to `conf` tells. False: it is no such answer. Pure.
bool add_conf(server_exposure& seen, std::string_view answer);

/// Takes what the AdminServer's answer to /commands/system_properties tells. Returns why it is no such answer, or
/// nothing. Pure.
std::string add_properties(server_exposure& seen, std::string_view body);

/// Whether this answers `gtmk`, which only a server does that allows every word: a mask for its log. Pure.
bool is_trace_mask(std::string_view answer) noexcept;

/// Whether a server answers so to a word that it does not allow. Pure.
bool is_forbidden_word(std::string_view answer) noexcept;

}  // namespace zkadmin
