// Answers to puts, which are given together.
#pragma once

#include <deque>

#include "spool/spool_row.hpp"
#include "topic/topic_caller.hpp"

namespace zkrecipes::detail {

/// A put that has not been answered yet, or whose message is not in the file yet.
struct spool_put {
  spool_row_ptr row;  ///< None once it is in the file.
  bool is_through;    ///< It is answered when the message is in the queue.
  topic_caller caller;
  std::uint64_t number = 0;       ///< That of its message, when that is in the file.
  lease_clock::time_point due{};  ///< Until then it waits for others, if it is the first of a transaction.
  std::uint64_t arrival = 0;      ///< Its place among those that ever waited for room.
  bool is_cancelled = false;
  bool is_late = false;  ///< It came behind the call of `async_close`.
};

using spool_put_ptr = std::shared_ptr<spool_put>;

/// Calls handlers on their executors. An exception of one of them does not concern the others.
class spool_answers {
 public:
  void add(spool_put& whose, error_code error, std::uint64_t number);
  /// Gives those that were added since the last call. `base` runs the calls.
  void send(const asio::any_io_executor& base);

 private:
  struct answer {
    topic_caller whose;
    error_code error;
    std::uint64_t number;
  };
  static void complete(const asio::any_io_executor& base, std::deque<answer> all);

  std::deque<answer> all_;
};

}  // namespace zkrecipes::detail
