#include "cluster/recipe_reader.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/group.hpp"
#include "cluster/line_status.hpp"
#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/recognize.hpp"
#include "cluster/shared_status.hpp"
#include "cluster/status.hpp"
#include "cluster/stream.hpp"
#include "cluster/topic.hpp"
#include "queue/queue_layout.hpp"

namespace zkadmin {

// Reads what processes share: gates, calls that are made once in a period, balances. All errors are those of the
// requests; each throws `failure` if a child can not be read for another reason than its access list.

/// Reads at most `participants` callers of each bucket, and so many buckets, but at least 64.
boost::asio::awaitable<reading<recipe_status>> read_shared_gate(zkrecipes::session session, std::string path,
                                                                std::size_t participants);

/// The last period that has a node, and at most `participants` of its intents.
boost::asio::awaitable<reading<recipe_status>> read_once_per(zkrecipes::session session, std::string path,
                                                             std::size_t participants);

/// Twice `participants` of the nodes of its members, because each may have a mark beside it.
boost::asio::awaitable<reading<recipe_status>> read_shared_balance(zkrecipes::session session, std::string path,
                                                                   std::size_t participants);

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using shared_result = reading<recipe_status>;

constexpr std::size_t least_buckets = 64;

}  // namespace

asio::awaitable<shared_result> read_shared_gate(zkrecipes::session session, std::string path,
                                                std::size_t participants) {
  shared_result result;
  const auto own = co_await read_own_node(session, path);
  result.error = own.error;
  if (result.error) co_return result;
  std::vector<std::string> names;
  for (const auto number : periods_among(own.status.names)) names.push_back(std::to_string(number));
  const auto most = std::max(participants, least_buckets);
  const auto unread = names.size() - std::min(names.size(), most);
  names.resize(names.size() - unread);
  std::vector<reading<node_line>> lines(names.size());
  const auto read_one = [&](std::size_t i) -> asio::awaitable<void> {
    lines[i] = co_await read_node_line(session, join(path, names[i]), gate_markers(), participants);
  };
  co_await for_each_index(names.size(), requests_at_a_time, read_one);
  std::vector<node_line> buckets;
  std::size_t refused = 0;
  for (auto& each : lines) {
    if (each.error == errc::no_node) continue;
    if (each.error == errc::no_auth) {
      ++refused;
      continue;
    }
    check(each.error, "reading a bucket of " + path);
    buckets.push_back(std::move(each.status));
  }
  result.status = shared_gate_of(path, own.status.node, buckets, unread + refused);
  co_return result;
}

asio::awaitable<shared_result> read_once_per(zkrecipes::session session, std::string path, std::size_t participants) {
  shared_result result;
  const auto own = co_await read_own_node(session, path);
  result.error = own.error;
  if (result.error) co_return result;
  const auto periods = periods_among(own.status.names);
  std::optional<node_line> last;
  if (!periods.empty()) {
    const auto place = join(path, std::to_string(periods.back()));
    auto seen = co_await read_node_children(session, place, participants);
    if (seen.error != errc::no_node) {  // else it has just been removed
      result.error = seen.error;
      if (result.error) co_return result;
      last = std::move(seen.status);
    }
  }
  result.status = once_per_of(path, own.status.node, periods, last, clock_now());
  co_return result;
}

asio::awaitable<shared_result> read_shared_balance(zkrecipes::session session, std::string path,
                                                   std::size_t participants) {
  shared_result result;
  auto looked = co_await session.async_get(join(path, "limit"), as_result);
  const error_code error = std::get<0>(looked);
  std::optional<zkrecipes::node_data> limit;
  if (!error) limit = std::move(std::get<1>(looked));
  auto members = co_await read_node_children(session, join(path, "members"), participants * 2);
  const bool is_gone = error == errc::no_node && members.error == errc::no_node;
  result.error = is_gone || (error && error != errc::no_node) ? error : error_code();
  if (!result.error && members.error != errc::no_node) result.error = members.error;
  if (!result.error) result.status = shared_balance_of(path, limit, members.status);
  co_return result;
}

namespace {

constexpr std::string_view marks_of_leases[] = {"lease-"};
constexpr const char* lease_role = "holder";

/// A number as kazoo writes it; nothing for other data.
std::optional<std::int64_t> number_in(const std::string& data) noexcept {
  const auto number = read_number<std::int64_t>(data);
  return number.value_or(0) > 0 ? number : std::nullopt;
}

recipe_status semaphore_with(std::string path, const char* client, const node_line& leases, const node_line& waiting) {
  recipe_status status;
  status.path = std::move(path);
  status.kinds = {recipe::semaphore};
  status.client = client;
  add_members(status, leases, lease_role);
  for (auto& each : status.participants) each.position.reset();  // those who hold stand in no order
  add_members(status, waiting, "waiter");
  status.taken = static_cast<std::int64_t>(leases.members.size());
  set_holders(status, leases.members.size(), waiting.members.size());
  return status;
}

}  // namespace

name_markers lease_markers() noexcept { return marks_of_leases; }

recipe_status curators_semaphore_of(std::string path, const node_line& leases, const node_line& waiting) {
  auto status = semaphore_with(std::move(path), "Curator", leases, waiting);
  status.state = leases.members.empty() ? "free" : "held";
  // A client makes its lease first, and then waits, still in line, until there are few enough.
  std::set<std::optional<std::int64_t>> in_line;
  for (const auto& each : waiting.members)
    if (each.stat && session_of(*each.stat) != 0) in_line.insert(session_of(*each.stat));
  std::size_t unsure = 0;
  for (auto& each : status.participants) {
    if (each.role != lease_role || !in_line.contains(each.session)) continue;
    each.role = "holder or waiter";
    ++unsure;
  }
  if (unsure > 0) {
    status.taken.reset();
    status.holder.clear();
    status.session.reset();
    status.age.reset();
    set_holders(status, leases.members.size() - unsure, waiting.members.size());
  }
  status.facts = {{"size", std::monostate()}, {"taken", status.taken ? fact_value(*status.taken) : fact_value()}};
  add_strangers(status, leases);
  return status;
}

recipe_status kazoos_semaphore_of(const node_line& leases, const node_line& waiting) {
  auto status = semaphore_with(leases.path, "kazoo", leases, waiting);
  status.size = number_in(leases.root.data);
  status.state = leases.members.empty() ? "free" : "held";
  if (status.size) status.state = *status.taken >= *status.size ? "full" : "free";
  status.facts = {{"size", status.size ? fact_value(*status.size) : fact_value()}, {"taken", *status.taken}};
  return status;
}

namespace {

using recipe_result = reading<recipe_status>;

template <class Status, class Make>
recipe_result made_of(reading<Status> seen, Make make) {
  recipe_result result{seen.error};
  if (!result.error) result.status = make(std::move(seen.status));
  return result;
}

template <class Status>
recipe_result made_of(reading<Status> seen) {
  return made_of(std::move(seen), [](Status status) { return recipe_status_of(std::move(status)); });
}

asio::awaitable<recipe_result> read_election_recipe(zkrecipes::session session, std::string path) {
  recipe_result result;
  auto seen = co_await view_election(std::move(session), std::move(path));
  if (!seen) result.error = errc::no_node;
  if (seen) result.status = recipe_status_of(std::move(*seen), std::chrono::system_clock::now());
  co_return result;
}

/// One node, without its children.
asio::awaitable<recipe_result> read_single(zkrecipes::session session, recipe which, std::string path,
                                           recipe_reading how) {
  recipe_result result;
  auto looked = co_await session.async_get(path, as_result);
  result.error = std::get<0>(looked);
  const bool is_lifted = result.error == errc::no_node && which == recipe::barrier && how.is_declared;
  if (is_lifted) result.error = {};
  if (result.error) co_return result;
  std::optional<zkrecipes::node_data> node;
  if (!is_lifted) node = std::move(std::get<1>(looked));
  result.status = which == recipe::barrier ? barrier_of(std::move(path), node, clock_now())
                                           : persistent_node_of(std::move(path), *node, clock_now());
  co_return result;
}

/// A line that is not there has nobody in it.
asio::awaitable<node_line> line_if_any(zkrecipes::session session, std::string path, name_markers markers,
                                       std::size_t most) {
  auto seen = co_await read_node_line(std::move(session), path, markers, most);
  if (seen.error == errc::no_node) seen.error = {};
  check(seen.error, "reading " + path);
  co_return std::move(seen.status);
}

asio::awaitable<recipe_result> read_line_recipe(zkrecipes::session session, recipe which, std::string path,
                                                recipe_reading how) {
  if (which == recipe::read_write_lock) {
    auto seen = co_await read_node_line(std::move(session), std::move(path), read_write_markers(), how.participants);
    co_return made_of(std::move(seen), [](const node_line& line) { return read_write_lock_of(line); });
  }
  if (which == recipe::double_barrier) {
    auto seen = co_await read_node_line(std::move(session), std::move(path), round_member_markers(), how.participants);
    co_return made_of(std::move(seen), [](const node_line& line) { return double_barrier_of(line); });
  }
  auto seen = co_await read_node_line(std::move(session), std::move(path), lock_markers(), how.participants);
  co_return made_of(std::move(seen), [how](const node_line& line) { return lock_of(line, how.is_declared); });
}

asio::awaitable<recipe_result> read_children_recipe(zkrecipes::session session, recipe which, std::string path,
                                                    recipe_reading how) {
  auto seen = co_await read_node_children(std::move(session), std::move(path), how.participants);
  co_return made_of(std::move(seen), [which, how](const node_line& children) {
    auto status = which == recipe::service ? service_of(children) : membership_of(children, how.is_declared);
    status.is_declared = how.is_declared;
    return status;
  });
}

asio::awaitable<recipe_result> read_group_recipe(zkrecipes::session session, recipe which, std::string path,
                                                 recipe_reading how) {
  auto seen = co_await read_group(std::move(session), std::move(path));
  auto result = made_of(std::move(seen));
  if (!result.error) describe_limiter(result.status, which, how.is_declared);
  co_return result;
}

asio::awaitable<recipe_result> read_topic_recipe(zkrecipes::session session, std::string path) {
  auto seen = co_await read_topic(std::move(session), std::move(path));
  co_return made_of(std::move(seen));
}

asio::awaitable<recipe_result> read_stream_recipe(zkrecipes::session session, std::string path) {
  auto seen = co_await read_stream(std::move(session), std::move(path));
  co_return made_of(std::move(seen));
}

asio::awaitable<recipe_result> read_commit_recipe(zkrecipes::session session, std::string path) {
  auto seen = co_await read_commit(std::move(session), std::move(path));
  co_return made_of(std::move(seen));
}

asio::awaitable<recipe_result> read_as(zkrecipes::session session, recipe which, std::string path, recipe_reading how) {
  switch (which) {
    case recipe::none: break;
    case recipe::election: return read_election_recipe(std::move(session), std::move(path));
    case recipe::shared_limiter:
    case recipe::shard_group: return read_group_recipe(std::move(session), which, std::move(path), how);
    case recipe::topic: return read_topic_recipe(std::move(session), std::move(path));
    case recipe::stream: return read_stream_recipe(std::move(session), std::move(path));
    case recipe::two_phase_commit: return read_commit_recipe(std::move(session), std::move(path));
    case recipe::queue: return read_queue_recipe(std::move(session), std::move(path), how.participants);
    case recipe::semaphore: return read_semaphore(std::move(session), std::move(path), how.participants);
    case recipe::shared_gate: return read_shared_gate(std::move(session), std::move(path), how.participants);
    case recipe::once_per: return read_once_per(std::move(session), std::move(path), how.participants);
    case recipe::shared_balance: return read_shared_balance(std::move(session), std::move(path), how.participants);
    case recipe::barrier:
    case recipe::persistent_node: return read_single(std::move(session), which, std::move(path), how);
    case recipe::membership:
    case recipe::service: return read_children_recipe(std::move(session), which, std::move(path), how);
    case recipe::lock:
    case recipe::read_write_lock:
    case recipe::double_barrier: return read_line_recipe(std::move(session), which, std::move(path), how);
  }
  throw failure(exit_code::error, "there is no reader for this kind");
}

}  // namespace

asio::awaitable<recipe_result> read_semaphore(zkrecipes::session session, std::string path, std::size_t participants) {
  auto seen = co_await read_node_line(session, path, permit_markers(), participants);
  if (seen.error) co_return made_of(std::move(seen), semaphore_of);
  const auto& line = seen.status;
  const bool is_ours = !line.members.empty() || recipe_of(line.root.data) != recipe::none;
  const auto has = [&line](const char* name) {
    return std::binary_search(line.others.begin(), line.others.end(), name);
  };
  if (!is_ours && has("leases")) {
    const auto leases = co_await line_if_any(session, join(path, "leases"), lease_markers(), participants);
    const auto waiting = co_await line_if_any(session, join(path, "locks"), lock_markers(), participants);
    recipe_result result;
    result.status = curators_semaphore_of(path, leases, waiting);
    co_return result;
  }
  const auto inner = path + std::string(kazoos_inner_lock);
  auto looked = co_await session.async_exists(inner, as_result);
  const error_code error = std::get<0>(looked);
  if (is_ours || error) co_return made_of(std::move(seen), semaphore_of);
  auto leases = co_await read_node_children(session, path, participants);
  const auto waiting = co_await line_if_any(session, inner, lock_markers(), participants);
  co_return made_of(std::move(leases), [&](const node_line& all) { return kazoos_semaphore_of(all, waiting); });
}

asio::awaitable<recipe_result> read_recipe(zkrecipes::session session, recipe which, std::string path,
                                           recipe_reading how) {
  auto result = co_await read_as(std::move(session), which, path, how);
  if (result.error == errc::no_auth) result = {{}, recipe_without_view(path, which, recipe_access::no_access)};
  if (result.error == errc::foreign_data) result = {{}, recipe_without_view(path, which, recipe_access::foreign_data)};
  if (result.error != errc::no_node) check(result.error, "looking at " + path);
  co_return result;
}

namespace {

constexpr std::size_t longest_reason = 200;

/// The nodes at these paths that are there.
asio::awaitable<std::vector<child_node>> read_paths(zkrecipes::session session, std::vector<std::string> paths) {
  std::vector<child_node> all(paths.size());
  const auto read_one = [&](std::size_t i) -> asio::awaitable<void> {
    all[i].name = name_of(paths[i]);
    co_await read_child(session, paths[i], all[i]);
  };
  co_await for_each_index(paths.size(), requests_at_a_time, read_one);
  std::erase_if(all, [](const child_node& each) { return each.name.empty(); });
  co_return all;
}

participant_status claim_of(const child_node& node) {
  constexpr std::string_view begin = "_claim-";
  auto who = participant_of(node, "claim", clock_now());
  who.id = node.name.starts_with(begin) ? node.name.substr(begin.size()) : node.name;
  who.is_orphan = who.session == 0;
  return who;
}

participant_status letter_of(const child_node& node) {
  auto who = participant_of(node, "letter", clock_now());
  who.session.reset();  // it belongs to none
  const auto letter = zkrecipes::detail::read_letter(node.data);
  if (!letter) return who;
  who.id = shortened(letter->item, longest_reason);
  who.detail = std::to_string(letter->attempts) + " attempts: " + shortened(letter->reason, longest_reason);
  return who;
}

asio::awaitable<std::vector<std::string>> letter_paths(zkrecipes::session session, std::string folder) {
  auto listing = co_await session.async_children(folder, as_result);
  const zkrecipes::error_code error = std::get<0>(listing);
  std::vector<std::string> paths;
  if (error == errc::no_node || error == errc::no_auth) co_return paths;
  check(error, "reading " + folder);
  for (const auto& each : std::get<1>(listing).names) paths.push_back(join(folder, each));
  std::sort(paths.begin(), paths.end());
  co_return paths;
}

/// Adds what stands at the first of these paths, and counts the others.
asio::awaitable<void> add_nodes(zkrecipes::session session, recipe_status& status, std::vector<std::string> paths,
                                std::uint64_t count, std::size_t most, participant_status (*make)(const child_node&)) {
  if (paths.size() > most) paths.resize(most);
  status.not_read += std::max<std::uint64_t>(count, paths.size()) - paths.size();
  const auto nodes = co_await read_paths(session, std::move(paths));
  for (const auto& each : nodes) status.participants.push_back(make(each));
}

}  // namespace

asio::awaitable<reading<recipe_status>> read_queue_recipe(zkrecipes::session session, std::string path,
                                                          std::size_t participants) {
  reading<recipe_status> result;
  auto queue = co_await read_queue(session, std::move(path));
  result.error = queue.error;
  if (result.error) co_return result;
  const auto claims = queue.status.claim_paths;
  const auto claimed = queue.status.claimed, letters = queue.status.dead_letters;
  const auto folder = queue.status.letter_folder;
  result.status = recipe_status_of(std::move(queue.status));
  co_await add_nodes(session, result.status, claims, claimed, participants, claim_of);
  if (folder.empty()) co_return result;
  auto paths = co_await letter_paths(session, folder);
  co_await add_nodes(session, result.status, std::move(paths), letters, participants, letter_of);
  co_return result;
}

}  // namespace zkadmin
