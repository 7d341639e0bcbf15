#pragma once

namespace guardian {

/// The connection of a process, as the registry sees it.
class process_line {
 public:
  virtual ~process_line() = default;
  /// Reads what has arrived. The process is dead, so there is an end to it.
  virtual void drain() = 0;
  virtual void close() = 0;
};

}  // namespace guardian
