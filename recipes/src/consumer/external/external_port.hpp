// The calls of a user's log or queue, as both have them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "session/condition.hpp"

namespace zkrecipes::detail {

/// Its functions run on the strand of the user's calls, and may throw what the user's throw.
class external_port {
 public:
  virtual ~external_port() = default;

  virtual std::string name() const = 0;
  /// `place`: nothing to a queue.
  virtual awaitable<error_code> open(std::string place) = 0;
  virtual awaitable<external_batch> receive(std::size_t most) = 0;
  /// These are settled: the ids of the messages for a queue, places for a log, in order.
  virtual awaitable<error_code> report(std::vector<std::string> settled) = 0;
  /// After `report`: the ids that can not come again.
  virtual std::vector<std::string> take_forgotten() = 0;
  virtual awaitable<void> close() = 0;
};

}  // namespace zkrecipes::detail
