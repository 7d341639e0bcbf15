#include "election/election.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/election.hpp>

#include "backend/worded_errors.hpp"
#include "election/term_record.hpp"
#include "line/line_spec.hpp"
#include "line/waiter.hpp"
#include "session/background.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

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

namespace zkrecipes {

using namespace detail;
using backend::opcode;

election::election(session over, std::string path, election_options options)
    : session_(std::move(over)), path_(std::move(path)), options_(std::move(options)) {
  require_session(session_);
  require_path("election path", path_);
  require_id("election_options::id", options_.id);
}

namespace {

awaitable<outcome<election_view>> view(core_ptr session, std::string path) {
  auto nodes = co_await read_election(session, std::move(path), nullptr);
  auto& [error, read] = nodes;
  if (error) co_return failed<election_view>(error);
  auto seen = interpret(read, session->get_scheduler()->world->wall_clock());
  if (!seen) co_return failed<election_view>(errc::foreign_data);
  co_return outcome<election_view>(error, std::move(*seen));
}

awaitable<error_code> wait_fired(condition& fired, const std::vector<std::unique_ptr<watch>>& hints) {
  for (;;) {
    for (const auto& each : hints) {
      if (each->fired()) co_return error_code();
    }
    auto why = co_await fired.wait();
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
  }
}

awaitable<outcome<election_view>> view_change(core_ptr session, std::string path, election_view before) {
  condition fired(session->get_scheduler());
  election_follower follower{fired};
  for (const auto& each : before.candidates) {
    const bool is_unique = each.node.starts_with("_c_");  // it has a UUID; others can be made again after a removal
    if (is_unique) follower.known.emplace(each.node, each);
  }
  for (;;) {
    auto nodes = co_await read_election(session, path, &follower);
    auto& [error, read] = nodes;
    const bool was_seen = !before.fingerprint.empty();
    if (error == errc::no_node && !was_seen) {
      // Wait until the node is created. Only `exists` sets a watch on a missing node.
      auto exists = make_request(opcode::exists, path, true);
      auto there = co_await session->perform(std::move(exists), retry::always);
      if (!there.error || there.error == errc::connection_loss) continue;  // `read_election` waits for a connection
      error = there.error == errc::no_node ? error_code() : there.error;
    } else if (!error) {
      auto seen = interpret(read, session->get_scheduler()->world->wall_clock());
      if (!seen) co_return failed<election_view>(errc::foreign_data);
      if (seen->fingerprint != before.fingerprint) co_return outcome<election_view>(error, std::move(*seen));
    }
    if (!error) error = co_await wait_fired(fired, follower.hints);
    if (error) co_return failed<election_view>(error);
  }
}

awaitable<outcome<transaction>> resignation_request(core_ptr session, std::string path) {
  auto nodes = co_await read_election(session, path, nullptr);
  auto& [error, read] = nodes;
  if (!error && read.candidates.empty()) error = errc::no_node;
  if (!error && !is_of_ours(read.candidates.front().data)) error = errc::foreign_data;
  transaction ask;
  if (!error) {
    const auto& first = read.candidates.front();
    ask.set(join(path, first.facts.node), with_revocation(first.data), first.stat.version);
  }
  co_return outcome<transaction>(error, std::move(ask));
}

awaitable<outcome<>> request_resignation(core_ptr session, std::string path) {
  auto prepared = co_await resignation_request(session, std::move(path));
  auto& [error, ask] = prepared;
  if (error) co_return outcome<>(error);
  auto multi = backend::make_multi(ask);
  auto result = co_await session->perform(std::move(multi), retry::once);
  co_return outcome<>(result.error);
}

}  // namespace

void election::start_campaign(handler_for<void(error_code, ownership)> h, core_ptr core, std::string path,
                              election_options options, lease_clock::duration budget) {
  const auto& on = core->get_scheduler();
  auto line = election_line(std::move(path), options.names);
  auto turn = own_in_turn(core, std::move(line), campaigner_data(options.id), &nearest_ahead, {});
  launch(*on, std::move(h), with_deadline(on, on->deadline_of(budget), std::move(turn)));
}

void election::start_try_campaign(handler_for<void(error_code, ownership)> h, core_ptr core, std::string path,
                                  election_options options) {
  auto line = election_line(std::move(path), options.names);
  launch(*core->get_scheduler(), std::move(h), own_if_free(core, std::move(line), campaigner_data(options.id)));
}

void election::start_view(handler_for<void(error_code, election_view)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), view(core, std::move(path)));
}

void election::start_view_change(handler_for<void(error_code, election_view)> h, core_ptr core, std::string path,
                                 election_view before) {
  launch(*core->get_scheduler(), std::move(h), view_change(core, std::move(path), std::move(before)),
         persistence::endless);
}

void election::start_resignation_request(handler_for<void(error_code, transaction)> h, core_ptr core,
                                         std::string path) {
  launch(*core->get_scheduler(), std::move(h), resignation_request(core, std::move(path)), persistence::endless);
}

void election::start_request_resignation(handler_for<void(error_code)> h, core_ptr core, std::string path) {
  launch(*core->get_scheduler(), std::move(h), request_resignation(core, std::move(path)));
}

}  // namespace zkrecipes
