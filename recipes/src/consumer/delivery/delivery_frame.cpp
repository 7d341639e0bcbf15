#include "delivery/delivery_frame.hpp"

#include "session/operation.hpp"

namespace zkrecipes::detail {

namespace {

std::string shown(const std::string& reason) { return reason.empty() ? "no reason given" : reason; }

}  // namespace

delivery_log::delivery_log(const core_ptr& session, const delivery_frame& frame)
    : hook_(guarded(*session->get_scheduler(), session->options().log)), frame_(frame) {}

void delivery_log::held_off(bool is_so, const std::string& reason) const {
  if (is_so) return warn("process", "consumer-held-off: all attempts fail; the last: " + reason);
  write_log(session_event::consumer_goes_on, log_severity::info, "process",
            "an attempt has succeeded, or nothing is left that has failed");
}

void delivery_log::attempt_failed(const message& which, const std::string& reason) const {
  if (!hook_) return;
  const auto count = std::to_string(which.attempts) + " of " + std::to_string(frame_.options.retry.attempts);
  warn("attempt", "attempt-failed: " + which.name + ", attempt " + count + ": " + shown(reason));
}

void delivery_log::parked(const message& which, const std::string& reason) const {
  warn("park", "parked: " + which.name + ": " + shown(reason));
}

void delivery_log::stands_still(const message& which) {
  if (which.name == still_) return;
  still_ = which.name;
  warn("call", "stands-still: " + which.name + " has been in process for 45 s");
}

void delivery_log::warn(const char* operation, const std::string& detail) const {
  write_log(session_event::operation_failed, log_severity::warning, operation, detail);
}

void delivery_log::write_log(session_event event, log_severity severity, const char* operation,
                             const std::string& detail) const {
  if (!hook_) return;
  const auto name = frame_.source->name();
  log_event told;
  told.event = event;
  told.severity = severity;
  told.operation = operation;
  told.path = name;
  told.detail = detail;
  hook_(told);
}

}  // namespace zkrecipes::detail
