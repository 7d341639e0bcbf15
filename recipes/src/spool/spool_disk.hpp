// The seam between a spooled producer and its file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>

#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

/// What the file says of itself. The messages in it are those behind `put` up to `last`.
struct spool_extent {
  std::uint64_t put = 0;   ///< All up to this one are in the queue.
  std::uint64_t last = 0;  ///< The last message that was ever written to the file.
  std::int64_t base = 0;   ///< The number of a message in the file less its number in the queue.
  /// No message from this number on was ever sent, so none can be in the queue. 0: it is not known of any.
  std::uint64_t unsent_from = 0;
  std::uint64_t bytes = 0;   ///< The messages in it take so many, by `size_of`.
  std::uint64_t origin = 0;  ///< That of the messages that are appended until it is opened again. 0: none.
};

/// What one transaction changes.
struct spool_change {
  spool_rows rows{};  ///< To be appended.
  std::uint64_t put = 0;
  std::int64_t base = 0;
  std::uint64_t unsent_from = 0;
  bool is_vital = false;     ///< To be synced, whatever the durability.
  std::size_t room = 0;      ///< It fails if there is no room for messages of so many bytes beside its own.
  bool is_measured = false;  ///< The answer has `spool_extent::bytes`.
  bool agrees = false;       ///< It carries what was found in the queue. The disk does not look at it.
};

struct spool_answer {
  error_code error{};
  std::string trouble{};  ///< The error in words, with the file and the cure.
  /// In spite of the error the file is open, and nothing was changed: there is no room.
  bool stays_open = false;
  /// There was no room to make the file ready for messages when it was opened: what is in it can be read and removed.
  /// Each transaction tries that again. When it has been done the answer has an extent with an origin.
  bool is_lean = false;
  spool_extent extent{};
  std::vector<spool_row> rows{};
};

/// A file that holds messages. The operations are executed one after the other, in order. Each calls its handler once,
/// on the strand, later. After an error of `commit` or `load` nothing is known of the file, unless it stays open: it
/// has to be opened again, and until then each further operation fails.
class spool_disk {
 public:
  using handler = std::function<void(spool_answer)>;

  virtual ~spool_disk() = default;

  /// Opens the file, checks it, syncs anew what is in it, and reads its extent. With `keep` messages behind that number
  /// are removed first, because they were told to have failed.
  virtual void open(std::optional<std::uint64_t> keep, handler done) = 0;
  /// Appends messages and removes those that have been put, in one transaction, which is as durable as promised when
  /// the handler is called without an error. With an error it may have happened or not.
  virtual void commit(spool_change change, handler done) = 0;
  /// Reads messages from this number on: at least one, if there is one.
  virtual void load(std::uint64_t from, std::size_t most_messages, std::size_t most_bytes, handler done) = 0;
  virtual void close(handler done) = 0;

  /// From any thread: waits for the operation under way and executes no other one. No handler is called any more, apart
  /// from those that were posted before.
  virtual void stop() noexcept = 0;
};

}  // namespace zkrecipes::detail
