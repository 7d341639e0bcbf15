// The seam between a spooled producer and the topic or queue that it puts into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/error.hpp>
#include <zkrecipes/producer_base.hpp>

namespace zkrecipes::detail {

// A message in the file of a spooled producer.

struct spool_row {
  std::uint64_t number = 0;
  std::string key{};
  std::string data{};
  std::uint64_t origin = 0;  ///< See `spool_origins`. 0: the file has none.
};

inline std::vector<topic_message> messages_of(std::vector<spool_row> rows) {
  std::vector<topic_message> all;
  all.reserve(rows.size());
  for (auto& each : rows) all.push_back({std::move(each.key), std::move(each.data)});
  return all;
}

/// What a message counts for in the limits of the options.
inline std::size_t size_of(const spool_row& row) { return row.key.size() + row.data.size() + 64; }

/// The strand and the thread of the disk share rows. Nobody changes one while an operation of the disk has it.
using spool_row_ptr = std::shared_ptr<spool_row>;
using spool_rows = std::vector<spool_row_ptr>;

inline std::size_t size_of(const spool_rows& rows) {
  std::size_t all = 0;
  for (const auto& each : rows) all += size_of(*each);
  return all;
}

/// Why nothing is put at the moment.
struct spool_outage {
  error_code error{};   ///< None: there is no outage.
  std::string words{};  ///< The server that is away, and what to check.
};

/// Puts messages, each with the next number. Handlers are called on the strand, later, or never if the execution
/// context is shut down before.
class spool_target {
 public:
  using handler = std::function<void(error_code, std::uint64_t)>;

  virtual ~spool_target() = default;

  virtual const std::string& path() const noexcept = 0;
  /// A file of messages belongs to one such, behind the root of the session.
  virtual std::string identity() const { return path(); }
  /// Whether this message can ever be put.
  virtual error_code check(const spool_row& what) const = 0;
  /// How many messages, and bytes of them, a `put` should have.
  virtual std::size_t most_messages() const noexcept = 0;
  virtual std::size_t most_bytes() const noexcept = 0;

  /// Whether a server can be reached at the moment.
  virtual spool_outage outage() const = 0;
  /// False: nothing tells what was put, and `last` must not be called. After a failure or a restart all in the file is
  /// put again, with the number and the origin that the file has for it, and the receiver drops repeats by these.
  virtual bool knows_last() const noexcept { return true; }
  /// The number of the last message of this name in the queue.
  virtual void last(handler done) = 0;
  /// The answer to `last` is not needed any more. A call under way would keep the session.
  virtual void cancel() = 0;
  /// Puts these in order: their numbers follow each other, and they have one origin. With an error it is not known how
  /// many were put, and none behind the first that fails is put. A target that does not know what was put answers with
  /// the number of those that were put for certain, from the first on; some behind the first that fails may be put,
  /// too.
  virtual void put(std::vector<spool_row> what, handler done) = 0;
};

}  // namespace zkrecipes::detail
