// Putting into a FIFO queue exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class producer_state;
}

class queue;

/// Settings of a `producer`.
struct producer_options {
  /// Most items that travel together in one transaction, 1 to 1 000. Beside that a batch has at most 256 KiB, names and
  /// tickets included, or one item.
  std::size_t max_batch = 128;
  /// For how long the first item of a batch waits for others, counted from its put. A full batch is sent at once. If
  /// the session is closed while a batch waits, its puts end with `closed`, and nothing is put. 0 to 60 s.
  std::chrono::milliseconds linger{0};
};

/// Puts into a queue exactly once, whatever happens to replies, connections and sessions: a node `_producer-<name>`
/// beside the items holds the number of the last item put, and changes in the same transaction. Items that are put
/// while a batch is in flight travel together in the next batch; with `producer_options::linger` a batch waits for more
/// of them before it is sent. Use one producer object per name at a time. Thread safety: safe.
class producer {
 public:
  using executor_type = boost::asio::any_io_executor;

  producer() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// `name`: 1 to 256 bytes, no slash, no character that ZooKeeper refuses in paths; the same name continues
  /// the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name or option.
  producer(const queue& into, std::string name, producer_options options);
  producer(const queue& into, std::string name) : producer(into, std::move(name), producer_options()) {}

  /// Appends one item of at most 1 000 000 bytes, and completes with its number when it is in the queue. Items put in
  /// order arrive in order. A queue that was removed meanwhile is made again, and the numbers begin anew. After
  /// `connection_loss` the item may have been put, or be put yet: `async_last` tells.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `full` (see `queue_options`; the item was not put), `too_large` (nothing was sent), `foreign_data` (the
  /// node of the producer is not ours), `superseded` (another producer of this name put something in between, or one of
  /// our puts was done late, behind its error), `sequence_exhausted` (as `queue::async_put`), `no_auth`, and those of
  /// `session`.
  /// Cancellation: all types; it ends the wait, and the item is put all the same. Without a connection an item that was
  /// not sent is forgotten instead, also when `connection_loss` ends the wait, and one that was sent is not sent again.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request for each batch (up to `producer_options::max_batch` items), and before it the wait
  /// of up to `linger`; with a `limit` as `queue::async_put`. The first batch 1 more to read the node (4 if the node is
  /// new), and the look of `queue::async_put` at the list.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(data));
  }

  /// Reads the number of the last item of this name in the queue, 0 if there is none: it tells where to go on after a
  /// restart. Creates the node of the producer if it is missing.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; the node may have been created.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests; 4 round trips if the node is new.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_last(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_last, state_);
  }

  const std::string& path() const noexcept;  ///< That of the queue.
  const session& get_session() const noexcept { return session_; }
  const producer_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::producer_state>;
  static void start_put(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr, std::string);
  static void start_last(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
