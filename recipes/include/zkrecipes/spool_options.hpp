// Settings of a spooled producer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <zkrecipes/detail/requirements.hpp>

namespace zkrecipes {

/// When a message counts as accepted, and so how much of what was accepted can be lost.
enum class spool_durability {
  memory,   ///< At once. An end of the process loses what has not been written yet.
  process,  ///< When it is written to the file. A power failure loses what the system has not written to the disk yet.
  power     ///< When it is synced to the disk: only a broken disk loses it.
};

/// What becomes of a message for which there is no room.
enum class spool_full { wait, reject };

/// Settings of a spooled producer: its file, when a message counts as accepted, and its bounds. The constructor of the
/// producer throws `std::invalid_argument` for a setting that is out of its bounds.
struct spool_options {
  /// The file of this producer. Its folder has to exist, on a local file system: locks of network file systems can not
  /// be relied on. Beside it SQLite makes a file with "-wal" behind its name, which belongs to it. Must not be empty.
  std::string file;
  spool_durability durability = spool_durability::power;
  /// Most messages that are written to the file in one transaction; so many are written at once. 1 to 100 000.
  std::size_t count = 1'000;
  /// For how long the first message of a transaction waits for others, counted from its acceptance. 0 to 60 s.
  std::chrono::milliseconds interval{5};
  /// Most bytes of messages, and most messages, that are accepted and not known to be in the queue. A message counts as
  /// its key, its data, and 64 bytes; the file needs up to twice as much. One message always has room. From 1.
  std::uint64_t most_bytes = std::uint64_t{1} << 30;
  std::uint64_t most_messages = 10'000'000;
  /// Most bytes of accepted messages in memory, counted in the same way: one half for what is to be written to the
  /// file, one half for what is being put. Each half has room for one message in any case. From 1.
  std::size_t most_memory = std::size_t{16} << 20;
  /// A put for which there is no room waits, or ends with `full`. A put that waits keeps its message in memory, beside
  /// `most_memory`.
  spool_full when_full = spool_full::wait;
};

}  // namespace zkrecipes
