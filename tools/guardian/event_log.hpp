#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

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

/// Writes one line for each event: "event name=value name=value". Values are made printable. What one user causes is
/// limited to `burst` lines at once and `rate` in each second later; the next line tells how many were left out.
class event_log {
 public:
  using clock = std::chrono::steady_clock;
  using sink = std::function<void(std::string_view line)>;
  struct field {
    std::string_view name;
    std::string value;
  };
  static constexpr double burst = 200;
  static constexpr double rate = 20;

  explicit event_log(sink to) : to_(std::move(to)) {}

  /// An event of the guardian itself.
  void write(std::string_view event, std::initializer_list<field> fields = {});
  /// An event that a process of this user has caused.
  void write_for(uid_t user, std::string_view event, std::initializer_list<field> fields = {});

 private:
  struct allowance {
    double left = burst;
    clock::time_point since = clock::now();
    std::uint64_t omitted = 0;
  };
  bool take(allowance& of);

  sink to_;
  std::map<uid_t, allowance> users_;
};

/// The text with '?' for what is not printable ASCII, in quotation marks if it has blanks, and at most 200 bytes of it.
std::string printable(std::string_view text);

}  // namespace guardian
