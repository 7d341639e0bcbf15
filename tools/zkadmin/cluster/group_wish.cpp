#include "cluster/group_wish.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/shard.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/group_change.hpp"
#include "cluster/inherited_acl.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"
#include "shards/group_layout.hpp"
#include "shards/member_record.hpp"
#include "shards/operator_notes.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_named = 10;

/// The members that are there, and what an operator wants of them.
struct group_people {
  std::vector<detail::member_record> members{};
  detail::operator_notes notes{};
  bool has_folder = false;  ///< The folder of the notes.

  bool is_there(const std::string& id) const {
    return std::any_of(members.begin(), members.end(), [&](const auto& each) { return each.id == id; });
  }
  /// Whether a member of this id can be given shards.
  bool can_take(const std::string& id) const {
    return !notes.drains.contains(id) && std::any_of(members.begin(), members.end(), [&](const auto& each) {
      return each.id == id && !each.is_draining;
    });
  }
  bool has_other_taker(const std::string& id) const {
    return std::any_of(members.begin(), members.end(),
                       [&](const auto& each) { return each.id != id && can_take(each.id); });
  }
};

asio::awaitable<std::optional<std::vector<std::string>>> list_below(zkrecipes::session session, std::string path) {
  auto listing = co_await session.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "reading " + path);
  co_return std::move(std::get<1>(listing).names);
}

/// The data of the children that are there.
asio::awaitable<std::vector<std::string>> read_below(zkrecipes::session session, std::string path,
                                                     std::vector<std::string> names) {
  std::vector<std::string> all(names.size());
  const auto read_one = [&](std::size_t i) -> asio::awaitable<void> {
    auto node = co_await find_node(session, path + "/" + names[i]);
    if (node) all[i] = std::move(node->data);
  };
  co_await for_each_index(names.size(), requests_at_a_time, read_one);
  co_return all;
}

asio::awaitable<group_people> read_people(zkrecipes::session session, detail::group_layout where) {
  group_people found;
  auto names = co_await list_below(session, where.members());
  const auto nodes =
      co_await read_below(session, where.members(), std::move(names).value_or(std::vector<std::string>()));
  for (const auto& each : nodes) {
    auto record = detail::parse_member_record(each);
    if (record) found.members.push_back(std::move(*record));
  }
  auto notes = co_await list_below(session, where.notes());
  found.has_folder = notes.has_value();
  if (!notes) co_return found;
  const auto data = co_await read_below(session, where.notes(), *notes);
  for (std::size_t i = 0; i < data.size(); ++i) found.notes.add((*notes)[i], data[i]);
  co_return found;
}

std::string names_of(const group_people& people) {
  std::vector<std::string> ids;
  for (const auto& each : people.members) ids.push_back(each.id);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), most_named); ++i) append_to_list(text, ids[i]);
  return ids.size() > most_named ? text + ", ..." : or_dash(text);
}

void require_member(const group_people& people, const std::string& path, const std::string& id) {
  if (!people.is_there(id))
    throw nothing_to_do(path + " has no member " + id + ", its members are: " + names_of(people));
}

/// Makes the note, and the folder of the notes if there is none, with the ACL of the group.
asio::awaitable<intervention> making(zkrecipes::session session, detail::group_layout where, bool has_folder,
                                     std::string note, std::string data) {
  constexpr auto mode = zkrecipes::create_mode::persistent;
  const auto access = co_await inherited_acl(session, where.root);
  intervention change;
  if (!has_folder) change.requests.create(where.notes(), "", mode, access);
  change.requests.create(std::move(note), std::move(data), mode, access);
  change.if_gone = "the group, or its folder of notes, has just been removed: nothing was written";
  change.if_changed = "another has just made such a note: nothing was written, look again";
  co_return change;
}

intervention removing(std::string note, const zkrecipes::node_data& present) {
  intervention change;
  change.requests.remove(std::move(note), present.stat.version);
  change.if_gone = "another has just removed the note";
  change.if_changed = "the note has just been written: nothing was done, try again";
  return change;
}

asio::awaitable<void> require_transfer(zkrecipes::session session, detail::group_layout where,
                                       const group_people& people, std::uint32_t shard, const std::string& id) {
  require_member(people, where.root, id);
  if (!people.can_take(id)) throw nothing_to_do(id + " drains, so it is given no shards");
  const auto quarantine = co_await find_node(session, where.quarantine(shard));
  if (quarantine)
    throw nothing_to_do("shard " + std::to_string(shard) + " of " + where.root + " is in quarantine, release it first");
}

}  // namespace

asio::awaitable<intervention> prepare_drain(zkrecipes::session session, std::string path, std::string member,
                                            bool is_followed) {
  co_await require_group(session, path);
  const detail::group_layout where{path};
  const auto people = co_await read_people(session, where);
  require_member(people, path, member);
  const bool is_noted = people.notes.drains.contains(member);
  if (is_noted && !is_followed) throw nothing_to_do(member + " of " + path + " is drained already");
  if (!people.has_other_taker(member))
    throw nothing_to_do("no other member of " + path + " could take the shards of " + member);
  intervention change;
  if (!is_noted) change = co_await making(session, where, people.has_folder, where.drain_of(member), "");
  change.done = (is_noted ? "drained already: " : "drains ") + member + " of " + path;
  co_return change;
}

asio::awaitable<intervention> prepare_undrain(zkrecipes::session session, std::string path, std::string member) {
  co_await require_group(session, path);
  const auto note = detail::group_layout{path}.drain_of(member);
  const auto present = co_await find_node(session, note);
  if (!present) throw nothing_to_do(member + " of " + path + " is not drained by an operator");
  auto change = removing(note, *present);
  change.done = member + " of " + path + " is given shards again";
  co_return change;
}

asio::awaitable<intervention> prepare_transfer(zkrecipes::session session, std::string path, std::uint32_t shard,
                                               std::string member, bool is_followed) {
  const auto count = co_await require_group(session, path);
  require_shard(path, shard, count);
  const detail::group_layout where{path};
  const auto people = co_await read_people(session, where);
  co_await require_transfer(session, where, people, shard, member);
  const auto present = co_await find_node(session, where.pin(shard));
  const auto name = "shard " + std::to_string(shard) + " of " + path;
  if (present && !detail::read_pin(present->data))
    throw nothing_to_do(where.pin(shard) + " holds data that is no pin, and is left alone");
  const bool is_noted = present && detail::read_pin(present->data) == member;
  if (is_noted && !is_followed) throw nothing_to_do(name + " is pinned to " + member + " already");
  intervention change;
  if (!present)
    change = co_await making(session, where, people.has_folder, where.pin(shard), detail::write_pin(member));
  if (present && !is_noted) {
    change.requests.set(where.pin(shard), detail::write_pin(member), present->stat.version);
    change.if_gone = "another has just removed the pin: nothing was written, look again";
    change.if_changed = "another has just pinned the shard: nothing was written, look again";
  }
  change.done = (is_noted ? "pinned already: " : "pinned ") + name + " to " + member;
  co_return change;
}

asio::awaitable<intervention> prepare_unpin(zkrecipes::session session, std::string path, std::uint32_t shard) {
  const auto count = co_await require_group(session, path);
  require_shard(path, shard, count);
  const auto note = detail::group_layout{path}.pin(shard);
  const auto present = co_await find_node(session, note);
  const auto name = "shard " + std::to_string(shard) + " of " + path;
  if (!present) throw nothing_to_do(name + " is not pinned");
  auto change = removing(note, *present);
  change.done = "unpinned " + name;
  co_return change;
}

}  // namespace zkadmin
