#include "cluster/node_reading.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_walk.hpp"
#include "cluster/recognize.hpp"
#include "failure.hpp"
#include "text.hpp"

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

}  // namespace zkadmin
