#pragma once

#include <cstdint>
#include <string>

#include <zkrecipes/log.hpp>

#include "career/term_state.hpp"
#include "delivery/delivery_frame.hpp"

namespace zkrecipes::detail {

/// Tells the session's log what keeps messages from being done. Each kind has an operation of its own, because
/// `log_to_stderr` leaves out what is of one kind. Without a hook it does nothing. On the strand.
class delivery_log {
 public:
  delivery_log(const core_ptr& session, const delivery_frame& frame);

  /// All attempts fail, or do so no longer.
  void held_off(bool is_so, const std::string& reason) const;
  /// An attempt has failed, whether it counts or not.
  void attempt_failed(const message& which, const std::string& reason) const;
  /// The message is a dead letter now: its attempts are used up, `process` has asked for that, or its key is parked.
  void parked(const message& which, const std::string& reason) const;
  /// A call of `process` has run for long. Logged once for each message.
  void stands_still(const message& which);

 private:
  void warn(const char* operation, const std::string& detail) const;
  void write_log(session_event event, log_severity severity, const char* operation, const std::string& detail) const;

  log_hook hook_;
  const delivery_frame& frame_;
  std::string still_;  // the name of the message that was told last
};

}  // namespace zkrecipes::detail
