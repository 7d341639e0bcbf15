// Putting into a FIFO queue exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <zkrecipes/producer_base.hpp>

namespace zkrecipes {

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
class producer : public producer_base {
 public:
  producer() = default;
  /// `name`: 1 to 256 bytes, no slash, no character that ZooKeeper refuses in paths; the same name continues
  /// the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name or option, or if `into` was made by default.
  producer(const queue& into, std::string name, producer_options options);
  producer(const queue& into, std::string name) : producer(into, std::move(name), producer_options()) {}

  using producer_base::async_last;
  using producer_base::async_put;
  /// As `producer_base::async_put` without a key: items have none.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: as there.
  /// Cancellation: as there.
  /// Thread safety: as the class says.
  /// Cost: as there.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string data, Token&& token = Token()) {
    return producer_base::async_put(std::string(), std::move(data), std::forward<Token>(token));
  }

  const producer_options& options() const noexcept;
};

}  // namespace zkrecipes
