#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "descriptor.hpp"

namespace guardian {

/// Waits for the proof that a process is dead.
class process_watch {
 public:
  using handler = std::function<void(std::string_view proof)>;

  /// `told` is called once, later, and may destroy the watch.
  process_watch(const boost::asio::any_io_executor& executor, int pidfd, handler told);

  /// Also looks for an early proof, in /proc/PID: soon, and then in growing pauses of at most `longest`.
  void look_early(descriptor process_folder, std::chrono::milliseconds longest);
  /// The next look is soon.
  void hurry();
  bool looks_early() const noexcept { return bool(folder_); }

 private:
  void wait_for_end();
  void wait_for_look();
  void tell(std::string_view proof);

  boost::asio::posix::stream_descriptor pidfd_;
  boost::asio::steady_timer timer_;
  handler told_;
  descriptor folder_;
  std::chrono::milliseconds pause_{0};
  std::chrono::milliseconds longest_{0};
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // a handler can come after our end, without an error
};

}  // namespace guardian
