// A FIFO queue kept in ZooKeeper.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue_base.hpp>

namespace zkrecipes {

namespace detail {
class queue_follower;
}

/// Puts at the end, takes from the front. Items are nodes named as Curator's SimpleDistributedQueue names them (`qn-`);
/// its clients can share the path, but know of no claims: beside them only `async_pop` hands out an item once. Foreign
/// nodes under the path are ignored. Thread safety: safe.
class queue : public queue_base {
 public:
  /// \throws std::invalid_argument naming the bad path or option.
  queue(session over, std::string path, queue_options options);
  queue(session over, std::string path) : queue(std::move(over), std::move(path), queue_options()) {}

  /// Appends one item: one round trip; completes with the item's name. The path is created if it is missing. Not tried
  /// again once sent: if the reply is lost the error is `outcome_unknown`; a `producer` can tell. With a limit it is
  /// tried again where our ticket shows that nothing was put; `outcome_unknown` then means: put, and the name is not
  /// known, unless our session ended or an operator removed the ticket.
  /// Signature: void(error_code, std::string).
  /// Errors: `outcome_unknown`, `no_auth`, `full` (see `queue_options`), `bad_arguments` (more than 1 000 000 bytes),
  /// `sequence_exhausted` (the numbers for names are used up but for the last million; nothing was put).
  /// Cancellation: as `session`.
  template <class Token>
  auto async_put(std::string data, Token&& token) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data));
  }

  /// Appends all of them, in this order and with nothing in between, or none: one transaction, one round trip.
  /// Signature: void(error_code, std::vector<std::string>), the names.
  /// Errors: as `async_put`; `bad_arguments`: more than a server takes in one request (1 000 000 bytes, of which each
  /// item needs 100 and the length of the path for itself, with a limit 250 and twice the path more), or none; nothing
  /// was sent.
  template <class Token>
  auto async_put_many(std::vector<std::string> items, Token&& token) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

  /// Takes the first item without a claim: for whoever is alone by other means, such as a leader. The item is to be
  /// removed with `removal(item)` in a fenced transaction; until then it stays the first. A server that refuses
  /// (`server_error`: it throttles) is asked again with growing pauses. Error: `foreign_data`, as `async_take`.
  /// Cancellation: all types.
  template <class Token>
  auto async_next(Token&& token) {
    return detail::initiate<void(error_code, message)>(token, &start_next, follower_);
  }

  /// The operation that takes an item from `async_next` off the queue.
  transaction removal(const message& item) const;

 private:
  using follower_ptr = std::shared_ptr<detail::queue_follower>;
  static void start_put(detail::handler_for<void(error_code, std::string)>, core_ptr, std::string);
  static void start_put_many(detail::handler_for<void(error_code, std::vector<std::string>)>, core_ptr,
                             std::vector<std::string>);
  static void start_next(detail::handler_for<void(error_code, message)>, follower_ptr);

  follower_ptr follower_;
};

}  // namespace zkrecipes
