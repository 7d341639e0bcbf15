// Which line, and who has to go first in it.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "line/node_name.hpp"

namespace zkrecipes::detail {

/// Whether the parent's data is read on the way in, at no extra round trip, and on which side of the list.
enum class parent_reading {
  none,
  before_list,  ///< A member that the parent names and the list does not has gone.
  after_list,   ///< The parent says what counts for the members of the list, or for fewer.
};

/// Which line: where it stands and how its members are named.
struct line_spec {
  std::string parent;
  std::string marker;                          ///< In the names of our own nodes.
  std::span<const std::string_view> accepted;  ///< The markers of all members, ours included.
  parent_reading reads_parent = parent_reading::none;
  bool (*lets_pass)(const std::string& data) = nullptr;  ///< Whether a member with this data is in nobody's way.
  bool one_by_one = false;  ///< Everybody waits for the one in front, and remembers only that one.
};

/// Members in a row, by their indices: `last` is not one of them.
struct stretch {
  stretch(std::size_t one) : first(one), last(one + 1) {}
  stretch(std::size_t from, std::size_t to) : first(from), last(to) {}
  friend bool operator==(const stretch&, const stretch&) = default;
  std::size_t size() const noexcept { return last - first; }
  std::size_t first, last;
};

/// Decides who before `self` has to go first: mostly the nearest such member, or several if the departure of any of
/// them can make room; nothing if it is our turn.
using blocker = std::function<std::optional<stretch>(std::span<const member> members, std::size_t self)>;

/// First come, first served, one at a time.
std::optional<std::size_t> nearest_ahead(std::span<const member> members, std::size_t self);

}  // namespace zkrecipes::detail
