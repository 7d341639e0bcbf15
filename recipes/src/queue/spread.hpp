// Where in a list of items one of several takers draws next, so that it does not meet the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "queue/layout.hpp"

namespace zkrecipes::detail {

/// Nobody tells a taker how many others there are. It learns that from its claims: the part of the list in which it
/// draws, its reach, doubles with each claim that comes too late and shrinks a little with each that does not, which
/// keeps both in a fixed proportion. A taker that meets nobody draws at the front.
///
/// From a random place within reach it goes on item by item for a while. Two takers that do so meet once, and not at
/// each item, and a list that is old by now costs one miss per run.
class spread {
 public:
  explicit spread(std::function<std::uint64_t()> random) : random_(std::move(random)) {}

  /// Which of the first `ready` items will be drawn next; `ready` if that is for chance to decide.
  std::size_t next(const std::deque<entry>& items, std::size_t ready) const;
  /// Which of them to draw.
  std::size_t pick(const std::deque<entry>& items, std::size_t ready);
  void was_in_time();
  /// Somebody else was quicker; so many items are left to choose from.
  void was_late(std::size_t ready);
  /// So many others begin at the same time.
  void meets(std::size_t others);
  /// There is a new list, with so many claims of others in it.
  void listed(std::size_t others);
  /// There are fewer items than takers, as far as we know: to try it would be to fight.
  bool is_crowded(std::size_t ready) const noexcept;
  /// The turn has come in the line of those that wait: what was known of others is of the past.
  void forget() noexcept;

 private:
  std::size_t begin_run(std::size_t ready);

  std::function<std::uint64_t()> random_;
  double reach_ = 1;
  std::size_t run_left_ = 0;  // until another place is looked for
  entry last_;                // drawn
  bool is_list_new_ = false;
  bool was_late_ = false;     // since the last list
};

/// Whether an item goes before another one.
bool goes_first(const entry& a, const entry& b);

}  // namespace zkrecipes::detail
