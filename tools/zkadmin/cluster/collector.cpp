#include "cluster/collector.hpp"
#include "as_result.hpp"

#include "cluster/recognize.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"
#include "text.hpp"

#include <zkrecipes/election.hpp>

#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t pipeline = 64;  // Requests in flight at a time.
constexpr std::int32_t longest_record = 64 * 1024;

bool names_election(const std::vector<std::string>& children) {
  return std::any_of(children.begin(), children.end(), is_candidate_name);
}

candidate_status candidate_of(const zkrecipes::candidate& seen) {
  return {seen.id, seen.position, seen.token, seen.session_id, seen.node};
}

election_status status_of(const zkrecipes::election_view& view) {
  election_status status;
  status.path = view.path;
  status.epoch = view.epoch;
  status.phase = to_string(view.phase);
  status.since = view.since;
  if (view.how) status.takeover = to_string(*view.how);
  for (const auto& each : view.candidates) {
    // By the token: a foreign client may lead without an id.
    if (each.token == view.leader_token) {
      status.leader = candidate_of(each);
    } else {
      status.waiters.push_back(candidate_of(each));
    }
  }
  if (const auto& going = view.hand_over)
    status.hand_over =
        hand_over_status{going->from, going->to, going->state, going->elapsed, going->deadline};
  return status;
}

election_status election_without_view(std::string path, const char* instead_of_phase) {
  election_status status;
  status.path = std::move(path);
  status.phase = instead_of_phase;
  return status;
}

std::string join(const std::string& parent, const std::string& name) {
  return parent == "/" ? "/" + name : parent + "/" + name;
}

}  // namespace

zkrecipes::session make_session(const asio::any_io_executor& executor, const settings& wanted) {
  using namespace std::chrono_literals;
  zkrecipes::session_options options;
  options.hosts = wanted.hosts;
  const auto share = wanted.timeout / (static_cast<int>(wanted.servers.size()) + 1);
  options.connect_timeout = std::clamp<std::chrono::milliseconds>(share, 100ms, 2s);
  options.retry.limit = wanted.timeout;
  options.retry.max_pause = 500ms;
  if (wanted.digest) options.digest.push_back({wanted.digest->user, wanted.digest->password});
  try {
    return {executor, std::move(options)};
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

void check(const error_code& error, const std::string& doing) {
  if (!error) return;
  if (error == errc::auth_failed) throw failure(exit_code::auth, "the servers refuse the credentials");
  if (error == errc::no_auth)
    throw failure(exit_code::auth,
                  printable(doing) + ": not allowed; give credentials (digest_file or ZKADMIN_DIGEST)");
  throw failure(exit_code::error, printable(doing) + ": " + error.message());
}

asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session, std::string path) {
  zkrecipes::election election(session, path, {.id = "zkadmin"});
  auto result = co_await election.async_view(as_result);
  const error_code error = std::get<0>(result);
  if (error == errc::no_node) co_return std::nullopt;
  if (error == errc::foreign_data) co_return election_without_view(std::move(path), foreign_phase);
  if (error == errc::no_auth) co_return election_without_view(std::move(path), refused_phase);
  check(error, "looking at " + path);
  co_return status_of(std::get<1>(result));
}

/// A walk that goes on.
struct collector::search {
  std::vector<std::string> elections;
  std::vector<std::string> next;  ///< The nodes of the next level.
  std::size_t nodes = 1;
  std::size_t refused = 0;
};

collector::collector(zkrecipes::session session, std::string root)
    : session_(std::move(session)), root_(std::move(root)) {}

// Breadth first: where the search has to be cut off, what is deep in the tree is missing.
asio::awaitable<void> collector::find_elections() {
  search going;
  for (std::vector<std::string> level{root_}; !level.empty(); level = std::exchange(going.next, {})) {
    const auto visit_one = [this, &level, &going](std::size_t i) { return visit(level[i], going); };
    co_await for_each_index(level.size(), pipeline, visit_one);
  }
  std::sort(going.elections.begin(), going.elections.end());
  paths_ = std::move(going.elections);
  notes_.clear();
  if (going.nodes == most_nodes)
    notes_.push_back("only the first " + std::to_string(most_nodes) +
                     " nodes were looked at: choose a --root");
  if (going.refused > 0) notes_.push_back(std::to_string(going.refused) + " nodes may not be read");
}

asio::awaitable<void> collector::visit(const std::string& path, search& going) {
  auto listing = co_await session_.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  const bool is_root = path == root_;
  if (error == errc::no_node && is_root)
    throw failure(exit_code::error, "the root " + root_ + " does not exist; give another one with --root");
  if (error == errc::no_node) co_return;
  if (error == errc::no_auth && !is_root) {
    ++going.refused;
    co_return;
  }
  check(error, "reading " + path);
  const auto& [names, stat] = std::get<1>(listing);
  bool is_election = names_election(names);
  if (!is_election && stat.data_length > 0 && stat.data_length <= longest_record) {
    auto reading = co_await session_.async_get(path, as_result);
    is_election = !std::get<0>(reading) && is_term_record(std::get<1>(reading).data);
  }
  if (is_election) going.elections.push_back(path);
  for (const auto& name : names) {
    if (is_candidate_name(name) || (path == "/" && name == "zookeeper")) continue;
    if (going.nodes == most_nodes) break;
    ++going.nodes;
    going.next.push_back(join(path, name));
  }
}

asio::awaitable<election_survey> collector::look() {
  std::vector<std::optional<election_status>> seen(paths_.size());
  const auto look_at = [this, &seen](std::size_t i) -> asio::awaitable<void> {
    seen[i] = co_await view_election(session_, paths_[i]);
  };
  co_await for_each_index(paths_.size(), pipeline, look_at);
  election_survey survey;
  for (auto& each : seen)
    if (each) survey.elections.push_back(std::move(*each));
  survey.notes = notes_;
  co_return survey;
}

}  // namespace zkadmin
