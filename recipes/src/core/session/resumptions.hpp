// The coroutines of a session that are about to be resumed.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>

#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// Resumes in the order in which it is told to, on the strand. One event can resume thousands: they are handed to the
/// strand some hundred at a time, so that the lease is proved and users' handlers are called in between. Owned by what
/// has been handed to the strand. On the strand.
class resumptions : public std::enable_shared_from_this<resumptions> {
 public:
  using function = std::function<void()>;
  static void add(scheduler& on, function resume);

  explicit resumptions(asio::any_io_executor strand) : strand_(std::move(strand)) {}

 private:
  void post(function resume);
  void end_one();

  asio::any_io_executor strand_;
  std::size_t posted_ = 0;
  std::deque<function> waiting_;  // behind those
};

}  // namespace zkrecipes::detail
