#include "cluster/status.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include <zkrecipes/election.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/collector.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using namespace std::chrono_literals;

// Ids of our own candidates are not longer. The data of a foreign candidate may be anything, of any length.
constexpr std::size_t longest_id = 256;
constexpr std::size_t longest_cause = 200;

candidate_status candidate_of(const zkrecipes::candidate& seen) {
  return {shortened(seen.id, longest_id), seen.position, seen.token, seen.session_id, seen.node};
}

/// The term of the record. One that is over, and was not followed yet, has its end in the record.
term_status present_term(const zkrecipes::election_view& view) {
  using zkrecipes::term_phase;
  term_status term{view.epoch, shortened(view.recorded_leader, longest_id), view.began};
  const auto phase = view.recorded_phase;
  if (phase != term_phase::retired && phase != term_phase::stalled && phase != term_phase::died) return term;
  term.ended = view.since;
  term.outcome = to_string(phase);
  return term;
}

std::vector<term_status> history_of(const zkrecipes::election_view& view) {
  std::vector<term_status> terms;
  for (const auto& each : view.history)
    terms.push_back({each.epoch, shortened(each.leader, longest_id), each.began, each.ended, to_string(each.outcome)});
  if (view.epoch > 0) terms.push_back(present_term(view));
  return terms;
}

election_status election_without_view(std::string path, const char* instead_of_phase) {
  election_status status;
  status.path = std::move(path);
  status.phase = instead_of_phase;
  return status;
}

/// Since when nobody leads. One more request, and only while that is so although somebody is in line.
asio::awaitable<void> find_vacancy(zkrecipes::session session, election_status& status) {
  if (status.leader || status.hand_over) co_return;
  if (status.waiters.empty()) {
    if (status.phase == "retired") status.empty_for = age_since(status.since, std::chrono::system_clock::now());
    co_return;
  }
  const auto node = join(status.path, status.waiters.front().node);
  auto looked = co_await session.async_exists(node, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node || error == errc::no_auth) co_return;
  check(error, "looking at " + node);
  const std::chrono::system_clock::time_point came(std::chrono::milliseconds(std::get<1>(looked).ctime));
  status.leaderless_for = age_since(std::max(came, status.since), std::chrono::system_clock::now());
}

}  // namespace

election_status status_of(const zkrecipes::election_view& view) {
  election_status status;
  status.path = view.path;
  status.epoch = view.epoch;
  status.phase = to_string(view.phase);
  // A leader that executes also writes the record to show its figures.
  status.since = view.phase == zkrecipes::term_phase::executing ? view.began.value_or(view.since) : view.since;
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
  status.history = history_of(view);
  status.held_off = shortened(view.held_off, longest_cause);
  status.is_still = view.is_still;
  status.still_message = shortened(view.still_message, longest_cause);
  return status;
}

asio::awaitable<std::optional<election_status>> status_of_look(zkrecipes::session session, std::string path,
                                                               error_code error, zkrecipes::election_view view) {
  if (error == errc::no_node) co_return std::nullopt;
  if (error == errc::foreign_data) co_return election_without_view(std::move(path), foreign_phase);
  if (error == errc::no_auth) co_return election_without_view(std::move(path), refused_phase);
  check(error, "looking at " + path);
  auto status = status_of(view);
  co_await find_vacancy(session, status);
  co_return status;
}

asio::awaitable<std::optional<election_status>> view_election(zkrecipes::session session, std::string path) {
  zkrecipes::election election(session, path, {.id = "zkadmin"});
  auto [error, view] = co_await election.async_view(as_result);
  co_return co_await status_of_look(std::move(session), std::move(path), error, std::move(view));
}

std::chrono::milliseconds age_since(std::chrono::system_clock::time_point since,
                                    std::chrono::system_clock::time_point now) noexcept {
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(now - since), 0ms);
}

bool has_ages(const election_status& status) noexcept {
  return status.hand_over || status.resignation_asked || status.leaderless_for || status.empty_for;
}

void grow_older(election_status& status, std::chrono::milliseconds by) {
  if (status.hand_over) status.hand_over->elapsed += by;
  if (status.resignation_asked) *status.resignation_asked += by;
  if (status.leaderless_for) *status.leaderless_for += by;
  if (status.empty_for) *status.empty_for += by;
}

const char* to_string(server_role role) noexcept {
  switch (role) {
    case server_role::leader: return "leader";
    case server_role::follower: return "follower";
    case server_role::observer: return "observer";
    case server_role::standalone: return "standalone";
    case server_role::not_serving: return "not serving";
  }
  return "unknown";
}

bool is_serving(const server_status& server) noexcept {
  return server.role && *server.role != server_role::not_serving;
}

bool may_serve(const server_status& server) noexcept {
  return server.reachable && server.role != server_role::not_serving;
}

const char* standing(const server_status& server) noexcept {
  if (server.role) return to_string(*server.role);
  if (server.reachable) return "unknown";
  if (!server.silent) return "down";
  return server.error.empty() ? "asked" : "silent";
}

const std::string& label(const candidate_status& who) noexcept { return who.id.empty() ? who.node : who.id; }

bool is_known(const election_status& election) noexcept {
  return election.phase != foreign_phase && election.phase != refused_phase;
}

bool is_abandoned(const election_status& election) noexcept {
  const auto& phase = election.phase;
  const bool in_office =
      phase == "inaugurating" || phase == "executing" || phase == "handing_over" || phase == "unknown";
  return in_office && !election.leader && election.waiters.empty();
}

bool is_orphaned(const election_status& election) noexcept {
  return election.phase == "died" && !election.leader && election.waiters.empty();
}

std::string to_string(const survey_note& note) { return note.path + ": " + note.text; }

}  // namespace zkadmin
