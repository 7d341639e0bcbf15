// Where in a list of items a taker draws next, so that several takers do not draw the same items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "queue/entry.hpp"

namespace zkrecipes::detail {

/// A taker does not know how many others there are. It learns that from its claims: the part of the list in which it
/// draws, its reach, doubles with each claim that comes too late and shrinks a little with each that is in time, which
/// keeps both in a fixed proportion. A taker that meets no other draws at the front.
///
/// From a random place within its reach a taker goes on item by item for a while. So two takers that meet do so once,
/// and not at each item, and a list that is out of date costs one late claim per run.
class spread {
 public:
  explicit spread(std::function<std::uint64_t()> random) : random_(std::move(random)) {}

  /// The index of the item that will be drawn next, among the first `ready` items; `ready` if it will be chosen at
  /// random.
  std::size_t next(const std::deque<entry>& items, std::size_t ready) const;
  /// Chooses the item to draw.
  std::size_t pick(const std::deque<entry>& items, std::size_t ready);
  void was_in_time();
  /// Another taker was quicker; `ready` items are left to choose from.
  void was_late(std::size_t ready);
  /// This many other takers begin at the same time.
  void meets(std::size_t others);
  /// A new list was read, with this many claims of other takers in it.
  void listed(std::size_t others);
  /// As far as we know there are fewer items than takers, so that most claims would be too late.
  bool is_crowded(std::size_t ready) const noexcept;
  /// To be called when our turn in the line of waiting takers has come: what was known of other takers is out of date.
  void forget() noexcept;

 private:
  std::size_t begin_run(std::size_t ready);

  std::function<std::uint64_t()> random_;
  double reach_ = 1;
  std::size_t run_left_ = 0;  // draws until another random place is chosen
  entry last_;                // the item drawn last
  bool is_list_new_ = false;
  bool was_late_ = false;  // a claim was late since the last list
};

}  // namespace zkrecipes::detail
