#include "cluster/live_search.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t most_alike = 1'000;  // Each that is known is watched, and delays the next search.
constexpr std::size_t most_folders = 100;
constexpr std::size_t most_watched_children = 1'000;
constexpr auto shortest_pause = 60s;        // Between two searches of the whole tree.
constexpr auto pause_for_a_node = 3s;       // So much longer with each node: a visit takes one or two requests.
constexpr auto pause_of_a_late_one = 1min;  // For a search that was cut off by its deadline.
constexpr auto refusal_interval = 1min;     // No watch tells that a node may be read now.

/// The nodes of an ordered set or map that are below a path.
template <class Nodes>
auto below(Nodes& nodes, const std::string& path) {
  const auto begin = path == "/" ? path : path + "/";
  auto end = begin;
  ++end.back();
  return std::pair(nodes.upper_bound(begin), nodes.lower_bound(end));  // the root itself is called "/"
}

template <class Nodes>
void erase_below(Nodes& nodes, const std::string& path) {
  const auto [first, last] = below(nodes, path);
  nodes.erase(first, last);
}

bool may_be_watched(const visited_node& node) {
  const auto& names = node.listed.names;
  const bool is_quiet = node.which == recipe::none || node.which == recipe::shard_group;
  return is_quiet && names.size() <= most_watched_children && std::none_of(names.begin(), names.end(), is_leaf_name);
}

}  // namespace

std::shared_ptr<live_search> live_search::make(zkrecipes::session session, std::string root,
                                               std::function<void()> on_change) {
  return std::shared_ptr<live_search>(new live_search(std::move(session), std::move(root), std::move(on_change)));
}

live_search::live_search(zkrecipes::session session, std::string root, std::function<void()> on_change)
    : session_(std::move(session)), root_(std::move(root)), on_change_(std::move(on_change)) {}

bool live_search::is_due() const {
  const auto now = steady_clock::now();
  return wants_all_ || !changed_.empty() || now >= all_due_ || (is_refused() && now >= refusals_due_);
}

asio::awaitable<void> live_search::renew(deadline limit) {
  // One search of everything visits many nodes at a time; those of single folders follow one another.
  if (wants_all_ || changed_.size() > most_folders || steady_clock::now() >= all_due_) {
    co_await search_all(limit);
  } else {
    if (steady_clock::now() >= refusals_due_) retry_refusals();
    co_await search_changed(limit);
  }
  found_ = paths_of(told_);
  ++revision_;
}

void live_search::forget_watches() {
  watches_.clear();
  wants_all_ = true;
}

void live_search::retry_refusals() {
  for (const auto& [path, each] : notes_)
    if (each.is_refused) changed_.insert(path);
  refusals_due_ = steady_clock::now() + refusal_interval;
}

asio::awaitable<void> live_search::search_changed(deadline limit) {
  while (!changed_.empty() && steady_clock::now() < limit) {
    auto node = changed_.extract(changed_.begin());
    try {
      co_await search_below(node.value(), limit);
    } catch (const failure&) {
      changed_.insert(std::move(node));
      throw;
    }
  }
}

asio::awaitable<void> live_search::search_all(deadline limit) {
  wants_all_ = false;
  changed_.clear();
  auto before = std::exchange(visited_, {});
  auto known = std::exchange(told_, {});
  tree_search search(
      session_, root_,
      {.most = most_nodes, .most_alike = most_alike, .on_visited = [this](const auto& node) { keep(node); }});
  try {
    co_await search.run(limit);
  } catch (const failure&) {
    visited_.merge(before);
    told_.merge(known);
    wants_all_ = true;
    throw;
  }
  notes_.clear();
  keep_notes(search);
  // An incomplete search may have missed some that are known, so they are kept.
  if (!is_complete()) told_.merge(known);
  std::erase_if(watches_, [this](const auto& each) { return !visited_.contains(each.first); });
  const auto pause = std::max<std::chrono::seconds>(shortest_pause, visited_.size() * pause_for_a_node);
  all_due_ = steady_clock::now() + (search.is_late() ? pause_of_a_late_one : pause);
  refusals_due_ = steady_clock::now() + refusal_interval;
}

/// Visits a node again, and those of its children that are new.
asio::awaitable<void> live_search::search_below(std::string folder, deadline limit) {
  const auto left = most_nodes - std::min(visited_.size(), most_nodes - 1);
  const auto is_known = [this](const std::string& path) { return visited_.contains(path); };
  const auto keep_one = [this, folder](const visited_node& node) {
    if (node.path == folder) forget_missing(node);
    keep(node);
  };
  tree_search search(session_, folder,
                     {.most = left, .most_alike = 0, .skips = is_known, .on_visited = keep_one, .is_known_root = true});
  co_await search.run(limit);
  if (search.is_gone()) forget_below(folder);
  notes_.erase(folder);
  erase_below(notes_, folder);
  keep_notes(search);
  if (search.is_late())
    all_due_ = std::min<steady_clock::time_point>(all_due_, steady_clock::now() + pause_of_a_late_one);
}

void live_search::keep_notes(const tree_search& search) {
  for (auto& each : search.notes()) notes_.insert_or_assign(each.path, each);
}

std::vector<survey_note> live_search::notes() const {
  std::vector<survey_note> all;
  for (const auto& [path, each] : notes_) all.push_back(each);
  return all;
}

bool live_search::is_refused() const noexcept {
  return std::any_of(notes_.begin(), notes_.end(), [](const auto& each) { return each.second.is_refused; });
}

void live_search::keep(const visited_node& node) {
  visited_.insert(node.path);
  if (node.tells.which != recipe::none) {
    told_.insert_or_assign(node.path, node.tells);
  } else {
    told_.erase(node.path);
  }
  if (may_be_watched(node)) {
    watch(node.path, node.listed.stat.pzxid);
  } else {
    watches_.erase(node.path);
  }
}

void live_search::watch(const std::string& path, std::int64_t seen) {
  if (watches_.contains(path)) return;
  watches_.emplace(path, background_task(session_.get_executor(), await_change(path, seen)));
}

/// Does not keep the search alive: its end cancels the task.
asio::awaitable<void> live_search::await_change(std::string path, std::int64_t seen) {
  const auto weak = weak_from_this();
  auto session = session_;
  auto changed = co_await session.async_children_change(path, seen, as_result);
  const error_code error = std::get<0>(changed);
  const auto self = weak.lock();
  const bool is_over = error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
  if (!self || is_over) co_return;
  // Another error says that the watch is gone, with a session for example: the node has to be read again.
  self->changed_.insert(path);
  const auto done = self->watches_.extract(path);  // which is this task
  if (self->on_change_) self->on_change_();
}

void live_search::forget(recipe which, const std::string& path) {
  std::erase_if(told_, [gone = recipe_place{which, path}](const auto& each) { return each.second == gone; });
  std::erase(found_[which], path);
  // It may come back before its parent is searched, which visits only what is not known.
  visited_.erase(path);
  erase_below(visited_, path);
}

/// The node is gone, and so is everything below it.
void live_search::forget_below(const std::string& path) {
  visited_.erase(path);
  watches_.erase(path);
  erase_below(visited_, path);
  erase_below(watches_, path);
  told_.erase(path);
  erase_below(told_, path);
}

/// Forgets the children that are known and not in the list.
void live_search::forget_missing(const visited_node& node) {
  const std::set<std::string> names(node.listed.names.begin(), node.listed.names.end());
  const auto begin = join(node.path, "");
  std::set<std::string> gone;
  const auto [first, last] = below(visited_, node.path);
  for (auto it = first; it != last; ++it) {
    const auto name = it->substr(begin.size(), it->find('/', begin.size()) - begin.size());
    if (!names.contains(name)) gone.insert(begin + name);
  }
  for (const auto& each : gone) forget_below(each);
}

std::vector<std::string> live_search::found(recipe which) const {
  const auto paths = found_.find(which);
  return paths == found_.end() ? std::vector<std::string>() : paths->second;
}

}  // namespace zkadmin
