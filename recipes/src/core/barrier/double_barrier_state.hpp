// What one `double_barrier` object stands for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "barrier/round_view.hpp"
#include "session/core.hpp"
#include "session/turnstile.hpp"

namespace zkrecipes::detail {

/// One transaction opens a round, and the size of a transaction is limited.
inline constexpr int max_members = 1000;

class double_barrier_state {
 public:
  double_barrier_state(core_ptr over, std::string where, int members, std::string self)
      : session(std::move(over)), path(std::move(where)), size(members), id(std::move(self)) {}

  const core_ptr session;
  const std::string path;
  const int size;
  const std::string id;

  // On the strand.
  turnstile lists{32};      ///< So many of those who leave read the list at a time, as long as it may be.
  std::uint64_t tries = 0;  ///< To open a round: those that have ended.
  round_view_ptr opened;    ///< By the last of them; null if it has failed.

  /// Members of one session that see the same share one view. On the strand.
  round_view_ptr view_of(round_record record, std::int32_t version, std::span<const member> line) {
    auto seen = last_seen_.lock();
    if (seen && seen->shows(record, version, line)) return seen;
    seen = std::make_shared<const round_view>(interpret(std::move(record), version, line, size));
    last_seen_ = seen;
    return seen;
  }

 private:
  std::weak_ptr<const round_view> last_seen_;
};

using double_barrier_ptr = std::shared_ptr<double_barrier_state>;

}  // namespace zkrecipes::detail
