// The log: one JSON object a line.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <zkrecipes/log.hpp>

namespace zkrecipes::service {

/// Writes lines such as
/// {"time":"2026-01-31T12:00:00.000Z","level":"info","event":"connected","server":"10.0.0.1:2181"}. A reader that does
/// not keep up with its pipe makes the process wait. Lines that could not be written, for example to a full disk, are
/// lost: the next one has their number in "lost_lines". Thread safety: safe.
class json_log {
 public:
  using fields = std::initializer_list<std::pair<std::string_view, std::string_view>>;

  json_log(std::ostream& to, log_severity least) : to_(to), least_(least) {}

  /// Fields without a text are left out.
  void write(log_severity level, std::string_view event, fields more = {});
  void info(std::string_view event, fields more = {}) { write(log_severity::info, event, more); }
  void error(std::string_view event, fields more = {}) { write(log_severity::error, event, more); }

  /// For `session_options::log`. The log must outlive the session.
  log_hook hook();

 private:
  std::ostream& to_;
  const log_severity least_;
  std::mutex mutex_;
  std::uint64_t lost_ = 0;
};

}  // namespace zkrecipes::service
