// The seam between a spooled producer and the topic or queue that it puts into.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <zkrecipes/error.hpp>

#include "spool/spool_row.hpp"

namespace zkrecipes::detail {

/// Puts messages, each with the next number. Handlers are called on the strand, later, or never if the execution
/// context is shut down before.
class spool_target {
 public:
  using handler = std::function<void(error_code, std::uint64_t)>;

  virtual ~spool_target() = default;

  virtual const std::string& path() const noexcept = 0;
  /// Whether this message can ever be put.
  virtual error_code check(const spool_row& what) const = 0;
  /// How many messages, and bytes of them, a `put` should have.
  virtual std::size_t most_messages() const noexcept = 0;
  virtual std::size_t most_bytes() const noexcept = 0;

  /// Whether a server can be reached at the moment.
  virtual bool is_connected() const = 0;
  /// The number of the last message of this name in the queue.
  virtual void last(handler done) = 0;
  /// The answer to `last` is not needed any more. A call under way would keep the session.
  virtual void cancel() = 0;
  /// Puts these in order. None behind the first that fails is put. With an error it is not known how many were put.
  virtual void put(std::vector<spool_row> what, handler done) = 0;
};

}  // namespace zkrecipes::detail
