// The seam between a spooled producer and the topic or queue that it puts into.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>

#include "spool/spool_row.hpp"

namespace zkrecipes::detail {

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
