#include "cluster/line_status.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "barrier/round_view.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "line/line_spec.hpp"
#include "semaphore/semaphore.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
namespace detail = zkrecipes::detail;
using std::chrono::milliseconds;
using zkrecipes::errc;
using zkrecipes::error_code;

/// The metadata of a node can be read without any rights.
asio::awaitable<void> look_at_refused(zkrecipes::session session, const std::string& path, child_node& into) {
  into.is_refused = true;
  auto looked = co_await session.async_exists(path, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) {
    into.name.clear();
    co_return;
  }
  check(error, "looking at " + path);
  into.stat = std::get<1>(looked);
}

/// Reads the first ones, and drops those that are gone.
asio::awaitable<void> read_first(zkrecipes::session session, node_line& line, std::size_t most) {
  const auto read_one = [&](std::size_t i) {
    return read_child(session, join(line.path, line.members[i].name), line.members[i]);
  };
  co_await for_each_index(std::min(line.members.size(), most), requests_at_a_time, read_one);
  std::erase_if(line.members, [](const child_node& each) { return each.name.empty(); });
}

/// The node at the path, and the names of its children.
asio::awaitable<reading<node_line>> read_root(zkrecipes::session session, std::string path,
                                              std::vector<std::string>& names) {
  auto own = co_await read_own_node(std::move(session), path);
  reading<node_line> result;
  result.error = own.error;
  if (result.error) co_return result;
  names = std::move(own.status.names);
  result.status.path = std::move(path);
  result.status.root = std::move(own.status.node);
  result.status.now = clock_now();
  co_return result;
}

void sort_out(node_line& line, std::vector<std::string> names, name_markers markers) {
  for (auto& each : detail::members_of(names, markers)) line.members.push_back({std::move(each.name)});
  for (auto& each : names) {
    if (detail::parse_sequence(each, markers)) continue;
    if (!detail::strangers_among({each}, markers).empty()) line.strangers.push_back(each);
    line.others.push_back(std::move(each));
  }
  std::sort(line.others.begin(), line.others.end());
  std::sort(line.strangers.begin(), line.strangers.end());
}

}  // namespace

milliseconds clock_now() noexcept {
  return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch());
}

milliseconds age_of(const zkrecipes::node_stat& stat, milliseconds now) noexcept {
  return std::max(now - milliseconds(stat.ctime), milliseconds(0));
}

std::string told_id(const std::string& data) {
  constexpr std::size_t most_of_told_id = 256;
  return shortened(detail::member_id(data), most_of_told_id);
}

participant_status participant_of(const child_node& node, std::string role, milliseconds now) {
  participant_status who;
  who.role = std::move(role);
  who.node = node.name;
  who.is_readable = !node.is_refused;
  if (!node.stat) return who;
  who.session = session_of(*node.stat);
  who.token = node.stat->czxid;
  who.age = age_of(*node.stat, now);
  return who;
}

asio::awaitable<void> read_child(zkrecipes::session session, std::string path, child_node& into) {
  auto looked = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) {
    into.name.clear();
  } else if (error == errc::no_auth) {
    co_await look_at_refused(session, path, into);
  } else {
    check(error, "reading " + path);
    auto& found = std::get<1>(looked);
    into.data = std::move(found.data);
    into.stat = found.stat;
  }
}

asio::awaitable<reading<node_line>> read_node_line(zkrecipes::session session, std::string path, name_markers markers,
                                                   std::size_t most) {
  std::vector<std::string> names;
  auto result = co_await read_root(session, std::move(path), names);
  if (result.error) co_return result;
  sort_out(result.status, std::move(names), markers);
  co_await read_first(session, result.status, most);
  co_return result;
}

asio::awaitable<reading<node_line>> read_node_children(zkrecipes::session session, std::string path, std::size_t most) {
  std::vector<std::string> names;
  auto result = co_await read_root(session, std::move(path), names);
  if (result.error) co_return result;
  std::sort(names.begin(), names.end());
  for (auto& each : names) result.status.members.push_back({std::move(each)});
  co_await read_first(session, result.status, most);
  co_return result;
}

namespace {

namespace detail = zkrecipes::detail;

constexpr std::string_view marks_of_locks[] = {"lock-", "__lock__"};
constexpr std::string_view marks_of_readers[] = {"__READ__", "__rlock__"};
constexpr std::string_view marks_of_both[] = {"__READ__", "__rlock__", "__WRIT__", "__lock__"};
constexpr std::string_view marks_of_permits[] = {"-permit-"};
constexpr const char* holder_role = "holder";
constexpr const char* waiter_role = "waiter";
constexpr std::size_t most_strangers = 5;  // The names of more are not told.

std::string request_text(const std::string& data) {
  if (!detail::asks_revocation(data)) return {};
  const auto grace = detail::grace_of(data);
  return grace == detail::any_grace ? "asked to give up" : "asked to give up within " + short_duration(grace);
}

/// The client that uses this layout of names and data: "zkrecipes", "Curator" or "kazoo".
std::string client_of(const node_line& line) {
  bool has_ours = false, has_curators = false, has_kazoos = false;
  for (const auto& each : line.members) {
    const bool is_kazoos = each.name.find("lock__") != std::string::npos;
    const bool is_ours = !is_kazoos && each.stat && detail::read_member(each.data);
    has_kazoos |= is_kazoos;
    has_ours |= is_ours;
    has_curators |= !is_kazoos && !is_ours;
  }
  std::string text;
  if (has_ours) append_to_list(text, "zkrecipes");
  if (has_curators) append_to_list(text, "Curator or zkrecipes");
  if (has_kazoos) append_to_list(text, "kazoo");
  return text;
}

bool has_kind(const child_node& node, std::string_view kind) {
  const auto record = detail::read_member(node.data);
  return record && record->is(kind);
}

/// What a line with the names of locks may be.
std::vector<recipe> kinds_of_line(const node_line& line) {
  const auto& all = line.members;
  const auto is_candidate = [](const auto& each) { return has_kind(each, "candidate"); };
  const auto is_member = [](const auto& each) { return has_kind(each, "member"); };
  const auto is_kazoos = [](const auto& each) { return each.name.find("__lock__") != std::string::npos; };
  if (std::any_of(all.begin(), all.end(), is_candidate)) return {recipe::election};
  if (std::any_of(all.begin(), all.end(), is_member)) return {recipe::lock};
  if (!all.empty() && std::all_of(all.begin(), all.end(), is_kazoos))
    return {recipe::lock, recipe::read_write_lock, recipe::election};
  return {recipe::lock, recipe::election};
}

recipe_status begin_status(const node_line& line, std::vector<recipe> kinds) {
  recipe_status status;
  status.path = line.path;
  status.kinds = std::move(kinds);
  add_strangers(status, line);
  return status;
}

std::vector<detail::member> as_members(const node_line& line) {
  std::vector<detail::member> all;
  for (const auto& each : line.members) all.push_back({each.name, 0, false});
  return all;
}

bool reads(const child_node& node) { return detail::parse_sequence(node.name, marks_of_readers).has_value(); }

/// For each member whether it holds a read-write lock.
std::vector<bool> who_holds(const node_line& line) {
  std::vector<bool> holds;
  bool is_barred = false;  // by a writer that lets nobody pass
  for (const auto& each : line.members) {
    holds.push_back(reads(each) ? !is_barred : holds.empty());
    is_barred |= !reads(each) && !detail::is_shared(each.data);
  }
  return holds;
}

std::string mode_of(const child_node& node) {
  if (reads(node)) return "read";
  return detail::is_shared(node.data) ? "write, downgraded" : "write";
}

std::size_t count_of(const std::vector<bool>& flags) {
  return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

/// Gives those that were read their roles.
void assign(recipe_status& status, const std::vector<bool>& holds) {
  for (std::size_t i = 0; i < status.participants.size(); ++i)
    status.participants[i].role = holds[i] ? holder_role : waiter_role;
}

void holders_first(recipe_status& status) {
  std::stable_partition(status.participants.begin(), status.participants.end(),
                        [](const auto& each) { return each.role == holder_role; });
}

std::string permits_text(std::int32_t count) { return std::to_string(count) + (count == 1 ? " permit" : " permits"); }

}  // namespace

name_markers lock_markers() noexcept { return marks_of_locks; }
name_markers read_write_markers() noexcept { return marks_of_both; }
name_markers permit_markers() noexcept { return marks_of_permits; }
name_markers round_member_markers() noexcept { return detail::round_markers(); }

recipe_status recipe_without_view(std::string path, recipe which, recipe_access why) {
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {which};
  status.access = why;
  status.state = to_string(why);
  return status;
}

void add_strangers(recipe_status& status, const node_line& line) {
  status.stranger_count = line.strangers.size();
  status.strangers.assign(line.strangers.begin(), line.strangers.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                               line.strangers.size(), most_strangers)));
}

void add_members(recipe_status& status, const node_line& line, const std::string& role) {
  for (const auto& each : line.members) {
    if (!each.stat) {
      ++status.not_read;
      continue;
    }
    auto who = participant_of(each, role, line.now);
    who.id = told_id(each.data);
    who.position = static_cast<std::int64_t>(status.participants.size());
    who.is_orphan = who.session == 0;
    append_to_list(who.detail, request_text(each.data));
    status.participants.push_back(std::move(who));
  }
}

void set_holders(recipe_status& status, std::size_t holding, std::size_t waiting) {
  status.waiting = waiting;
  if (holding == 0) return;
  const auto& all = status.participants;
  const auto first = std::find_if(all.begin(), all.end(), [](const auto& each) { return each.role == holder_role; });
  if (first != all.end()) status.age = first->age;
  if (holding > 1) {
    status.holder = std::to_string(holding) + " holders";
  } else if (first != all.end()) {
    status.holder = label(*first);
    status.session = first->session;
  }
}

recipe_status lock_of(const node_line& line, bool is_certain) {
  auto status = begin_status(line, is_certain ? std::vector{recipe::lock} : kinds_of_line(line));
  status.client = client_of(line);
  add_members(status, line, waiter_role);
  if (!status.participants.empty()) status.participants.front().role = holder_role;
  const bool is_held = !line.members.empty();
  status.state = is_held ? "held" : "free";
  set_holders(status, is_held ? 1 : 0, is_held ? line.members.size() - 1 : 0);
  return status;
}

recipe_status read_write_lock_of(const node_line& line) {
  auto status = begin_status(line, {recipe::read_write_lock});
  status.client = client_of(line);
  add_members(status, line, waiter_role);
  const auto holds = who_holds(line);
  assign(status, holds);
  for (std::size_t i = 0; i < status.participants.size(); ++i) {
    auto& text = status.participants[i].detail;
    text = mode_of(line.members[i]) + (text.empty() ? "" : ", " + text);
  }
  const auto holding = count_of(holds);
  status.state = holding == 0 ? "free" : reads(line.members.front()) ? "held for reading" : "held for writing";
  holders_first(status);
  set_holders(status, holding, line.members.size() - holding);
  return status;
}

recipe_status semaphore_of(const node_line& line) {
  const auto record = detail::parse_permits(line.root.data);
  if (!record && !line.root.data.empty())
    return recipe_without_view(line.path, recipe::semaphore, recipe_access::foreign_data);
  auto status = begin_status(line, {recipe::semaphore});
  status.client = "zkrecipes";
  add_members(status, line, record ? waiter_role : "member");
  for (std::size_t i = 0; i < status.participants.size(); ++i) {
    auto& text = status.participants[i].detail;
    text = permits_text(detail::weight_of(line.members[i].name)) + (text.empty() ? "" : ", " + text);
  }
  if (!record) {  // nobody has said how many permits there are
    status.state = line.members.empty() ? "not used yet" : "size not known";
    return status;
  }
  auto holds = detail::who_waits(as_members(line), record->size);
  holds.flip();
  std::int64_t taken = 0;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    // Let in before there were fewer permits.
    if (detail::is_shared(line.members[i].data)) holds[i] = true;
    if (holds[i]) taken += detail::weight_of(line.members[i].name);
  }
  assign(status, holds);
  status.size = record->size;
  status.taken = taken;
  status.state = taken >= record->size ? "full" : "free";
  status.facts = {{"size", std::int64_t(record->size)}, {"taken", taken}};
  if (record->before > 0) {
    const auto since =
        std::max(line.now - std::chrono::milliseconds(line.root.stat.mtime), std::chrono::milliseconds(0));
    status.facts.push_back({"size_before", std::int64_t(record->before)});
    status.facts.push_back({"resized", since});
  }
  holders_first(status);
  set_holders(status, count_of(holds), holds.size() - count_of(holds));
  return status;
}

recipe_status double_barrier_of(const node_line& line) {
  const auto record = detail::parse_round(line.root.data);
  if (!record) return recipe_without_view(line.path, recipe::double_barrier, recipe_access::foreign_data);
  auto status = begin_status(line, {recipe::double_barrier});
  status.client = "zkrecipes";
  add_members(status, line, waiter_role);
  std::int64_t inside = 0, needed = 0;
  std::vector<bool> is_inside;
  for (const auto& each : line.members) {
    const auto place = detail::parse_sequence(each.name, detail::round_markers());
    const auto who = detail::parse_round_member({each.name, place.value_or(0), false});
    is_inside.push_back(who && record->names(*who));
    inside += is_inside.back();
    if (who && !is_inside.back() && needed == 0) needed = who->size;
  }
  for (std::size_t i = 0; i < status.participants.size(); ++i)
    status.participants[i].role = is_inside[i] ? "inside" : waiter_role;
  const auto waiting = static_cast<std::int64_t>(line.members.size()) - inside;
  status.waiting = static_cast<std::uint64_t>(waiting);
  status.taken = waiting;
  if (needed > 0) status.size = needed;
  status.state = inside > 0 ? "open" : waiting > 0 ? "gathering" : "empty";
  if (inside > 0) status.holder = std::to_string(inside) + " inside";
  status.facts = {{"round", record->round}, {"ready", inside > 0}, {"inside", inside}, {"present", waiting}};
  if (needed > 0) status.facts.push_back({"needed", needed});
  return status;
}

}  // namespace zkadmin
