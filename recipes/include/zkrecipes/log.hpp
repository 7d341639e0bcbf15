// Hook that tells what happens to a session and why, for a log.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// How much attention an event deserves.
enum class log_severity {
  debug,    ///< An answer that a program may expect, such as `no_node`.
  info,     ///< A change that belongs to normal work.
  warning,  ///< Something does not work at present; the session tries again where that can help.
  error     ///< The session object is of no further use.
};

/// The kinds of event.
enum class session_event {
  name_not_resolved,      ///< A host name has no address. It is asked for again in the next round.
  connect_failed,         ///< A server has not taken the session.
  waiting_for_answer,     ///< A server has not answered for one second; the attempt goes on.
  connected,              ///< A server has taken the session.
  server_changed,         ///< It is another server than before. It comes after `connected`.
  connection_lost,        ///< The connection broke, or the server ended it.
  incarnation_begun,      ///< A new ZooKeeper session. It comes after `connected`.
  incarnation_ended,      ///< The ZooKeeper session is over; what was owned in it is lost.
  lease_lapsed,           ///< Nothing proved in time that the session lives; told while something is owned.
  authentication_failed,  ///< A server refused the credentials. The session object is closed.
  root_missing,           ///< The root path does not exist, so each operation ends with `no_node`.
  root_closed,            ///< The ACL of the root gives this session no right to read it: is the digest right?
  operation_failed,       ///< A request was refused or lost, or an attempt at a message or a term has failed.
  guarded,                ///< The guardian of the machine holds what the session has told it.
  unguarded,              ///< It does not: it is absent, has ended, or refuses. Told once until it holds it again.
  closed,                 ///< The session object is closed.
  certificates_reloaded,  ///< A file of `session_options::tls` has changed: new connections use what it holds now.
  certificates_unusable,  ///< The same, but what it holds is of no use: new connections use what it held before.
  change_untold,          ///< No event has told a change that was waited for; a heartbeat has found it out. See
                          ///< docs/reliability.md.
  set_back,               ///< The servers have an older state than the session has seen: a new session begins.
  out_of_memory,          ///< The session was short of memory, and goes on: what it was doing is begun anew.
  term_begun,             ///< A consumer coordinator or the owner of a shard begins a term; `path` is its record.
  consumer_goes_on        ///< A queue consumer that held off works again; `path` is the name of its source.
};

const char* to_string(log_severity severity) noexcept;
const char* to_string(session_event event) noexcept;

/// One event. The views are valid only during the call of the hook; those that do not apply are empty. No event holds
/// the data of a node or a secret.
struct log_event {
  log_severity severity = log_severity::info;
  session_event event = session_event::connected;
  std::string_view server{};     ///< "address:port".
  std::string_view operation{};  ///< As `trace_event::operation`.
  std::string_view path{};       ///< As sent to the server, root path included.
  error_code error{};
  std::string_view detail{};  ///< For people: its wording may change.
};

/// The event as one line: "connect_failed 10.0.0.1:2181: Connection refused (nothing listens there)".
std::string to_string(const log_event& event);

/// A hook: see docs/operations.md.
using log_hook = std::function<void(const log_event&)>;

/// Writes warnings and errors to standard error, a line each. One kind of them, such as one server that refuses
/// connections, is written once in 30 seconds, with the number of those that were left out. What standard error does
/// not take at present is left out, too: a pipe that nobody reads holds nobody up. From any thread.
void log_to_stderr(const log_event& event) noexcept;

}  // namespace zkrecipes
