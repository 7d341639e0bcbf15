#include "election/view.hpp"

#include <algorithm>
#include <utility>

#include "backend/worded_errors.hpp"
#include "election/term_record.hpp"
#include "line/line_spec.hpp"
#include "session/background.hpp"

namespace zkrecipes::detail {

using backend::opcode;
using backend::reply;
using std::chrono::milliseconds;
using wall_time = std::chrono::system_clock::time_point;

namespace {

/// Null if it is not known.
const candidate* find_known(const election_follower* follower, const std::string& name) {
  if (!follower) return nullptr;
  const auto found = follower->known.find(name);
  return found == follower->known.end() ? nullptr : &found->second;
}

candidate_node node_of(const std::string& name, reply answer) {
  candidate_node read{{member_id(answer.data), name, answer.stat.czxid, 0, answer.stat.ephemeral_owner}, {}, {}};
  read.data = std::move(answer.data);
  read.stat = answer.stat;
  return read;
}

/// Reads the candidates that are not known, in one round trip. `moved`: the election changed meanwhile, for example
/// because a candidate left in between.
awaitable<error_code> read_candidates(core_ptr session, election_nodes& nodes, const std::vector<member>& members,
                                      election_follower* follower, bool& moved) {
  std::vector<exchange_ptr> sent;  // null for one that is known
  for (const auto& each : members) {
    const bool is_first = sent.empty();  // only its data can change the view later
    const bool is_asked = is_first || !find_known(follower, each.name);
    auto request = make_request(opcode::get, join(nodes.path, each.name), follower && is_first);
    sent.push_back(is_asked ? session->send(std::move(request)) : nullptr);
  }
  auto last = session->send(make_request(opcode::exists, nodes.path, false));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const bool is_first_now = nodes.candidates.empty();  // those in front of it have gone meanwhile
    if (!sent[i] && is_first_now) sent[i] = session->send(make_request(opcode::get, join(nodes.path, members[i].name)));
    if (!sent[i]) {
      nodes.candidates.push_back({*find_known(follower, members[i].name), {}, {}});
      continue;
    }
    auto result = co_await session->answer(sent[i]);
    if (result.error == errc::no_node) continue;
    if (result.error) co_return result.error;
    nodes.candidates.push_back(node_of(members[i].name, std::move(result)));
  }
  auto again = co_await session->answer(last);
  moved = again.stat.mzxid != nodes.stat.mzxid || again.stat.pzxid != nodes.stat.pzxid;
  co_return again.error;
}

void watch_node(const core_ptr& session, election_follower& follower, const std::string& path) {
  follower.hints.clear();
  follower.hints.push_back(session->arm(watch_kind::data, path, follower.changed));
  follower.hints.push_back(session->arm(watch_kind::children, path, follower.changed));
}

/// Reads the election once. `moved`: it changed while it was read.
awaitable<error_code> read_once(core_ptr session, election_nodes& nodes, election_follower* follower, bool& moved) {
  const bool watched = follower != nullptr;
  if (watched) watch_node(session, *follower, nodes.path);
  auto asked_own = session->send(make_request(opcode::get, nodes.path, watched));
  auto asked_list = session->send(make_request(opcode::children, nodes.path, watched));
  auto own = co_await session->answer(asked_own);
  auto listed = co_await session->answer(asked_list);
  if (own.error || listed.error) co_return own.error ? own.error : listed.error;
  nodes.data = std::move(own.data);
  nodes.stat = own.stat;
  nodes.candidates.clear();
  auto members = members_of(listed.children, election_line(nodes.path).accepted);
  if (watched && !members.empty()) {
    const auto first = join(nodes.path, members.front().name);
    follower->hints.push_back(session->arm(watch_kind::data, first, follower->changed));
  }
  co_return co_await read_candidates(session, nodes, members, follower, moved);
}

wall_time from_server(std::int64_t ms) { return wall_time(milliseconds(ms)); }

/// Never negative, although the clocks of server and client may differ.
milliseconds elapsed_since(std::int64_t ms, wall_time present) {
  return std::max(std::chrono::duration_cast<milliseconds>(present - from_server(ms)), milliseconds(0));
}

std::optional<hand_over_view> hand_over_of(const term_record& record, const election_nodes& nodes, wall_time present) {
  const bool has_died = record.phase == term_phase::died;
  const bool is_waited_for = !record.finished() || (has_died && record.aftermath.count());
  if (nodes.candidates.empty() || !is_waited_for) return std::nullopt;
  const auto& first = nodes.candidates.front();
  const bool leads = first.facts.node == record.leader_node;
  hand_over_view result;
  result.from = record.leader_id;
  result.deadline = has_died ? record.aftermath : record.hand_over_deadline;
  std::int64_t since = 0;
  if (leads && record.phase == term_phase::handing_over) {
    if (nodes.candidates.size() > 1) result.to = nodes.candidates[1].facts.id;
    result.state = "finishing";
    since = nodes.stat.mtime;
  } else if (!leads && keeps_record(first.data)) {
    result.to = first.facts.id;
    result.state = "awaiting";
    since = is_awaiting(first.data) ? first.stat.mtime : present.time_since_epoch() / milliseconds(1);
  } else {
    return std::nullopt;
  }
  result.elapsed = elapsed_since(since, present);
  return result;
}

}  // namespace

std::optional<election_view> interpret(const election_nodes& nodes, wall_time present) {
  auto record = parse_record(nodes.data);
  if (!record) return std::nullopt;
  election_view view;
  view.path = nodes.path;
  view.epoch = record->epoch;
  view.phase = record->phase;
  view.recorded_leader = record->leader_id;
  view.recorded_phase = record->phase;
  view.since = from_server(nodes.stat.mtime);
  if (record->phase != term_phase::none) view.how = record->how;
  if (const auto began = beginning_of(*record, nodes.stat.mtime)) view.began = from_server(began);
  view.history = read_history(*record, nodes.stat.mtime);
  view.fingerprint = std::to_string(nodes.stat.mzxid);
  for (const auto& each : nodes.candidates) {
    auto facts = each.facts;
    facts.position = static_cast<std::int32_t>(view.candidates.size());
    view.fingerprint += ' ' + std::to_string(facts.token);
    view.candidates.push_back(std::move(facts));
  }
  view.hand_over = hand_over_of(*record, nodes, present);
  if (nodes.candidates.empty()) return view;
  const auto& first = nodes.candidates.front();
  view.fingerprint += ' ' + std::to_string(first.stat.mzxid);
  // The record counts only if it names the first candidate, because a foreign client leads without writing a record.
  const bool recorded = first.facts.node == record->leader_node && !record->finished();
  if (!recorded && keeps_record(first.data)) return view;
  if (!recorded) view.phase = term_phase::none, view.how.reset();
  if (recorded) {
    auto work = work_in(*record);
    view.held_off = std::move(work.held_off);
    view.is_still = work.is_still;
    view.still_message = std::move(work.still_message);
  }
  view.leader = view.candidates.front().id;
  view.leader_token = first.stat.czxid;
  if (asks_revocation(first.data)) view.resignation_asked = elapsed_since(first.stat.mtime, present);
  return view;
}

awaitable<outcome<election_nodes>> read_election(core_ptr session, std::string path, election_follower* follower) {
  constexpr int max_tries = 5;  // then a view that mixes two moments is better than none
  const incarnation_ptr any;
  const auto deadline = session->retry_deadline();
  auto pause = session->backoff();
  election_nodes nodes;
  nodes.path = std::move(path);
  error_code error;
  bool was_sent = false;
  for (int tries = 1;; was_sent = true) {
    error = co_await session->wait_connected(any, follower ? never : deadline);
    if (error == errc::timed_out) error = backend::loss_of(false, was_sent);
    if (error) break;
    bool moved = false;
    error = co_await read_once(session, nodes, follower, moved);
    if (error == errc::connection_loss || (!error && moved && tries++ < max_tries)) continue;
    if (error != errc::server_error || session->now() >= deadline) break;
    error = co_await session->pause_before_retry(pause, any);
    if (error) break;
  }
  co_return outcome<election_nodes>(error, std::move(nodes));
}

}  // namespace zkrecipes::detail
