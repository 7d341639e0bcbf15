#include "session/log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <boost/asio/error.hpp>

#include <zkrecipes/log.hpp>

#include "format/shown_text.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

const char* advice_on(failure_reason reason) {
  switch (reason) {
    case failure_reason::refused: return "nothing listens there";
    case failure_reason::unreachable: return "the network does not lead there";
    case failure_reason::silent:
      return "no answer within the connect timeout: is it paused or cut off, or no ZooKeeper server?";
    case failure_reason::closed:
      return "the server closed the connection: it may have no quorum or too many connections, or the port may be of "
             "another program";
    case failure_reason::authentication: return "the server refused the credentials themselves";
    case failure_reason::read_only: return "the server has no quorum";
    case failure_reason::session_refused:
      return "the server says that the session is over; the client asks for a new one";
    case failure_reason::unresolved:
      return "the host name has no address; it is looked up again before the next round over the servers";
    case failure_reason::no_descriptors:
      return "the process has no free file descriptor: raise its limit of open files (ulimit -n, LimitNOFILE=)";
    case failure_reason::tls: break;
  }
  return "";
}

/// The connection was closed by us.
constexpr const char* breach_of_protocol =
    "what it sent breaks the protocol: it is no ZooKeeper server, or not to be trusted";

const char* advice_on_tls(const error_code& error) {
  switch (static_cast<tls_errc>(error.value())) {
    case tls_errc::unknown_authority: return "session_options::tls.authorities has to hold its authority";
    case tls_errc::wrong_name:
      return "write it in session_options::hosts as the certificate has it, or set tls.server_name";
    case tls_errc::expired: return "the server's certificate has to be renewed";
    case tls_errc::not_yet_valid: return "is the clock right?";
    case tls_errc::revoked: return "the server needs a certificate that is not revoked";
    case tls_errc::unusable_certificate:
      return "check purpose (serverAuth), key length and chain of the server's certificate";
    case tls_errc::certificate_required: return "set session_options::tls.certificate and key";
    case tls_errc::own_certificate_expired:
      return "renew session_options::tls.certificate: the next connection reads the file again";
    case tls_errc::own_authority_unknown:
    case tls_errc::own_certificate_revoked: return "the log of the server may say more";
    case tls_errc::own_certificate_refused:
      return "the log of the server may say more; one that is closing, or a network that fails, ends connections so, "
             "too";
    case tls_errc::no_common_version: return "see session_options::tls.minimum_version and ssl.enabledProtocols";
    case tls_errc::not_tls: return "is it the port for TLS? A server that is closing ends connections so, too";
    case tls_errc::handshake_failed: return "the log of the server may say more";
  }
  return "";
}

constexpr const char* no_credentials = "this session has no credentials: session_options::digest";

/// No connection has come about.
const char* advice_on_unreachable(const error_code& error) {
  namespace system_errc = boost::system::errc;
  if (error == system_errc::address_not_available)
    return "this machine has no free address for it; TLS needs one of the loopback interface, too";
  if (error == system_errc::permission_denied || error == system_errc::operation_not_permitted)
    return "this machine forbids it, for example by a firewall of its own";
  const bool is_of_network = error == system_errc::network_unreachable || error == system_errc::host_unreachable ||
                             error == system_errc::network_down || error == system_errc::timed_out;
  return is_of_network ? advice_on(failure_reason::unreachable)
                       : "this machine could not even try: is the address right?";
}

const char* advice_on(const connection_failure& failure, bool speaks_tls) {
  if (failure.error == boost::system::errc::protocol_error) return breach_of_protocol;
  if (failure.reason == failure_reason::tls) return advice_on_tls(failure.error);
  if (failure.error == errc::auth_required)
    return "its enforce.auth.schemes names the scheme: digest is session_options::digest or async_add_credentials, "
           "x509 a certificate in session_options::tls";
  if (failure.reason == failure_reason::unreachable) return advice_on_unreachable(failure.error);
  if (failure.reason == failure_reason::closed && !speaks_tls)
    return "the server closed the connection: it may have no quorum or too many connections, or the port may be for "
           "TLS only, or of another program";
  return advice_on(failure.reason);
}

const char* advice_on_loss(const error_code& error) {
  if (error == boost::system::errc::protocol_error) return breach_of_protocol;
  if (error == errc::session_expired)
    return "this process was forked: the session is its parent's, and a new one begins";
  return error == errc::timed_out ? "the server fell silent" : "the connection ended";
}

std::string name_of_session(std::int64_t id) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), static_cast<std::uint64_t>(id), 16).ptr;
  return "session 0x" + std::string(digits.begin(), end);
}

/// Answers that belong to the normal work of a program and of the recipes are for debugging. A lost reply comes with
/// the loss of the connection, which is told as a warning.
log_severity severity_of(const error_code& error) {
  if (is_write_conflict(error) || error == errc::not_empty || error == errc::rolled_back) return log_severity::debug;
  return may_have_happened(error) ? log_severity::info : log_severity::warning;
}

}  // namespace

session_log::session_log(const scheduler& on, const session_options& options)
    : hook_(detail::guarded(on, options.log)),
      has_credentials_(!options.digest.empty()),
      speaks_tls_(options.tls.has_value()) {}

void session_log::write_log(log_severity severity, session_event event, std::string_view server,
                            const error_code& error, std::string_view detail) const {
  hook_({severity, event, server, {}, {}, error, detail});
}

void session_log::name_not_resolved(const backend::endpoint& name, const error_code& error) const {
  if (!is_on()) return;
  const bool is_silent = error == boost::asio::error::timed_out;
  write_log(log_severity::warning, session_event::name_not_resolved, backend::to_string(name), error,
            is_silent ? "the resolver gives no answer" : advice_on(failure_reason::unresolved));
}

void session_log::connect_failed(const connection_failure& failure) const {
  if (!is_on()) return;
  const bool is_renewal = failure.reason == failure_reason::session_refused;
  write_log(is_renewal ? log_severity::info : log_severity::warning, session_event::connect_failed, failure.server,
            failure.error, advice_on(failure, speaks_tls_));
}

void session_log::waiting_for_answer(const backend::endpoint& server, std::chrono::milliseconds since,
                                     std::chrono::milliseconds limit) const {
  if (!is_on()) return;
  const auto detail =
      "no answer for " + std::to_string(since.count()) + " ms; given up after " + std::to_string(limit.count()) + " ms";
  write_log(log_severity::warning, session_event::waiting_for_answer, backend::to_string(server), {}, detail);
}

void session_log::connected(const backend::endpoint& server) {
  if (!is_on()) return;
  const auto before = std::exchange(last_server_, backend::to_string(server));
  write_log(log_severity::info, session_event::connected, last_server_, {}, {});
  if (before.empty() || before == last_server_) return;
  write_log(log_severity::info, session_event::server_changed, last_server_, {}, "before: " + before);
}

void session_log::set_back(const backend::endpoint& server) const {
  if (!is_on()) return;
  write_log(
      log_severity::warning, session_event::set_back, backend::to_string(server), errc::session_expired,
      "the servers have gone back to an older state: was a backup restored? The session is closed, a new one begins");
}

void session_log::connection_lost(const backend::endpoint& server, const error_code& error) const {
  if (!is_on()) return;
  write_log(log_severity::warning, session_event::connection_lost, backend::to_string(server), error,
            advice_on_loss(error));
}

void session_log::incarnation_begun(std::uint64_t number, std::int64_t session_id,
                                    std::chrono::milliseconds timeout) const {
  if (!is_on()) return;
  const auto detail = name_of_session(session_id) + ", incarnation " + std::to_string(number) + ", timeout " +
                      std::to_string(timeout.count()) + " ms";
  write_log(log_severity::info, session_event::incarnation_begun, last_server_, {}, detail);
}

void session_log::incarnation_ended(std::uint64_t number, std::int64_t session_id, const error_code& why) const {
  if (!is_on()) return;
  const bool is_wanted = why == errc::closed;
  const auto detail = name_of_session(session_id) + ", incarnation " + std::to_string(number);
  write_log(is_wanted ? log_severity::info : log_severity::warning, session_event::incarnation_ended, {}, why, detail);
}

void session_log::out_of_memory() const {
  if (!hook_) return;
  const auto why = make_error_code(boost::system::errc::not_enough_memory);
  write_log(log_severity::warning, session_event::out_of_memory, {}, why, "the session goes on");
}

void session_log::lease_lapsed() const {
  if (!is_on()) return;
  write_log(log_severity::warning, session_event::lease_lapsed, {}, errc::lease_lapsed,
            "the locks, permits and terms of this session are lost");
}

void session_log::root_seen(std::string_view root, const error_code& answer) const {
  const bool is_missing = answer == errc::no_node;
  if (!is_on() || (!is_missing && answer != errc::no_auth)) return;
  log_event told;
  told.severity = log_severity::warning;
  told.event = is_missing ? session_event::root_missing : session_event::root_closed;
  told.path = root;
  told.error = answer;
  told.detail =
      is_missing ? "the root does not exist: create it, or set session_options::create_root"
      : has_credentials_
          ? "servers accept any digest and compare it only with the ACL of a node: compare the ACL of the root "
            "with session_options::digest"
          : no_credentials;
  hook_(told);
}

void session_log::operation_ended(backend::opcode op, std::string_view path, const error_code& error,
                                  std::string_view detail) const {
  if (!is_on() || !error || error == errc::closed || is_cancelled(error)) return;
  log_event told;
  told.event = session_event::operation_failed;
  told.severity = detail.empty() ? severity_of(error) : log_severity::warning;
  told.operation = backend::to_string(op);
  told.path = path;
  told.error = error;
  told.detail = detail;
  if (error == errc::no_auth && detail.empty()) {
    told.detail = has_credentials_ ? "the ACL gives this session no such right: compare it with session_options::digest"
                                   : no_credentials;
  }
  hook_(told);
}

void session_log::change_untold(std::string_view path) const {
  if (!is_on()) return;
  constexpr auto why =
      "the node had changed without an event, as servers send none while the session may not read the node; a probe "
      "has found the change";
  hook_({log_severity::warning, session_event::change_untold, {}, {}, path, {}, why});
}

void session_log::guarded(std::string_view guardian) const {
  if (is_on()) write_log(log_severity::info, session_event::guarded, guardian, {}, {});
}

void session_log::unguarded(std::string_view guardian, const error_code& why, std::string_view detail) const {
  if (is_on()) write_log(log_severity::warning, session_event::unguarded, guardian, why, detail);
}

void session_log::certificates_changed(bool is_usable, std::string_view detail) const {
  if (!is_on()) return;
  write_log(is_usable ? log_severity::info : log_severity::warning,
            is_usable ? session_event::certificates_reloaded : session_event::certificates_unusable, {}, {}, detail);
}

void session_log::ended(const error_code& why, const backend::endpoint& server) const {
  if (!is_on()) return;
  if (why == errc::auth_failed) {
    write_log(log_severity::error, session_event::authentication_failed, backend::to_string(server), why,
              "correct session_options::digest, and make a new session");
  }
  write_log(log_severity::info, session_event::closed, {}, why, {});
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

namespace {

using clock = std::chrono::steady_clock;

constexpr auto told_again_after = std::chrono::seconds(30);
constexpr std::size_t most_kinds = 100;
constexpr std::size_t longest_line = 1'000;  // a pipe takes a line of this length whole, or is not ready for it

/// `write` to standard error without the signal SIGPIPE, which would end the process: the reader of a pipe can leave
/// between `poll` and the call, too.
ssize_t write_without_signal(const std::string& line) {
  sigset_t broken_pipe, before, pending;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  sigpending(&pending);
  if (::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before) != 0) return -1;
  const auto written = ::write(STDERR_FILENO, line.data(), line.size());
  if (written < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
    constexpr timespec at_once{};
    ::sigtimedwait(&broken_pipe, nullptr, &at_once);  // that of our call, which is for this thread alone
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return written;
}

class folded_log {
 public:
  void add(const log_event& event) {
    auto kind = event;
    kind.path = kind.detail = {};
    const std::lock_guard lock(mutex_);
    if (told_.size() >= most_kinds) told_.clear();
    auto& before = told_[to_string(kind)];
    const auto now = clock::now();
    const bool is_first = before.when == clock::time_point();
    if (!is_first && now - before.when < told_again_after) return void(++before.left_out);
    auto line = "zkrecipes " + std::string(to_string(event.severity)) + ": " + to_string(event);
    if (before.left_out > 0) line += ", " + std::to_string(before.left_out) + " more of this kind before it";
    line.resize(std::min(line.size(), longest_line));
    if (!write(line + '\n')) return void(++before.left_out);
    before = {now, 0};
  }

 private:
  struct entry {
    clock::time_point when{};
    std::size_t left_out = 0;
  };

  /// Waits for nobody who does not read, and sends no SIGPIPE where nobody can.
  static bool write(const std::string& line) {
    pollfd standard_error{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&standard_error, 1, 0) != 1 || standard_error.revents != POLLOUT) return false;
    return write_without_signal(line) >= 0;
  }

  std::mutex mutex_;
  std::map<std::string, entry> told_;
};

}  // namespace

void log_to_stderr(const log_event& event) noexcept {
  if (event.severity < log_severity::warning) return;
  try {
    static auto& all = *new folded_log;  // sessions that end behind the end of `main` tell it, too
    all.add(event);
  } catch (...) {  // no memory
  }
}

const char* to_string(log_severity severity) noexcept {
  switch (severity) {
    case log_severity::debug: return "debug";
    case log_severity::info: return "info";
    case log_severity::warning: return "warning";
    case log_severity::error: return "error";
  }
  return "?";
}

const char* to_string(session_event event) noexcept {
  switch (event) {
    case session_event::name_not_resolved: return "name_not_resolved";
    case session_event::connect_failed: return "connect_failed";
    case session_event::waiting_for_answer: return "waiting_for_answer";
    case session_event::connected: return "connected";
    case session_event::server_changed: return "server_changed";
    case session_event::connection_lost: return "connection_lost";
    case session_event::incarnation_begun: return "incarnation_begun";
    case session_event::incarnation_ended: return "incarnation_ended";
    case session_event::lease_lapsed: return "lease_lapsed";
    case session_event::out_of_memory: return "out_of_memory";
    case session_event::authentication_failed: return "authentication_failed";
    case session_event::root_missing: return "root_missing";
    case session_event::root_closed: return "root_closed";
    case session_event::operation_failed: return "operation_failed";
    case session_event::guarded: return "guarded";
    case session_event::unguarded: return "unguarded";
    case session_event::closed: return "closed";
    case session_event::certificates_reloaded: return "certificates_reloaded";
    case session_event::certificates_unusable: return "certificates_unusable";
    case session_event::change_untold: return "change_untold";
    case session_event::set_back: return "set_back";
    case session_event::term_begun: return "term_begun";
    case session_event::consumer_goes_on: return "consumer_goes_on";
  }
  return "?";
}

std::string to_string(const log_event& event) {
  std::string line = to_string(event.event);
  for (const auto part : {event.server, event.operation, event.path}) {
    if (!part.empty()) line.append(" ").append(part);
  }
  // What has no writes, such as an attempt to connect, has a detail that says more.
  const bool says_more = event.error == errc::connection_loss && !event.detail.empty();
  const auto error = event.error && !says_more ? event.error.message() : std::string();
  const bool is_in_name = event.event == session_event::closed && event.error == errc::closed;
  if (!error.empty() && !is_in_name) line.append(": ").append(error);
  if (!event.detail.empty()) line.append(" (").append(event.detail).append(")");
  return detail::coded_text(line);
}

}  // namespace zkrecipes
