// Putting into a FIFO queue exactly once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class producer_state;
}

class queue;

/// Puts into a queue exactly once, whatever happens to replies, connections and sessions: the number of the last item
/// put is kept in a node `_producer-<name>` beside the items and changes in the same transaction. Items put while
/// another batch is on its way travel together in the next one. One producer object per name at a time.
/// Thread safety: safe.
class producer {
 public:
  /// `name`: not empty, no slash; the same name continues the numbering after a restart.
  /// \throws std::invalid_argument
  producer(const queue& into, std::string name);

  /// Appends one item; items put in order arrive in order. Completes when it is in the queue, however long it takes to
  /// reach the ensemble. A queue that was removed meanwhile is made again, and the numbers begin anew.
  /// Signature: void(error_code, std::uint64_t), the number of the item.
  /// Errors: `no_auth`, `closed`, `sequence_exhausted` (as `queue::async_put`), `full` (see `queue_options`; it was not
  /// put), `bad_arguments` (more than 1 000 000 bytes), `foreign_data` (the producer's node is not ours), `superseded`
  /// (another producer of this name put something in between). Cancellation: ends the wait; the item is put all the
  /// same.
  template <class Token>
  auto async_put(std::string data, Token&& token) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(data));
  }

  /// The number of the last item of this name in the queue: where to go on after a restart.
  template <class Token>
  auto async_last(Token&& token) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_last, state_);
  }

 private:
  using state_ptr = std::shared_ptr<detail::producer_state>;
  static void start_put(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr, std::string);
  static void start_last(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr);

  state_ptr state_;
};

}  // namespace zkrecipes
