#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "descriptor.hpp"

namespace guardian {

/// Writes lines to a file, pipe, socket or terminal, and never waits for who reads it: what does not fit is dropped.
/// The next line that fits is "log_dropped lines=N".
class log_output {
 public:
  /// `descriptor` stays the caller's. Its mode is not changed, because other processes may share it.
  explicit log_output(int descriptor);

  void write(std::string_view line);

 private:
  bool put(std::string_view text);
  long write_some(std::string_view text) const;

  int to_;
  bool is_socket_ = false;
  descriptor own_;    ///< Opened anew, so that it does not block: a pipe or a terminal.
  std::string rest_;  ///< The end of a line of which a part was written.
  std::uint64_t dropped_ = 0;
};

}  // namespace guardian
