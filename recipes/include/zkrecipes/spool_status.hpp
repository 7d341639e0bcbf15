// What a spooled producer tells of itself.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <zkrecipes/error.hpp>

namespace zkrecipes {

/// What a spooled producer tells of itself at one moment: how far its messages are, what it holds, and what is wrong.
struct spool_status {
  /// The largest number: instead of `lag` and `lag_bytes` until the file could be opened.
  static constexpr std::uint64_t unknown = ~std::uint64_t{0};

  bool is_open = false;         ///< The file is open. Puts are accepted if it takes them: see `error`.
  std::uint64_t accepted = 0;   ///< The number of the last message that was accepted.
  std::uint64_t spooled = 0;    ///< The number of the last message in the file.
  std::uint64_t put = 0;        ///< The number of the last message that is known to be in the queue.
  std::uint64_t lag = 0;        ///< Messages that are accepted and not known to be in the queue.
  std::uint64_t lag_bytes = 0;  ///< Their bytes, as `spool_options::most_bytes` counts them.
  std::size_t memory = 0;       ///< Bytes of accepted messages in memory, as `spool_options::most_memory` counts them.
  std::size_t waiting = 0;      ///< Puts that wait for room.
  /// For how long the first message that is not known to be in the queue has been accepted, to a few per cent of the
  /// longest wait. Messages of an earlier run count from the opening of the file.
  std::chrono::milliseconds oldest{0};
  /// Messages of this name that the queue has and the file does not know. The file is new, or an older copy, or lost
  /// its end in a power failure, or another producer has used the name. What the missing file had and the queue has not
  /// is lost.
  std::uint64_t gap = 0;
  /// The last failure of the file or of the queue that has not been followed by a success. `connection_loss` also while
  /// something is to be asked or put and there is no connection, told after 1 to 2 s; with RabbitMQ it is
  /// `rabbit_errc::unavailable` if the broker is away.
  error_code error{};
  std::string trouble;  ///< The same in words, with the file and the cure. Also tells of a gap.
};

}  // namespace zkrecipes
