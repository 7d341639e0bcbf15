#include "cluster/node_walk.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/recognize.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "/", "/a" and "/a/b" of "/a/b/c".
std::vector<std::string> folders_above(const std::string& path) {
  std::vector<std::string> all;
  for (auto slash = path.find('/'); slash != path.npos && path.size() > 1; slash = path.find('/', slash + 1))
    all.push_back(path.substr(0, std::max<std::size_t>(slash, 1)));
  return all;
}

/// The name of the child of `folder` on the way to `path`.
std::string step_to(const std::string& folder, const std::string& path) {
  const auto begin = folder == "/" ? 1 : folder.size() + 1;
  return path.substr(begin, path.find('/', begin) - begin);
}

asio::awaitable<bool> is_line_of_candidates(zkrecipes::session session, const std::string& path) {
  auto listing = co_await session.async_children(path, as_result);
  check_node(std::get<0>(listing), path);
  const auto& names = std::get<1>(listing).names;
  co_return std::any_of(names.begin(), names.end(), is_candidate_name);
}

}  // namespace

asio::awaitable<node_reading> read_node(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get(path, as_result);
  check_node(std::get<0>(reading), path);
  auto& node = std::get<1>(reading);
  node_reading found;
  found.view = {std::move(path), 0, node.stat, mark_of(node.data)};
  found.data = std::move(node.data);
  co_return found;
}

asio::awaitable<node_view> read_stat(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get(path, as_result);
  if (std::get<0>(reading) == errc::no_auth) {
    auto looking = co_await session.async_exists(path, as_result);
    check_node(std::get<0>(looking), path);
    co_return node_view{std::move(path), 0, std::get<1>(looking), {}};
  }
  check_node(std::get<0>(reading), path);
  const auto& node = std::get<1>(reading);
  co_return node_view{std::move(path), 0, node.stat, mark_of(node.data)};
}

std::string recipe_that_keeps(const std::string& path, const std::string& mark) {
  if (path == "/zookeeper" || path.starts_with("/zookeeper/")) return "it belongs to ZooKeeper itself";
  if (!mark.empty()) return "it holds the data of a recipe (" + mark + ")";
  if (is_leaf_name(last_name(path))) return "by its name it is a member or an item of a recipe";
  return {};
}

asio::awaitable<std::string> recipe_that_keeps(zkrecipes::session session, std::string path) {
  const auto node = co_await read_node(session, path);
  auto reason = recipe_that_keeps(path, node.view.recipe);
  if (!reason.empty()) co_return reason;
  if (co_await is_line_of_candidates(session, path)) co_return "candidates of an election wait below it";
  for (const auto& folder : folders_above(path)) {
    const auto above = co_await read_node(session, folder);
    if (is_part_of(recipe_of(above.data), step_to(folder, path)))
      co_return "it is a part of the " + above.view.recipe + " at " + folder;
  }
  co_return std::string();
}

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_notes = 20;      // For each kind of note.
constexpr std::size_t most_names = 10'000;  // Per node.
constexpr std::int32_t longest_marked = 64 * 1024;

/// Parents before their children, and siblings by name: a slash comes before all other characters.
bool comes_before(const node_view& a, const node_view& b) noexcept {
  const auto rank = [](char c) { return c == '/' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::lexicographical_compare(a.path.begin(), a.path.end(), b.path.begin(), b.path.end(),
                                      [rank](char x, char y) { return rank(x) < rank(y); });
}

void add_note(std::vector<survey_note>& notes, std::size_t& count, const std::string& path, const std::string& text) {
  if (++count <= most_notes) notes.push_back({path, text});
}

}  // namespace

void check_node(const error_code& error, const std::string& path) {
  if (error == errc::no_node) throw failure(exit_code::not_found, "there is no node " + printable(path));
  check(error, "reading " + path);
}

node_walk::node_walk(zkrecipes::session session, std::string top, walk_limits limits)
    : session_(std::move(session)), top_(std::move(top)), limits_(limits), walk_(top_, limits.nodes) {}

asio::awaitable<void> node_walk::run() {
  const auto visit_one = [this](const place& at, std::size_t level) { return visit(at, level); };
  co_await walk_.run(visit_one);
  has_ended_ = true;
}

asio::awaitable<void> node_walk::visit(const place& at, std::size_t level) {
  if (std::chrono::steady_clock::now() >= limits_.until) {
    is_late_ = true;
    co_return walk_.leave(parent_of(at.path));
  }
  if (at.depth == limits_.depth) co_return co_await visit_alone(at, false);
  auto listing = co_await session_.async_children(at.path, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_auth) {
    closed_.push_back(at.path);
    co_return co_await visit_alone(at, true);
  }
  if (error == errc::no_node && at.depth > 0) co_return;  // it has gone since its parent was read
  check_node(error, at.path);
  auto& listed = std::get<1>(listing);
  auto recipe = co_await recipe_at(at.path, listed);
  seen_.push_back({at.path, at.depth, listed.stat, std::move(recipe)});
  plan(at, std::move(listed.names), level);
}

/// Without its children: they may not be read, or are not wanted.
asio::awaitable<void> node_walk::visit_alone(const place& at, bool is_closed) {
  auto looking = co_await session_.async_exists(at.path, as_result);
  const error_code error = std::get<0>(looking);
  if (error == errc::no_node && at.depth > 0) co_return;
  check_node(error, at.path);
  const zkrecipes::node_children alone{{}, std::get<1>(looking)};
  std::string recipe;
  if (!is_closed) recipe = co_await recipe_at(at.path, alone);
  seen_.push_back({at.path, at.depth, alone.stat, std::move(recipe)});
}

asio::awaitable<std::string> node_walk::recipe_at(const std::string& path, const zkrecipes::node_children& listed) {
  std::string recipe;
  if (std::any_of(listed.names.begin(), listed.names.end(), is_candidate_name)) recipe = "election";
  if (listed.stat.data_length <= 0 || listed.stat.data_length > longest_marked) co_return recipe;
  auto reading = co_await session_.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_auth) closed_.push_back(path);
  if (error == errc::no_node || error == errc::no_auth) co_return recipe;
  check(error, "reading " + path);
  auto mark = mark_of(std::get<1>(reading).data);
  co_return mark.empty() ? recipe : mark;
}

void node_walk::plan(const place& at, std::vector<std::string> names, std::size_t level) {
  std::sort(names.begin(), names.end());
  if (names.size() > most_names) {
    walk_.leave(at.path, names.size() - most_names);
    names.resize(most_names);
  }
  walk_.plan(at, names, level + 1);
}

node_listing node_walk::listing() const {
  node_listing all;
  all.nodes = seen_;
  std::sort(all.nodes.begin(), all.nodes.end(), comes_before);
  all.refused = !closed_.empty();
  all.complete = has_ended_ && closed_.empty() && walk_.left().empty();
  const std::string why = is_late_ ? "the time was over; choose a longer --timeout or a path below"
                                   : "only " + std::to_string(limits_.nodes) + " nodes are; choose a path below";
  std::size_t closed = 0, left = 0;
  for (const auto& each : closed_) add_note(all.notes, closed, each, "may not be read with these credentials");
  for (const auto& [path, count] : walk_.left())
    add_note(all.notes, left, path, std::to_string(count) + " children were not looked at: " + why);
  const auto more = closed - std::min(closed, most_notes) + left - std::min(left, most_notes);
  if (more > 0) all.notes.push_back({top_, std::to_string(more) + " more nodes of which something is missing"});
  if (!has_ended_) all.notes.push_back({top_, "the time was over before all answers had come"});
  return all;
}

asio::awaitable<node_listing> list_names(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_children(path, as_result);
  check_node(std::get<0>(reading), path);
  auto& names = std::get<1>(reading).names;
  std::sort(names.begin(), names.end());
  node_listing all;
  if (names.size() > most_names) {
    all.complete = false;
    all.notes.push_back({path, std::to_string(names.size() - most_names) + " more children are not listed"});
    names.resize(most_names);
  }
  for (auto& each : names) all.nodes.push_back({join(path, each), 1});
  co_return all;
}

}  // namespace zkadmin
