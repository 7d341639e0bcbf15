#include "sessions/session_end.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"
#include "cluster/stored_record.hpp"

namespace zkadmin {
namespace {

/// java.util.Random, as its documentation defines it.
class java_random {
 public:
  explicit java_random(std::int64_t seed) : state_((static_cast<std::uint64_t>(seed) ^ factor) & mask) {}
  std::uint32_t next() {
    state_ = (state_ * factor + 0xb) & mask;
    return static_cast<std::uint32_t>(state_ >> 16);
  }

 private:
  static constexpr std::uint64_t factor = 0x5deece66d;
  static constexpr std::uint64_t mask = (std::uint64_t{1} << 48) - 1;
  std::uint64_t state_;
};

constexpr std::int64_t constant_of_servers = 0xb3415c00;
constexpr int words_of_password = 4;

}  // namespace

std::string password_of(std::int64_t session) {
  java_random random(session ^ constant_of_servers);
  std::string password;
  for (int i = 0; i < words_of_password; ++i) {
    auto word = random.next();
    for (int j = 0; j < 4; ++j, word >>= 8) password += static_cast<char>(word & 0xff);
  }
  return password;
}

std::int64_t parse_session(const std::string& text) {
  const auto digits = text.starts_with("0x") ? text.substr(2) : text;
  const auto id = read_number<std::uint64_t>(digits, 16).value_or(0);
  if (id == 0) throw failure(exit_code::usage, "SESSION: expected a session id in hex, such as 0x1000049e4070001");
  return static_cast<std::int64_t>(id);
}

/// The children of a node, with their data.
struct folder_entry {
  std::string name;
  std::string data;
  zkrecipes::node_stat stat;
};

struct folder_content {
  std::vector<folder_entry> entries{};
  bool is_complete = true;  ///< False: the node, or one of its children, may not be read.
};

/// The children of a node, in any order. A node that is missing has none. Throws `failure`.
boost::asio::awaitable<folder_content> read_folder(zkrecipes::session session, std::string path);

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

/// Nothing: it has gone, or is withheld.
struct slot {
  std::optional<folder_entry> entry{};
  bool is_withheld = false;
};

asio::awaitable<void> read_entry(zkrecipes::session session, const std::string& folder, std::string name, slot& into) {
  const auto path = folder + "/" + name;
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  into.is_withheld = error == errc::no_auth;
  if (into.is_withheld || error == errc::no_node) co_return;
  check(error, "reading " + path);
  auto& node = std::get<1>(reading);
  into.entry = folder_entry{std::move(name), std::move(node.data), node.stat};
}

}  // namespace

asio::awaitable<folder_content> read_folder(zkrecipes::session session, std::string path) {
  auto listing = co_await session.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  folder_content all;
  all.is_complete = error != errc::no_auth;
  if (error == errc::no_node || !all.is_complete) co_return all;
  check(error, "reading " + path);
  const auto& names = std::get<1>(listing).names;
  std::vector<slot> slots(names.size());
  const auto read_one = [&](std::size_t i) { return read_entry(session, path, names[i], slots[i]); };
  co_await for_each_index(names.size(), requests_at_a_time, read_one);
  for (auto& each : slots) {
    all.is_complete = all.is_complete && !each.is_withheld;
    if (each.entry) all.entries.push_back(std::move(*each.entry));
  }
  co_return all;
}

namespace {

namespace asio = boost::asio;

void add(led_terms& to, const election_status& election, std::int64_t session) {
  const auto is_its_own = [session](const candidate_status& each) { return each.session_id == session; };
  if (election.leader && is_its_own(*election.leader)) {
    const auto& node = election.leader->node;
    to.found.push_back({election.path, node, election.path + "/" + node});
  } else if (std::ranges::any_of(election.waiters, is_its_own)) {
    to.waits_at.push_back(election.path);
  }
}

/// The record of a shard names its leader by the member's node, a '#' and a number.
asio::awaitable<void> add_shards(led_terms& to, zkrecipes::session session, std::string group, std::int64_t leader) {
  std::set<std::string> its_own;
  const auto members = co_await read_folder(session, group + "/member");
  to.complete = to.complete && members.is_complete;
  for (const auto& each : members.entries) {
    if (each.stat.ephemeral_owner == leader) its_own.insert(each.name);
  }
  if (its_own.empty()) co_return;
  const auto shards = co_await read_folder(session, group + "/shard");
  to.complete = to.complete && shards.is_complete;
  for (const auto& each : shards.entries) {
    const auto node = text_field(parse_stored(each.data), "leader_node");
    const auto member = node.substr(0, node.rfind('#'));
    if (its_own.contains(member))
      to.found.push_back({group + "/shard/" + each.name, node, group + "/member/" + member});
  }
}

}  // namespace

asio::awaitable<led_terms> find_led_terms(zkrecipes::session session, std::string root, std::int64_t leader,
                                          deadline limit) {
  collector all(session, std::move(root));
  co_await all.search(limit);
  const auto seen = co_await all.elections(limit);
  led_terms terms;
  terms.complete = seen.complete && std::ranges::all_of(seen.found, [](const auto& each) { return is_known(each); });
  for (const auto& each : seen.found) add(terms, each, leader);
  for (const auto& each : all.found(recipe::shard_group)) co_await add_shards(terms, session, each, leader);
  co_return terms;
}

}  // namespace zkadmin
