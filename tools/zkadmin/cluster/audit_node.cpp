#include "cluster/audit_node.hpp"

#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include "as_result.hpp"
#include "cluster/collector.hpp"
#include "failure.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

/// Each failed try means that another operator has written.
constexpr int most_tries = 50;

struct stored_log {
  bool is_there = false;
  std::string data;
  std::int32_t version = 0;
};

/// A node without data and with children, or of a session, is another's, however empty it is.
bool is_of_others(const std::string& data, const zkrecipes::node_stat& stat) {
  if (data.empty()) return stat.num_children > 0 || stat.ephemeral_owner != 0;
  return !parse_audit_log(data);
}

asio::awaitable<stored_log> read_log(zkrecipes::session session, std::string path) {
  auto read = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(read);
  if (error == errc::no_node) co_return stored_log{};
  check(error, "audit_path: reading " + path);
  const auto& node = std::get<1>(read);
  if (is_of_others(node.data, node.stat))
    throw failure(exit_code::error, "audit_path: " + printable(path) + " is not an audit log, and is left alone");
  co_return stored_log{true, node.data, node.stat.version};
}

asio::awaitable<error_code> make_log(zkrecipes::session session, std::string path, std::string data) {
  constexpr auto mode = zkrecipes::create_mode::persistent;
  auto made = co_await session.async_create_with_parents(path, std::move(data), mode, as_result);
  co_return std::get<0>(made);
}

asio::awaitable<error_code> write_log(zkrecipes::session session, std::string path, std::string data,
                                      std::int32_t version) {
  auto written = co_await session.async_set(path, std::move(data), version, as_result);
  co_return std::get<0>(written);
}

}  // namespace

asio::awaitable<void> write_audit_node(zkrecipes::session session, std::string path, audit_entry entry) {
  error_code error;
  for (int i = 0; i < most_tries; ++i) {
    auto before = co_await read_log(session, path);
    auto next = audit_log_with(before.data, entry);
    if (before.is_there) {
      error = co_await write_log(session, path, std::move(next), before.version);
    } else {
      error = co_await make_log(session, path, std::move(next));
    }
    if (!error) co_return;
    // After a lost reply the entry may be there: written again, it takes its own place.
    const bool is_conflict = error == errc::bad_version || error == errc::node_exists || error == errc::no_node;
    if (!is_conflict && error != errc::connection_loss) break;
  }
  check(error, "audit_path: writing " + path);
}

asio::awaitable<audit_log> read_audit_node(zkrecipes::session session, std::string path) {
  const auto stored = co_await read_log(session, std::move(path));
  audit_log log;
  log.entries = parse_audit_log(stored.data).value_or(std::vector<audit_entry>());
  log.unreadable = unreadable_entries(stored.data);
  co_return log;
}

}  // namespace zkadmin
