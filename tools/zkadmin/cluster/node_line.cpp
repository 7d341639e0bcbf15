#include "cluster/node_line.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_path.hpp"
#include "cluster/own_node.hpp"
#include "cluster/session_owner.hpp"
#include "for_each_index.hpp"
#include "line/line_spec.hpp"

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

}  // namespace zkadmin
