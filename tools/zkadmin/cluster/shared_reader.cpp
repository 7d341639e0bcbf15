#include "cluster/shared_reader.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "cluster/node_line.hpp"
#include "cluster/node_path.hpp"
#include "cluster/own_node.hpp"
#include "cluster/shared_status.hpp"
#include "for_each_index.hpp"

namespace zkadmin {
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

}  // namespace zkadmin
