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

/// Items are put at the end and taken from the front. They are nodes named as Curator's SimpleDistributedQueue names
/// them (`qn-`), so its clients can share the path. These clients do not know claims: beside them only `async_pop`
/// hands out an item once. Foreign nodes under the path are ignored. Thread safety: safe.
class queue : public queue_base {
 public:
  queue() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// \throws std::invalid_argument naming the bad path or option.
  queue(session over, std::string path, queue_options options);
  queue(session over, std::string path) : queue(std::move(over), std::move(path), queue_options()) {}

  /// Appends one item of at most 1 000 000 bytes and completes with its name. Creates the path if it is missing. A put
  /// that was sent and whose reply is lost is not tried again, because the item could then be there twice; with a
  /// `limit` it is tried again where our ticket shows that nothing was put. Use a `producer` to put exactly once.
  ///
  /// Signature: `void(error_code, std::string)`.
  /// Errors: `outcome_unknown` (the reply was lost, and the item may have been put; with a `limit` it was put and only
  /// its name is unknown, unless our session ended or an operator removed the ticket), `full` (see `queue_options`),
  /// `too_large` (nothing was sent), `sequence_exhausted` (all numbers for names but the last million are
  /// used up; nothing was put), `no_auth`, and those of `session`.
  /// Cancellation: all types; a put that was already sent may take effect. With a `limit` our tickets are removed in
  /// the background.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request; the first put of an object 1 more (a look at the length of the list), a missing
  /// path 2 more. With a `limit` the same where puts follow each other and there is ample room (64 places, or half of
  /// the limit), else 2 round trips, 4 requests; `full` takes 1 to 3 round trips.
  template <token_for<std::string> Token = default_token>
  auto async_put(std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::string)>(token, &start_put, get_queue(), std::move(data));
  }

  /// Appends all items, in this order and with nothing in between, or none of them: one transaction. All together may
  /// have 1 000 000 bytes, where each item counts the length of the path and 100 bytes more than its data, with a
  /// `limit` another 250 bytes and twice the length of the path. A single item counts as in `async_put`.
  ///
  /// Signature: `void(error_code, std::vector<std::string>)`, the names.
  /// Errors: as `async_put`; `too_large` (more bytes than that; nothing was sent), `bad_arguments` (no items).
  /// Cancellation: as `async_put`: all of the items may have been put, or none.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`, for all items together.
  template <token_for<std::vector<std::string>> Token = default_token>
  auto async_put_many(std::vector<std::string> items, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<std::string>)>(token, &start_put_many, get_queue(),
                                                                        std::move(items));
  }

  /// Reads the first item without a claim, and waits for one if there is none. It is meant for a reader that is alone
  /// by other means, such as a leader. Remove the item with `removal(item)` in a fenced transaction; until then it
  /// stays the first. A server that refuses (`server_error`: it throttles) is asked again with growing pauses, and a
  /// lost connection or session does not end the wait.
  ///
  /// Signature: `void(error_code, message)`.
  /// Errors: `foreign_data` (as `async_take`), `no_auth` (the list of items must not be read), `closed`, `auth_failed`.
  /// An item that must not be read is passed over: see `queue_options::on_unavailable_item`.
  /// Cancellation: all types; nothing is claimed or removed.
  /// Thread safety: as the class says; operations that run at the same time on one object or its copies can get the
  /// same item.
  /// Cost: 1 round trip while the list lasts, 2 requests (the item returned last, and the one behind it). The first of
  /// an object 2 round trips; the first after the list is used up 3.
  template <token_for<message> Token = default_token>
  auto async_next(Token&& token = Token()) {
    return detail::initiate<void(error_code, message)>(token, &start_next, follower_);
  }

  /// The operation that removes an item of `async_next` from the queue.
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
