// The judgement on access rights and servers by all rules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "cluster/tree_search.hpp"
#include "problems/verdict.hpp"
#include "security/access_reader.hpp"
#include "servers/admin_client.hpp"
#include "servers/prober.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

// What a server of the ensemble tells everybody about its settings, without a session.

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

// Asks servers what they tell everybody.

/// Takes what the answers to `conf` and `gtmk` tell. A word is closed only if the server says so: an answer that did
/// not come is a gap. Pure.
void add_words(server_exposure& seen, const word_answer& conf, const word_answer& mask);

/// Takes the AdminServer's answer to /commands/configuration. It is closed only if the connection was refused: all else
/// that is no such answer is a gap. Returns whether it answers. Pure.
bool add_admin_server(server_exposure& seen, const std::string& where, const admin_answer& settings);

/// Asks for `conf` and `gtmk`, with `tls` over TLS, and then the AdminServer at `admin_port` of the host, whichever
/// server's it is. Nothing of it changes the server.
boost::asio::awaitable<server_exposure> ask_about_exposure(endpoint server, std::uint16_t admin_port,
                                                           tls_context_ptr tls, deadline limit);

// The problems of what a server tells, and of its ports. Pure functions.

/// `has_tls`: we ourselves speak TLS to it.
problem_list problems_of(const server_exposure& seen, bool has_tls);

/// Whether the server has told anything about its settings.
bool reports_settings(const server_exposure& seen) noexcept;

/// What one look has found. A part that is missing was not asked for, or `trouble` says why it is not known.
struct security_findings {
  std::optional<access_survey> rights{};
  std::vector<server_status> servers{};
  std::vector<server_exposure> exposures{};
  bool is_secure = false;  ///< Our connections speak TLS.
  std::string trouble{};
};

/// A server that tells nothing of its settings is a remark, and no gap: that is how it should be.
verdict judge_security(const security_findings& seen, const wanted_kinds& kinds);

}  // namespace zkadmin
