#include "cluster/tree_search.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include <zkrecipes/service_discovery.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/recognize.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t max_notes = 20;  // For each kind of note.
constexpr std::int32_t longest_record = 64 * 1024;

/// Curator keeps an instance in `<service>/<id>`.
bool is_instance_at(const std::string& path, const std::string& data) {
  const auto instance = zkrecipes::parse_service_instance(data);
  return instance && instance->id == name_of(path) && instance->name == name_of(parent_of(path));
}

/// The number of children that were ever created: `cversion` counts creations and removals.
std::uint32_t created_below(const zkrecipes::node_stat& stat) {
  return (static_cast<std::uint32_t>(stat.cversion) + static_cast<std::uint32_t>(stat.num_children)) / 2;
}

/// Numbers of one sequence, such as effects that a consumer has created.
bool are_numbered(const std::vector<std::string>& names) {
  const auto begin = before_sequence(names.front());
  return !begin.empty() &&
         std::ranges::all_of(names, [begin](const auto& each) { return before_sequence(each) == begin; });
}

/// Takes so many out of a sorted list, evenly.
std::vector<std::string> take_sample(std::vector<std::string>& from, std::size_t count) {
  std::vector<std::string> sample, rest;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool is_taken = i * count / from.size() != (i + 1) * count / from.size();
    (is_taken ? sample : rest).push_back(std::move(from[i]));
  }
  from = std::move(rest);
  return sample;
}

void shorten(std::vector<survey_note>& notes, const std::string& root, const char* rest) {
  if (notes.size() <= max_notes) return;
  const auto more = notes.size() - max_notes;
  notes.resize(max_notes);
  notes.push_back({root, std::to_string(more) + rest});
}

}  // namespace

failure missing_root(const std::string& root) {
  // A server's own root is always there.
  const auto which = root == "/" ? std::string("the path behind the addresses in hosts") : "the root " + root;
  return {exit_code::error, which + " does not exist; give another one" + (root == "/" ? "" : " with --root")};
}

tree_search::tree_search(zkrecipes::session session, std::string root, search_options how)
    : session_(std::move(session)), root_(std::move(root)), how_(std::move(how)), walk_(root_, how_.most) {}

asio::awaitable<void> tree_search::run(deadline limit) {
  limit_ = limit;
  co_await visit_levels();
  co_await visit_alike();
  found_ = paths_of(told_);
}

asio::awaitable<void> tree_search::visit_levels() {
  const auto visit_one = [this](const level_walk::place& at, std::size_t level) { return visit(at.path, level); };
  co_await walk_.run(visit_one, how_.levels);
}

/// The fewest first, for half of the time that is left: the caller reads what was found.
asio::awaitable<void> tree_search::visit_alike() {
  const auto now = std::chrono::steady_clock::now();
  alike_limit_ = now + (limit_ - now) / 2;
  for (auto room = how_.most_alike; !alike_.empty() && std::chrono::steady_clock::now() < alike_limit_;) {
    room = std::min(room, walk_.room());
    if (room == 0) break;
    const auto fewest = std::ranges::min_element(alike_, {}, [](const auto& each) { return each.second.names.size(); });
    alike_path_ = fewest->first;
    auto [level, names, more] = std::move(fewest->second);
    const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(room, names.size()));
    room -= std::min(room, names.size());
    // Visited, too, if one of these is anything.
    fewest->second = {level, std::vector<std::string>(end, names.end()), more};
    if (end == names.end()) alike_.erase(fewest);
    names.erase(end, names.end());
    walk_.plan({alike_path_, 0}, names, level);
    co_await visit_levels();
  }
}

asio::awaitable<void> tree_search::visit(const std::string& path, std::size_t level) {
  const auto now = std::chrono::steady_clock::now();
  if (now >= alike_limit_ && parent_of(path) == alike_path_) co_return;
  if (now >= limit_) {
    is_late_ = true;
    co_return walk_.leave(parent_of(path));
  }
  auto listing = co_await session_.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  const bool is_root = path == root_;
  if (error == errc::no_node && is_root) is_gone_ = true;
  if (is_gone_ && !how_.is_known_root) throw missing_root(root_);
  if (error == errc::no_node) co_return;
  if (error == errc::no_auth && (!is_root || how_.is_known_root)) {
    refused_.push_back(path);
    co_return;
  }
  check(error, "reading " + path);
  auto& listed = std::get<1>(listing);
  const auto seen = co_await recipe_at(path, listed);
  auto told = told_by(path, seen, listed);
  if (how_.on_visited) how_.on_visited({path, seen.which, told, listed});
  const bool is_nothing = told.which == recipe::none && seen.which == recipe::none && !seen.is_own_data &&
                          session_of(listed.stat) == 0 && listed.stat.num_children == 0;
  if (!is_nothing) release(parent_of(path), level);
  if (told.which != recipe::none) told_.emplace(path, std::move(told));
  plan(path, seen.which, std::move(listed.names), level);
}

asio::awaitable<tree_search::glimpse> tree_search::recipe_at(const std::string& path,
                                                             const zkrecipes::node_children& listed) {
  glimpse seen;
  seen.which = recipe_among(listed.names);
  if (std::any_of(listed.names.begin(), listed.names.end(), is_candidate_name)) seen.which = recipe::election;
  if (seen.which == recipe::election || listed.stat.data_length <= 0 || listed.stat.data_length > longest_record)
    co_return seen;
  auto reading = co_await session_.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node || error == errc::no_auth) co_return seen;  // the node has changed in between
  check(error, "reading " + path);
  const auto& data = std::get<1>(reading).data;
  const auto marked = recipe_of(data);
  if (marked != recipe::none) seen.which = marked;
  seen.is_own_data = is_record(data);
  seen.is_instance = !seen.is_own_data && is_instance_at(path, data);
  co_return seen;
}

recipe_place tree_search::told_by(const std::string& path, const glimpse& seen,
                                  const zkrecipes::node_children& listed) const {
  auto where = place_of(seen.which, path, listed.names);
  const bool is_queue_here = where.which == recipe::queue && where.path == path;
  if (is_queue_here && are_borrowed(listed.names, created_below(listed.stat))) where = {};
  if (where.which != recipe::none || path == root_ || seen.is_own_data) return where;
  if (seen.is_instance) return {recipe::service, parent_of(path)};
  if (session_of(listed.stat) != 0) return {recipe::membership, parent_of(path)};
  return {};
}

// Sorts the names, so that walks that can not visit all nodes visit the same ones each time.
void tree_search::plan(const std::string& path, recipe which, std::vector<std::string> names, std::size_t level) {
  std::erase_if(names, [this, &path, which](const auto& name) {
    const bool is_skipped = how_.skips && how_.skips(join(path, name));
    return is_skipped || is_leaf_name(name) || is_part_of(which, name) || (path == "/" && name == "zookeeper");
  });
  std::sort(names.begin(), names.end());
  if (names.size() > level_walk::share && are_numbered(names)) {
    auto sample = take_sample(names, level_walk::share);
    const auto kept = std::min(names.size(), level_walk::most_planned - alike_count_);
    alike_count_ += kept;
    const auto more = names.size() - kept;
    names.resize(kept);
    alike_[path] = {level + 2, std::exchange(names, std::move(sample)), more};
  }
  walk_.plan({path, 0}, names, level + 1);
}

/// A child of this path is something, so all are visited.
void tree_search::release(const std::string& path, std::size_t level) {
  if (path == alike_path_) alike_path_.clear();
  const auto alike = alike_.extract(path);
  if (alike.empty()) return;
  walk_.plan({path, 0}, alike.mapped().names, level + 1);
  if (alike.mapped().more > 0) walk_.leave(path, alike.mapped().more);
}

std::vector<survey_note> tree_search::notes() const {
  const std::string why = is_late_ ? "the time was over; choose a longer --timeout or a --root"
                                   : "only " + std::to_string(how_.most) + " nodes are; choose a --root";
  std::vector<survey_note> refused, left;
  for (const auto& each : refused_) refused.push_back({each, "may not be read with these credentials", true});
  for (const auto& [path, count] : walk_.left())
    left.push_back({path, std::to_string(count) + " nodes below it were not looked at: " + why});
  shorten(refused, root_, " more nodes may not be read");
  shorten(left, root_, " more nodes have such below them");
  refused.insert(refused.end(), left.begin(), left.end());
  return refused;
}

}  // namespace zkadmin
