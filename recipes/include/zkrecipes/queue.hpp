// A FIFO queue kept in ZooKeeper.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class queue_reader;
class producer_state;
}

/// An item that was taken and not yet acknowledged.
struct message {
  std::string name;  ///< Of its node: unique in the queue, growing in order.
  std::string data;
  zkrecipes::stat stat;
};

/// Puts at the end, takes from the front. Items are nodes named as Curator's SimpleDistributedQueue names them (`qn-`).
/// Foreign nodes under the path are ignored. Thread safety: safe.
class queue {
 public:
  /// \throws std::invalid_argument naming the bad path.
  queue(session over, std::string path);

  /// Appends one item: one round trip; completes with the item's name. The path is created if it is missing. Not tried
  /// again once sent: if the reply is lost the error is `outcome_unknown`; a `producer` can tell.
  /// Errors: `outcome_unknown`, `no_auth`, `bad_arguments` (more than 1 000 000 bytes), and those of `session`.
  /// Cancellation: as `session`.
  template <class Token>
  auto async_put(std::string data, Token&& token) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, session_.get_core(), path_,
                                                           std::move(data));
  }

  /// Takes the first item that nobody else has taken, waiting for one. It is at-least-once: the item stays in the queue,
  /// claimed by an ephemeral node, until `async_acknowledge`, and comes back if our session ends or with
  /// `async_return`. Cancellation: all types; no claim of ours stays behind.
  template <class Token>
  auto async_take(Token&& token) {
    return detail::initiate<void(error_code, message)>(token, &start_take, reader_);
  }

  /// Takes the first item without a claim: for whoever is alone by other means, such as a leader. The item is to be
  /// removed with `removal(item)` in a fenced transaction. Cancellation: all types.
  template <class Token>
  auto async_next(Token&& token) {
    return detail::initiate<void(error_code, message)>(token, &start_next, reader_);
  }

  /// The item is done: removes it and its claim. Error: `superseded` if it is not ours any more (our session ended in
  /// between, and somebody else may have it).
  template <class Token>
  auto async_acknowledge(message item, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_acknowledge, reader_, std::move(item));
  }

  /// The item is not done: somebody else may take it, at its place in the queue.
  template <class Token>
  auto async_return(message item, Token&& token) {
    return detail::initiate<void(error_code)>(token, &start_return, reader_, std::move(item));
  }

  /// Number of items, claimed ones included. Error: `no_node`.
  template <class Token>
  auto async_size(Token&& token) {
    return detail::initiate<void(error_code, std::size_t)>(token, &start_size, session_.get_core(), path_);
  }

  /// The operation that takes an item from `async_next` off the queue.
  transaction removal(const message& item) const;

  const std::string& path() const noexcept { return path_; }
  const session& get_session() const noexcept { return session_; }

 private:
  using core_ptr = std::shared_ptr<detail::core>;
  using reader_ptr = std::shared_ptr<detail::queue_reader>;
  static void start_put(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string, std::string);
  static void start_take(detail::handler_for<void(error_code, message)>, reader_ptr);
  static void start_next(detail::handler_for<void(error_code, message)>, reader_ptr);
  static void start_acknowledge(detail::handler_for<void(error_code)>, reader_ptr, message);
  static void start_return(detail::handler_for<void(error_code)>, reader_ptr, message);
  static void start_size(detail::handler_for<void(error_code, std::size_t)>, core_ptr, std::string);

  session session_;
  std::string path_;
  reader_ptr reader_;
};

/// Puts into a queue exactly once, whatever happens to replies, connections and sessions: the number of the last item
/// put is kept in a node `_producer-<name>` beside the items and changes in the same transaction. Items put while
/// another batch is on its way travel together in the next one. One producer object per name at a time.
/// Thread safety: safe.
class producer {
 public:
  /// `name`: not empty, no slash; the same name continues the numbering after a restart.
  /// \throws std::invalid_argument
  producer(queue into, std::string name);

  /// Appends one item; items put in order arrive in order. Completes when it is in the queue, however long it takes to
  /// reach the ensemble. Signature: void(error_code, std::uint64_t), the number of the item.
  /// Errors: `no_auth`, `closed`, `bad_arguments` (more than 1 000 000 bytes), `foreign_data` (the producer's node is not ours), `superseded` (another producer of
  /// this name put something in between). Cancellation: ends the wait; the item is put all the same.
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
