#include <zkrecipes/log.hpp>

#include "format/shown_text.hpp"

namespace zkrecipes {

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
  if (!error.empty() && error != line) line.append(": ").append(error);  // not "closed: closed"
  if (!event.detail.empty()) line.append(" (").append(event.detail).append(")");
  return detail::coded_text(line);
}

}  // namespace zkrecipes
