#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include <zkrecipes/log.hpp>
#include <zkrecipes/session.hpp>
#include <zkrecipes/session_options.hpp>

#include "backend/link.hpp"
#include "backend/request.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Puts what happens to a session into events for the user's log hook. Without a hook every function does nothing. On
/// the strand.
class session_log {
 public:
  session_log(const scheduler& on, const session_options& options);

  bool is_on() const noexcept { return hook_ != nullptr; }

  void name_not_resolved(const backend::endpoint& name, const error_code& error) const;
  void connect_failed(const connection_failure& failure) const;
  void waiting_for_answer(const backend::endpoint& server, std::chrono::milliseconds since,
                          std::chrono::milliseconds limit) const;
  /// The session has credentials now: the advice after `no_auth` is another.
  void credentials_added() noexcept { has_credentials_ = true; }
  /// Also tells whether this is another server than the last one.
  void connected(const backend::endpoint& server);
  /// The servers have an older state than the session has seen.
  void set_back(const backend::endpoint& server) const;
  void connection_lost(const backend::endpoint& server, const error_code& error) const;
  void incarnation_begun(std::uint64_t number, std::int64_t session_id, std::chrono::milliseconds timeout) const;
  void incarnation_ended(std::uint64_t number, std::int64_t session_id, const error_code& why) const;
  void lease_lapsed() const;
  void out_of_memory() const;
  /// The answer to a look at the root, which may be a good one.
  void root_seen(std::string_view root, const error_code& answer) const;
  /// The outcome of a request, which may be a success. `detail`: what the session itself has decided.
  void operation_ended(backend::opcode op, std::string_view path, const error_code& error,
                       std::string_view detail = {}) const;
  /// A probe has found a change out.
  void change_untold(std::string_view path) const;
  void guarded(std::string_view guardian) const;
  void unguarded(std::string_view guardian, const error_code& why, std::string_view detail) const;
  /// A file of `session_options::tls` has changed.
  void certificates_changed(bool is_usable, std::string_view detail) const;
  /// The session object is closed.
  void ended(const error_code& why, const backend::endpoint& server) const;

 private:
  void write_log(log_severity severity, session_event event, std::string_view server, const error_code& error,
                 std::string_view detail) const;

  log_hook hook_;
  bool has_credentials_;
  bool speaks_tls_;
  std::string last_server_;
};

}  // namespace zkrecipes::detail
