#pragma once

#include <cstddef>
#include <functional>
#include <limits>

#include <sys/types.h>

namespace zkrecipes::test {

/// The calls by which this process reads and writes one socket, counted, and hindered as a test wants. It sees all
/// calls of `recv` and `send` of this program. One at a time.
class watched_socket {
 public:
  watched_socket();
  ~watched_socket();
  watched_socket(const watched_socket&) = delete;
  watched_socket& operator=(const watched_socket&) = delete;

  static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

  /// From now on, this one. The counts begin anew.
  void watch(int descriptor);
  int descriptor() const noexcept { return descriptor_; }

  std::size_t reads() const noexcept { return reads_; }  ///< Calls.
  std::size_t bytes_read() const noexcept { return bytes_read_; }
  std::size_t broken_pipes() const noexcept { return broken_pipes_; }  ///< Writes that failed with EPIPE.

  /// How many bytes have come that nobody has read.
  std::size_t waiting() const;
  /// How many bytes the system has taken that it can not send yet.
  std::size_t unsent() const;
  /// Whether the system would take more.
  bool takes_more() const;
  /// From now on the system takes nothing as long as it has something unsent.
  void take_nothing_behind_unsent();

  /// Called after each read.
  std::function<void()> after_read;
  /// The socket takes so many bytes more, and says then that it is full.
  std::size_t room = unlimited;
  /// Each write gets a segment of its own. Otherwise the system adds to the last one, also when it takes no more.
  bool in_segments = false;
  /// The `errno` with which each write fails. 0: the system decides.
  int failure = 0;

  // Called from the calls of the system.
  static watched_socket* of(int descriptor);
  void handle_read(ssize_t result);
  void handle_write(ssize_t result, int number);

 private:
  int descriptor_ = -1;
  std::size_t reads_ = 0;
  std::size_t bytes_read_ = 0;
  std::size_t broken_pipes_ = 0;
};

}  // namespace zkrecipes::test
