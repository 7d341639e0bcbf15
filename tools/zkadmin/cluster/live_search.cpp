#include "cluster/live_search.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/node_path.hpp"
#include "failure.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t most_folders = 100;
constexpr std::size_t most_watched_children = 1'000;
constexpr auto shortest_pause = 60s;        // Between two searches of the whole tree.
constexpr auto pause_for_a_node = 1s;       // So much longer with each node: a visit takes one or two requests.
constexpr auto pause_of_a_late_one = 1min;  // For a search that was cut off by its deadline.

/// The nodes of an ordered set or map that are below a path.
template <class Nodes>
auto below(Nodes& nodes, const std::string& path) {
  const auto begin = path == "/" ? path : path + "/";
  auto end = begin;
  ++end.back();
  return std::pair(nodes.lower_bound(begin), nodes.lower_bound(end));
}

template <class Nodes>
void erase_below(Nodes& nodes, const std::string& path) {
  const auto [first, last] = below(nodes, path);
  nodes.erase(first, last);
}

bool may_be_watched(const visited_node& node) {
  const auto& names = node.listed.names;
  return node.which == recipe::none && names.size() <= most_watched_children &&
         std::none_of(names.begin(), names.end(), is_leaf_name);
}

}  // namespace

std::shared_ptr<live_search> live_search::make(zkrecipes::session session, std::string root,
                                               std::function<void()> on_change) {
  return std::shared_ptr<live_search>(new live_search(std::move(session), std::move(root), std::move(on_change)));
}

live_search::live_search(zkrecipes::session session, std::string root, std::function<void()> on_change)
    : session_(std::move(session)), root_(std::move(root)), on_change_(std::move(on_change)) {}

bool live_search::is_due() const { return !changed_.empty() || steady_clock::now() >= all_due_; }

asio::awaitable<void> live_search::renew(deadline limit) {
  // One search of everything visits many nodes at a time; those of single folders follow one another.
  if (changed_.size() > most_folders) want_all();
  if (steady_clock::now() >= all_due_) co_return co_await search_all(limit);
  auto folders = std::exchange(changed_, {});
  while (!folders.empty()) {
    auto node = folders.extract(folders.begin());
    try {
      co_await search_below(node.value(), limit);
    } catch (const failure&) {
      changed_.insert(std::move(node));
      changed_.merge(folders);
      throw;
    }
  }
}

asio::awaitable<void> live_search::search_all(deadline limit) {
  changed_.clear();
  auto before = std::exchange(visited_, {});
  auto known = std::exchange(told_, {});
  is_stale_ = true;
  tree_search search(session_, root_, {.most = most_nodes, .on_visited = [this](const auto& node) { keep(node); }});
  try {
    co_await search.run(limit);
  } catch (const failure&) {
    visited_.merge(before);
    told_.merge(known);
    throw;
  }
  notes_ = search.notes();
  complete_ = search.is_complete();
  refused_ = search.is_refused();
  // An incomplete search may have missed some that are known, so they are kept.
  if (!complete_) told_.merge(known);
  std::erase_if(watches_, [this](const auto& each) { return !visited_.contains(each.first); });
  const auto pause = std::max<std::chrono::seconds>(shortest_pause, visited_.size() * pause_for_a_node);
  all_due_ = steady_clock::now() + (search.is_late() ? pause_of_a_late_one : pause);
}

/// Visits a node again, and those of its children that are new.
asio::awaitable<void> live_search::search_below(std::string folder, deadline limit) {
  told_.erase(folder);
  is_stale_ = true;
  const auto left = most_nodes - std::min(visited_.size(), most_nodes - 1);
  const auto is_known = [this](const std::string& path) { return visited_.contains(path); };
  const auto keep_one = [this, folder](const visited_node& node) {
    if (node.path == folder) forget_missing(node);
    keep(node);
  };
  tree_search search(session_, folder,
                     {.most = left, .skips = is_known, .on_visited = keep_one, .is_known_root = true});
  co_await search.run(limit);
  if (search.is_gone()) forget_below(folder);
  if (search.is_complete()) co_return;
  add_outline(search);
}

void live_search::add_outline(const tree_search& search) {
  const auto more = search.notes();
  notes_.insert(notes_.end(), more.begin(), more.end());
  complete_ = false;
  refused_ = refused_ || search.is_refused();
  if (search.is_late())
    all_due_ = std::min<steady_clock::time_point>(all_due_, steady_clock::now() + pause_of_a_late_one);
}

void live_search::keep(const visited_node& node) {
  visited_.insert(node.path);
  if (node.tells.which != recipe::none) told_.insert_or_assign(node.path, node.tells);
  is_stale_ = true;
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
  is_stale_ = true;
}

/// The node is gone, and so is everything below it.
void live_search::forget_below(const std::string& path) {
  visited_.erase(path);
  watches_.erase(path);
  erase_below(visited_, path);
  erase_below(watches_, path);
  told_.erase(path);
  erase_below(told_, path);
  is_stale_ = true;
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

std::vector<std::string> live_search::found(recipe which) {
  if (std::exchange(is_stale_, false)) found_ = paths_of(told_);
  return found_[which];
}

}  // namespace zkadmin
