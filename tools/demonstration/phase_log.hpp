#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "phases.hpp"

namespace demo {

/// A log that is flushed after each line: also the log of a killed process is complete.
class phase_log {
 public:
  explicit phase_log(const std::filesystem::path& file);

  void note(const phase_mark& what);
  /// Logs the beginning of a phase now, whatever time the mark has, and its end when the returned object is destroyed.
  [[nodiscard]] std::shared_ptr<void> begins(phase_mark what);

 private:
  std::ofstream out_;
};

}  // namespace demo
