#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "phases.hpp"

namespace demo {

/// A log that is flushed after each line: also the log of a killed process is complete.
class phase_log {
 public:
  /// When the process was awake for the last time, if it has slept past its lease since then.
  using sleep_finder = std::function<std::optional<std::int64_t>()>;

  explicit phase_log(const std::filesystem::path& file);

  /// Asks `find` before each beginning and each end of a phase, so that a sleep is noted before what it has delayed.
  void watch_sleep(sleep_finder find) { find_sleep_ = std::move(find); }
  void look(const std::string& consumer);
  void record(const phase_mark& what);
  /// Logs the beginning of a phase now, whatever time the mark has, and its end when the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> begins(phase_mark what);

 private:
  void record_now(phase_mark what);
  bool record_sleep(const std::string& consumer);

  std::ofstream out_;
  sleep_finder find_sleep_;
};

}  // namespace demo
