#include "change/group_change.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/shard_group_follower.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "change/intervention.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"
#include "cluster/stored_record.hpp"
#include "election/term_record.hpp"
#include "shards/group_layout.hpp"

namespace zkadmin {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

asio::awaitable<std::int64_t> require_group(zkrecipes::session session, std::string path) {
  const auto node = co_await find_node(std::move(session), path);
  if (!node) throw failure(exit_code::error, "there is no shard group at " + printable(path));
  if (recipe_of(node->data) != recipe::shard_group)
    throw failure(exit_code::error, printable(path) + " is no shard group");
  co_return integer_field(parse_stored(node->data), "count");
}

failure nothing_to_do(const std::string& text) {
  return failure(exit_code::error, printable(text) + ": nothing was sent");
}

void require_shard(const std::string& path, std::uint32_t shard, std::int64_t count) {
  if (shard < count) return;
  throw nothing_to_do(path + " has no shard " + std::to_string(shard) + ": its shards are 0 to " +
                      std::to_string(count - 1));
}

asio::awaitable<intervention> prepare_freeze(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  const auto mark = path + "/frozen";
  const auto present = co_await find_node(session, mark);
  if (present) throw nothing_to_do(path + " is frozen already");
  intervention change;
  auto access = co_await inherited_acl(session, path);
  change.requests.create(mark, "", zkrecipes::create_mode::persistent, std::move(access));
  change.done = "froze " + path;
  change.if_gone = "the group has just been removed: nothing was written";
  change.if_changed = "the group has just been frozen by another";
  co_return change;
}

asio::awaitable<intervention> prepare_thaw(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  const auto mark = path + "/frozen";
  const auto present = co_await find_node(session, mark);
  if (!present) throw nothing_to_do(path + " is not frozen");
  intervention change;
  change.requests.remove(mark, present->stat.version);
  change.done = "thawed " + path;
  change.if_gone = "the group has just been thawed by another";
  change.if_changed = "the node has just been written: nothing was done, try again";
  co_return change;
}

namespace {

constexpr std::size_t most_at_once = 100;  // so that the transaction is not too large for a server

/// Without the deaths in the record the next one would put the shard there again. A record that its owner may be
/// writing is left alone.
asio::awaitable<void> add_release(zkrecipes::session session, std::string path, std::string name,
                                  zkrecipes::node_data mark, intervention& change) {
  change.requests.remove(path + "/quarantine/" + name, mark.stat.version);
  const auto record_path = path + "/shard/" + name;
  const auto node = co_await find_node(session, record_path);
  auto record = node ? zkrecipes::detail::parse_record(node->data) : std::nullopt;
  if (!record || record->deaths == 0 || !record->finished()) co_return;
  record->deaths = 0;
  change.requests.set(record_path, zkrecipes::detail::serialize(*record), node->stat.version);
}

intervention release_of(std::string done) {
  intervention change;
  change.done = std::move(done);
  change.if_gone = "a shard has just been released by another: nothing was done, look again";
  change.if_changed = "a node has just been written: nothing was done, try again";
  return change;
}

}  // namespace

asio::awaitable<intervention> prepare_release(zkrecipes::session session, std::string path, std::uint32_t shard) {
  const auto count = co_await require_group(session, path);
  const auto number = std::to_string(shard);
  require_shard(path, shard, count);
  auto name = zkrecipes::shard{shard, static_cast<std::uint32_t>(count)}.name();
  auto present = co_await find_node(session, path + "/quarantine/" + name);
  if (!present) throw nothing_to_do("shard " + number + " of " + path + " is not in quarantine");
  auto change = release_of("released shard " + number + " of " + path);
  co_await add_release(session, path, std::move(name), std::move(*present), change);
  co_return change;
}

asio::awaitable<intervention> prepare_release_of_all(zkrecipes::session session, std::string path) {
  co_await require_group(session, path);
  auto listing = co_await session.async_children(path + "/quarantine", as_result);
  const error_code error = std::get<0>(listing);
  if (error != errc::no_node) check(error, "reading " + path + "/quarantine");
  auto change = release_of("");
  std::size_t released = 0;
  for (auto& each : std::get<1>(listing).names) {
    if (released == most_at_once) break;
    auto mark = co_await find_node(session, path + "/quarantine/" + each);
    if (!mark) continue;
    ++released;
    co_await add_release(session, path, std::move(each), std::move(*mark), change);
  }
  if (released == 0) throw nothing_to_do("no shard of " + path + " is in quarantine");
  change.done = "released " + std::to_string(released) + " shards of " + path;
  if (released == most_at_once) change.done += "; there may be more: give the command again";
  co_return change;
}

namespace {

namespace detail = zkrecipes::detail;

constexpr std::size_t most_members_named = 10;

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
  auto names = co_await find_children(session, where.members());
  const auto nodes =
      co_await read_below(session, where.members(), std::move(names).value_or(std::vector<std::string>()));
  for (const auto& each : nodes) {
    auto record = detail::parse_member_record(each);
    if (record) found.members.push_back(std::move(*record));
  }
  auto notes = co_await find_children(session, where.notes());
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
  for (std::size_t i = 0; i < std::min(ids.size(), most_members_named); ++i) append_to_list(text, ids[i]);
  return ids.size() > most_members_named ? text + ", ..." : or_dash(text);
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
    change.because = name + " is pinned to " + *detail::read_pin(present->data) + ", perhaps by another operator";
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

namespace {

using zkrecipes::shard_group_view;
using zkrecipes::shard_view;

/// Whether it is done; else `told` is where it stands.
using group_judge = std::function<bool(const shard_group_view& view, std::string& told)>;

asio::awaitable<void> follow_group(zkrecipes::session session, std::string path, group_judge judge, std::string& told) {
  zkrecipes::shard_group_follower follower(std::move(session), path);
  for (std::uint64_t seen = 0;;) {
    auto changed = co_await follower.async_change(seen, as_result);
    check(std::get<0>(changed), "following " + path);
    const auto& view = std::get<1>(changed);
    if (judge(view, told)) co_return;
    seen = view.revision;
  }
}

/// The nodes of the members of this id.
bool is_of(const shard_group_view& view, const std::string& node, const std::string& id) {
  return std::any_of(view.members.begin(), view.members.end(),
                     [&](const auto& each) { return each.node == node && each.id == id; });
}

bool is_over(zkrecipes::term_phase phase) {
  using zkrecipes::term_phase;
  return phase == term_phase::none || phase == term_phase::retired || phase == term_phase::stalled ||
         phase == term_phase::died;
}

/// Whether the member is to own the shard, or has not given it up.
bool has(const shard_group_view& view, const shard_view& shard, const std::string& id) {
  return is_of(view, shard.assigned_to, id) || (!is_over(shard.phase) && is_of(view, shard.owner_node, id));
}

bool is_drained(const shard_group_view& view, const std::string& path, const std::string& id, std::string& told) {
  const auto left = std::count_if(view.shards.begin(), view.shards.end(),
                                  [&](const shard_view& each) { return has(view, each, id); });
  if (std::find(view.drained.begin(), view.drained.end(), id) == view.drained.end())
    throw failure(exit_code::error, "another has ended the drain of " + id);
  told = id + " of " + path + " has " + (left == 0 ? "no" : std::to_string(left)) + (left == 1 ? " shard" : " shards");
  if (left > 0 && view.is_frozen) told += "; the group is frozen";
  return left == 0;
}

bool is_transferred(const shard_group_view& view, const std::string& path, std::uint32_t number, const std::string& id,
                    std::string& told) {
  const auto name = "shard " + std::to_string(number) + " of " + path;
  if (number >= view.shards.size()) throw failure(exit_code::error, "there is no " + name + " any more");
  const auto& shard = view.shards[number];
  if (shard.pinned_to != id) throw failure(exit_code::error, "another has changed the pin of " + name);
  const bool is_there = is_of(view, shard.assigned_to, id) && !shard.is_moving();
  told = name + " is " + (is_there ? "" : "not yet ") + "owned by " + id;
  if (!is_there && !shard.owner.empty()) told += ": " + std::string(to_string(shard.phase)) + ", of " + shard.owner;
  if (!is_there && view.is_frozen) told += "; the group is frozen";
  return is_there;
}

}  // namespace

asio::awaitable<void> follow_drain(zkrecipes::session session, std::string path, std::string member,
                                   std::string& told) {
  group_judge judge = [&path, &member](const shard_group_view& view, std::string& now) {
    return is_drained(view, path, member, now);
  };
  co_await follow_group(std::move(session), path, std::move(judge), told);
}

asio::awaitable<void> follow_transfer(zkrecipes::session session, std::string path, std::uint32_t shard,
                                      std::string member, std::string& told) {
  group_judge judge = [&path, &member, shard](const shard_group_view& view, std::string& now) {
    return is_transferred(view, path, shard, member, now);
  };
  co_await follow_group(std::move(session), path, std::move(judge), told);
}

}  // namespace zkadmin
