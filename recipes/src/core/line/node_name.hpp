// Names of nodes that stand in line: ours and Curator's `_c_<guid>-latch-0000000007`, kazoo's
// `<guid>__lock__0000000007`. Order is that of the number behind the marker, never of the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::detail {

struct member {
  std::string name;
  std::int32_t sequence = 0;
  /// Its data says that it is in nobody's way: see `line_spec::lets_pass`. All who share the list learn it.
  mutable bool lets_pass = false;
  std::size_t marker = 0;  ///< Which of the line's markers it bears.
  std::size_t alike = 0;   ///< How many directly ahead of it bear the same one.
};

/// The members of a line, in order; shared by those who have seen the same list.
using member_list = std::shared_ptr<const std::vector<member>>;

/// The name to create, before the server appends the sequence number. `marker` is "latch-", "lock-", ...
std::string protected_name(std::string_view guid, std::string_view marker);

/// The sequence number behind one of the markers; nothing if the name has none: it is not of this line.
std::optional<std::int32_t> parse_sequence(std::string_view name, std::span<const std::string_view> markers);

/// Order of arrival, by serial arithmetic: right as long as fewer than 2^31 numbers lie between.
constexpr bool before(std::int32_t a, std::int32_t b) noexcept {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) - static_cast<std::uint32_t>(b)) < 0;
}

/// Near the wrap the server repeats or reorders numbers: no node may stand in line there.
constexpr bool is_exhausted(std::int32_t sequence) noexcept {
  return sequence < 0 || sequence > 0x7fffffff - (1 << 20);
}

/// Counts `member::alike`.
void count_alike(std::vector<member>& members);

/// Those of the children that stand in this line, in order.
std::vector<member> members_of(const std::vector<std::string>& children, std::span<const std::string_view> markers);

/// The numbers of those of the children that bear the name of another recipe than the line with these markers: of
/// whoever stands in another line, or of a queue's items; ours, Curator's or kazoo's. Other names mean nothing to any
/// recipe.
std::vector<std::int32_t> strangers_among(const std::vector<std::string>& children,
                                          std::span<const std::string_view> markers);

}  // namespace zkrecipes::detail
