// Which line, the names of its members and their order, and who has to go first in it.
//
// Names of ours and of Curator: `_c_<guid>-latch-0000000007`; of kazoo: `<guid>__lock__0000000007`. The order is that
// of the number behind the marker, never of the text.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/json_object.hpp"

namespace zkrecipes::detail {

// The data of a member's node in a line: its id, whether it reads requests for revocation, such a request, and the mark
// that it lets others pass.

/// No limit to the owner's grace.
inline constexpr auto any_grace = std::chrono::milliseconds::max();

/// The data as an object; nothing if it is no object, as that of other clients, which write plain text or nothing.
std::optional<json_object> read_member(const std::string& data);
/// Whether the data is an object in which this field is true.
bool has_flag(const std::string& data, std::string_view name);
/// The data of a member that tells nothing but its id: plain text, as clients of Curator and kazoo write it. An id that
/// would be taken for a record, or for a request, is stored in a record.
std::string id_data(const std::string& id);
/// The data of a member that reads requests to give its place up in its own node. Only to such a node a request is
/// written: other programs do not listen, and their data stays as it is.
std::string revocable_data(const std::string& id);
/// Whether `data` is that of a member that reads such requests.
bool is_revocable(const std::string& data);
/// The data with a request to the owner of the node to give it up. If there was a request before, the one with the
/// shorter grace stays.
std::string with_revocation(const std::string& data, std::chrono::milliseconds grace = any_grace);
/// Whether `data` carries a request to give the node up, and how long the owner may take for it.
bool asks_revocation(const std::string& data);
std::chrono::milliseconds grace_of(const std::string& data);
/// The data of a member that keeps its place but lets those behind it in as far as there is room: readers behind a
/// writer that has become one, holders beside a holder.
std::string with_shared(const std::string& data);
/// Whether `data` is that of such a member.
bool is_shared(const std::string& data);
/// The name that a member gives itself in its data: plain text as Curator's clients write it, or JSON with an "id".
std::string member_id(const std::string& data);

/// One node that stands in a line.
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

/// The line of a lock.
line_spec lock_line(std::string path);

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
