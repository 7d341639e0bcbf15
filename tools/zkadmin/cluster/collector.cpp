#include "cluster/collector.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/election.hpp>

#include "as_result.hpp"
#include "cluster/node_path.hpp"
#include "failure.hpp"
#include "for_each_index.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using namespace std::chrono_literals;

// Ids of our own candidates are not longer. The data of a foreign candidate may be anything, of any length.
constexpr std::size_t longest_id = 256;

candidate_status candidate_of(const zkrecipes::candidate& seen) {
  return {shortened(seen.id, longest_id), seen.position, seen.token, seen.session_id, seen.node};
}

election_status status_of(const zkrecipes::election_view& view) {
  election_status status;
  status.path = view.path;
  status.epoch = view.epoch;
  status.phase = to_string(view.phase);
  status.since = view.since;
  if (view.how) status.takeover = to_string(*view.how);
  for (const auto& each : view.candidates) {
    // Compares tokens, because a foreign client that leads may have no id.
    if (each.token == view.leader_token) {
      status.leader = candidate_of(each);
    } else {
      status.waiters.push_back(candidate_of(each));
    }
  }
  if (const auto& going = view.hand_over)
    status.hand_over = hand_over_status{shortened(going->from, longest_id), shortened(going->to, longest_id),
                                        going->state, going->elapsed, going->deadline};
  status.resignation_asked = view.resignation_asked;
  return status;
}

election_status election_without_view(std::string path, const char* instead_of_phase) {
  election_status status;
  status.path = std::move(path);
  status.phase = instead_of_phase;
  return status;
}

/// Since when nobody leads although somebody is in line. One more request, and only while that is so.
asio::awaitable<void> find_vacancy(zkrecipes::session session, election_status& status) {
  if (status.leader || status.hand_over || status.waiters.empty()) co_return;
  const auto node = join(status.path, status.waiters.front().node);
  auto looked = co_await session.async_exists(node, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node || error == errc::no_auth) co_return;
  check(error, "looking at " + node);
  const std::chrono::system_clock::time_point came(std::chrono::milliseconds(std::get<1>(looked).ctime));
  const auto age = std::chrono::system_clock::now() - std::max(came, status.since);
  status.leaderless_for = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(age), 0ms);
}

void renew(std::vector<std::string>& known, std::vector<std::string> found, bool keeps_known) {
  if (keeps_known) {
    found.insert(found.end(), known.begin(), known.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  known = std::move(found);
}

}  // namespace

zkrecipes::session make_session(const asio::any_io_executor& executor, const settings& wanted,
                                const std::vector<endpoint>& servers, std::chrono::milliseconds connect_limit) {
  zkrecipes::session_options options;
  for (const auto& each : servers) options.hosts += (options.hosts.empty() ? "" : ",") + each.name;
  options.hosts += wanted.hosts.substr(std::min(wanted.hosts.find('/'), wanted.hosts.size()));
  options.connect_timeout = std::max<std::chrono::milliseconds>(connect_limit, 100ms);
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
  auto status = status_of(std::get<1>(result));
  co_await find_vacancy(session, status);
  co_return status;
}

collector::collector(zkrecipes::session session, std::string root)
    : session_(std::move(session)), root_(std::move(root)) {}

asio::awaitable<void> collector::find_elections(deadline limit) {
  tree_search search(session_, root_);
  co_await search.run(limit);
  // An incomplete search may have missed some that are known, so they are kept.
  const bool keeps_known = !search.is_complete();
  for (const auto which : {recipe::election, recipe::shard_group, recipe::topic, recipe::two_phase_commit})
    renew(paths_[which], search.found(which), keeps_known);
  outline_ = {{}, search.notes(), search.is_complete(), search.is_refused()};
}

/// The result of a look at one election. `seen` is empty if the election is gone, or if there was no time (`is_late`).
struct collector::glance {
  std::string path;
  std::optional<election_status> seen;
  bool is_late = false;
};

asio::awaitable<void> collector::look_at(glance& one, deadline limit) {
  one.is_late = std::chrono::steady_clock::now() >= limit;
  if (!one.is_late) one.seen = co_await view_election(session_, one.path);
}

asio::awaitable<election_survey> collector::look(deadline limit) {
  std::vector<glance> glances;
  for (const auto& each : paths_[recipe::election]) glances.push_back({each, std::nullopt, false});
  const auto look_at_one = [this, &glances, limit](std::size_t i) { return look_at(glances[i], limit); };
  co_await for_each_index(glances.size(), requests_at_a_time, look_at_one);
  election_survey survey = outline_;
  for (auto& each : glances) {
    if (each.seen) {
      survey.refused |= each.seen->phase == refused_phase;
      survey.elections.push_back(std::move(*each.seen));
    } else if (each.is_late) {
      survey.complete = false;
      survey.notes.push_back({each.path, "it was not looked at: the time was over; choose a longer --timeout"});
    } else {
      std::erase(paths_[recipe::election], each.path);
    }
  }
  co_return survey;
}

}  // namespace zkadmin
