#include "session/requests.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/node.hpp>

#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

/// A server can refuse a request without the leader: because it is throttled, or by an access check of its own ahead of
/// the leader's. The operations of a transaction are judged by the leader alone, and a quorum logs their failure like a
/// success.
witness witness_of(opcode op, const error_code& outcome) {
  if (op == opcode::sync) return outcome ? witness::server : witness::leader;
  const bool judged = op == opcode::multi && outcome != errc::server_error && outcome != errc::auth_failed;
  return is_write(op) && (!outcome || judged) ? witness::quorum : witness::server;
}

std::pair<watch_kind, std::string> watch_of(const backend::request& what) {
  return {what.op == opcode::children ? watch_kind::children : watch_kind::data, what.path};
}

/// `exists` is the only read that sets a watch on a missing node.
bool sets_watch(opcode op, const error_code& outcome) {
  return !outcome || (op == opcode::exists && outcome == errc::no_node);
}

node_mark mark_of(const backend::reply& answer) { return {!answer.error, answer.stat.mzxid, answer.stat.pzxid}; }

std::optional<node_mark> seen_by_watch(opcode op, const backend::reply& answer) {
  return sets_watch(op, answer.error) ? std::optional(mark_of(answer)) : std::nullopt;
}

/// What the C client would silently take for something else: for a persistent node, or for a shorter ACL.
bool would_be_misread(create_mode mode, const acl& access) {
  return mode < create_mode::persistent || mode > create_mode::container || has_nul(access);
}

bool well_formed(const backend::request& what) {
  if (what.op != opcode::multi) return path_problem(what.path).empty() && !would_be_misread(what.mode, what.access);
  for (const auto& each : what.operations) {
    // If a path in the middle is bad, the C client frees memory that it never allocated. And the server's answer to the
    // creation of a container is one that the C client can not read.
    if (!path_problem(each.path).empty() || each.mode == create_mode::container) return false;
    if (would_be_misread(each.mode, each.acl)) return false;
  }
  return !what.operations.empty();
}

/// The paths that the trace and the log may have to tell: for a transaction those of all operations.
std::vector<std::string> paths_of(const backend::request& what) {
  std::vector<std::string> paths;
  for (const auto& each : what.operations) paths.push_back(each.path);
  if (paths.empty()) paths.push_back(what.path);
  return paths;
}

/// The path of the operation that failed, if the answer to a transaction tells which one it was; else the first path.
const std::string& path_at_fault(const std::vector<std::string>& paths, const backend::reply& answer) {
  for (std::size_t i = 0; i < std::min(paths.size(), answer.results.size()); ++i) {
    const auto& error = answer.results[i].error;
    if (error && error != errc::rolled_back) return paths[i];
  }
  return paths.front();
}

/// A transaction of checks only, such as a catch-up, changes nothing.
bool may_change(const backend::request& what) {
  const auto is_check = [](const operation& each) { return each.type == operation::kind::check; };
  return is_write(what.op) && (what.op != opcode::multi || !std::ranges::all_of(what.operations, is_check));
}

}  // namespace

/// What has to be known of a request when its answer comes.
struct requests_in_flight::sent_request {
  exchange_ptr which;
  std::uint64_t number = 0;
  opcode op{};
  lease_clock::time_point sent{};
  std::vector<std::string> paths;  ///< A transaction has one for each operation. Empty without a trace and a log.
  std::optional<std::pair<watch_kind, std::string>> watching;
  std::optional<std::string> probing;
  bool changes = false;
};

requests_in_flight::requests_in_flight(session_life& whose, answer_listener& told, root_path root)
    : life_(whose),
      told_(told),
      root_(std::move(root)),
      connection_(whose.get_scheduler()),
      watches_(std::make_shared<watch_registry>(
          [this](watch_kind kind, const std::string& path) { forget_watch(kind, path); })) {}

void requests_in_flight::forget_watch(watch_kind kind, const std::string& path) {
  if (!connected()) return;
  backend::request forget;
  forget.op = kind == watch_kind::data ? opcode::forget_data : opcode::forget_children;
  forget.path = path;
  send(std::move(forget));
}

exchange_ptr requests_in_flight::refuse(const error_code& why) {
  auto which = std::make_shared<exchange>(life_.get_scheduler(), false);
  which->answer.emplace();
  which->answer->error = why;
  which->answer->sent = false;
  return which;
}

exchange_ptr requests_in_flight::refuse_unsent(const backend::request& what, const error_code& why) {
  const auto paths = paths_of(what);
  const auto bad = std::ranges::find_if(paths, [](const auto& each) { return !path_problem(each).empty(); });
  const bool has_bad_path = bad != paths.end();
  life_.log().operation_ended(what.op, has_bad_path ? *bad : paths.front(), why,
                              has_bad_path ? "nothing was sent: " + path_problem(*bad) : "nothing was sent");
  return refuse(why);
}

exchange_ptr requests_in_flight::send(backend::request what) {
  if (life_.over()) return refuse(life_.over());
  if (!connected()) return refuse(backend::not_sent());
  if (!well_formed(what)) return refuse_unsent(what, errc::bad_arguments);
  sent_request request;
  if (what.watch) request.watching = watch_of(what);
  if (what.probes) request.probing = what.path;
  root_.apply(what);
  if (size_on_wire(what) > life_.options().jute_maxbuffer) return refuse_unsent(what, errc::too_large);
  if (request.watching) watches_->asked(request.watching->first, request.watching->second);
  request.op = what.op;
  auto which = request.which = std::make_shared<exchange>(life_.get_scheduler(), is_write(what.op));
  request.changes = may_change(what);
  request.sent = life_.now();
  request.number = life_.count(&session_counters::requests);
  in_flight_.emplace(request.number, which);
  if (life_.options().trace || life_.log().is_on()) request.paths = paths_of(what);
  // Captures `this` only: we own the link, and a request in flight must not keep us alive when the context ends.
  connection_.link->submit(std::move(what), [this, request = std::move(request)](backend::reply answer) {
    if (!on_answer(request, answer)) return;
    request.which->answer = std::move(answer);
    request.which->done.notify();
  });
  return which;
}

/// False: the request was answered already, or stays in flight until all are answered, because the server is left.
bool requests_in_flight::on_answer(const sent_request& request, backend::reply& answer) {
  connection_.has_lost_writes = connection_.has_lost_writes || (request.changes && is_reply_lost(answer.error));
  if (const auto& on = request.watching) watches_->answered(on->first, on->second, seen_by_watch(request.op, answer));
  if (request.probing) on_probe(request.op, *request.probing, answer);
  if (in_flight_.erase(request.number) == 0) return false;
  const auto leave = [&](void (answer_listener::*why)()) {
    in_flight_.emplace(request.number, request.which);
    (told_.*why)();
    return false;
  };
  const bool closing = life_.closing();
  const bool is_refused = request.number == welcome_number_ && is_server_refusal(answer.error);
  if (is_refused && !closing) return leave(&answer_listener::on_catch_up_refused);
  const bool is_past = !is_unanswered(answer.error) && shows_past(request.number, answer);
  if (is_past && !closing) return leave(&answer_listener::on_older_state);
  if (answer.error == errc::auth_required && !closing) return leave(&answer_listener::on_credentials_required);
  const bool is_lost = is_reply_lost(answer.error) || answer.error == errc::auth_required;
  if (closing && is_lost) answer.error = errc::closed;
  if (is_reply_lost(answer.error)) answer.error = backend::loss_of(request.which->is_write, answer.sent);
  record(request, answer);
  auto& log = life_.log();
  if (log.is_on() && !request.probing)
    log.operation_ended(request.op, path_at_fault(request.paths, answer), answer.error);
  root_.strip(answer);
  return true;
}

void requests_in_flight::record(const sent_request& request, const backend::reply& answer) {
  const auto& outcome = answer.error;
  const bool proves_life = !is_unanswered(outcome);
  if (proves_life && !connection_.is_served) told_.on_service();
  const auto sent = std::max(request.sent, answer.passed);
  if (proves_life && life_.acknowledged(sent, witness_of(request.op, outcome))) told_.on_lease_renewed();
  const auto& trace = life_.options().trace;
  if (trace) trace({backend::to_string(request.op), request.paths.front(), life_.now() - request.sent, outcome});
}

/// A probe was answered. Those who wait for a change look again only if they may read the node: until then nothing is
/// told, as without a probe, and the next ones try again. An answer that says nothing of the node is no news either.
void requests_in_flight::on_probe(opcode op, const std::string& path, const backend::reply& answer) {
  if (answer.error && answer.error != errc::no_node) return;
  const auto there = mark_of(answer);
  if (!watches_->is_untold(path, there)) return;
  if (op == opcode::exists && there.exists) {
    send(make_probe(opcode::get, path));
  } else {
    life_.log().change_untold(root_.full(path));
    watches_->probed(path, there);
  }
}

/// Remembers the state in which a server has answered. True if it is older than what the session has seen. Only the
/// answer to the catch-up is compared, which goes through the leader and a quorum: later answers on the same connection
/// are no older.
bool requests_in_flight::shows_past(std::uint64_t number, const backend::reply& answer) {
  const auto incarnation = life_.current();
  if (!incarnation || answer.zxid <= 0) return false;
  const auto before = std::exchange(incarnation->seen, std::max(incarnation->seen, answer.zxid));
  return number == welcome_number_ && answer.zxid < before;
}

awaitable<backend::reply> requests_in_flight::answer(exchange_ptr which) {
  while (!which->answer) {
    auto why = co_await which->done.wait();
    if (why == wake::cancelled) break;
  }
  backend::reply result;
  if (which->answer) {
    result = std::move(*which->answer);  // only one coroutine waits for each answer
  } else {
    result.error = asio::error::operation_aborted;
  }
  co_return result;
}

void requests_in_flight::answer_all(const error_code& error) {
  for (const auto& [number, each] : std::exchange(in_flight_, {})) {
    each->answer.emplace();
    each->answer->error = is_reply_lost(error) ? backend::loss_of(each->is_write, true) : error;
    each->done.notify();
  }
}

void requests_in_flight::send_first(bool is_new) {
  // This server may be behind what another server has shown us. So a session that is taken up again begins with a
  // catch-up: no later read on this connection shows an older state. A new session needs none: it is a transaction
  // itself: the sync behind it only asks the leader for a sign.
  welcome_ = send(is_new ? make_request(opcode::sync, "/") : backend::make_catch_up());
  welcome_number_ = is_new ? 0 : life_.count(&session_counters::requests, 0);
  create_root();
  if (is_new) look_at_root();
}

exchange_ptr requests_in_flight::take_welcome() {
  auto first = std::exchange(welcome_, nullptr);
  return first && !first->answer ? first : nullptr;
}

void requests_in_flight::create_root() {
  const auto& root = root_.text();
  if (!life_.options().create_root || root.empty()) return;
  for (std::size_t end = 1; end != root.npos;) {
    end = root.find('/', end + 1);
    auto create = make_request(opcode::create, root.substr(0, end));
    create.access = open_acl();
    connection_.link->submit(std::move(create), [this](const backend::reply& answer) {
      const auto& error = answer.error;
      connection_.has_lost_writes = connection_.has_lost_writes || is_reply_lost(error);
      // A server looks at the rights before it sees that the node is there.
      const bool is_told = !error || is_reply_lost(error) || error == errc::node_exists || error == errc::no_auth ||
                           error == errc::auth_required;
      if (!is_told) life_.log().operation_ended(opcode::create, root_.text(), error, "the root was not created");
    });
  }
}

/// Looks whether the root exists and lets us read it, because otherwise every operation fails for no visible reason.
/// Only the log tells it, so without a log nothing is sent. Else it is one read for each new ZooKeeper session, sent
/// together with the first request. The ACL is read, because it needs the right to read as the data does, and is small.
void requests_in_flight::look_at_root() {
  if (!life_.log().is_on() || root_.empty()) return;
  connection_.link->submit(make_request(opcode::get_acl, root_.text()),
                           [this](const backend::reply& answer) { life_.log().root_seen(root_.text(), answer.error); });
}

namespace {

/// Whether the requests behind the one that was answered so are not sent any more: the connection or the session has
/// ended, the wait was cancelled, or the server was too busy for as long as all may take.
bool ends_all(const backend::reply& answer) {
  return answer.throttled || is_unanswered(answer.error) || forbids_retry(answer.error);
}

const std::string& shown_path(const backend::request& what) {
  return what.operations.empty() ? what.path : what.operations.front().path;
}

}  // namespace

lease_clock::time_point requests::retry_deadline() const {
  const auto limit = life_.options().retry.limit;
  return limit.count() ? life_.now() + limit : never;
}

awaitable<error_code> requests::wait_connected(incarnation_ptr bound, lease_clock::time_point deadline) {
  for (;;) {
    if (life_.over()) co_return life_.over();
    if (bound && bound->ended) co_return bound->ended;
    if (connected()) co_return error_code();
    auto why = co_await life_.changed().wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return errc::timed_out;
  }
}

awaitable<backend::reply> requests::perform(backend::request what, retry policy, incarnation_ptr bound,
                                            lease_clock::time_point deadline) {
  auto self = life_.shared_from_this();
  deadline = std::min(deadline, retry_deadline());
  auto pause = backoff();
  bool maybe_done = false;  // by an earlier try
  for (;;) {
    backend::reply result;
    result.error = co_await wait_connected(bound, deadline);
    result.sent = maybe_done;
    if (result.error == errc::timed_out) result.error = report_no_connection(what, maybe_done);
    if (result.error) co_return result;
    result = co_await answer(send(what));
    if (result.throttled && life_.now() < deadline) {
      result.error = co_await pause_before_retry(pause, bound);
      result.sent = maybe_done;
      if (result.error) co_return result;
      continue;
    }
    maybe_done = maybe_done || (is_reply_lost(result.error) && result.sent);
    if (!is_reply_lost(result.error) || policy == retry::once) co_return result;
    co_await before_retry();
  }
}

/// The error of an operation that had no connection in its time.
error_code requests::report_no_connection(const backend::request& what, bool was_sent) const {
  life_.log().operation_ended(what.op, paths().full(shown_path(what)), errc::connection_loss,
                              was_sent ? "no connection in time" : "no connection in time: it was not sent");
  return backend::loss_of(is_write(what.op), was_sent);
}

awaitable<void> requests::before_retry() {
  life_.count(&session_counters::retries);
  // The connection still seems to be up although the request was lost: wait for the news that the connection has ended.
  if (connected()) co_await present().changed.wait(life_.now() + life_.options().retry.first_pause);
}

back_off requests::backoff() const { return {life_.options().retry.first_pause, life_.options().retry.max_pause}; }

awaitable<error_code> requests::pause_before_retry(back_off& pause, incarnation_ptr bound) {
  life_.count(&session_counters::retries);
  const bool again = co_await rest(pause, bound);
  if (again) co_return error_code();
  if (life_.over()) co_return life_.over();
  co_return bound && bound->ended ? bound->ended : asio::error::make_error_code(asio::error::operation_aborted);
}

awaitable<bool> requests::rest(back_off& pause, incarnation_ptr bound) {
  const auto until = pause.next(*life_.get_scheduler());
  while (!life_.over() && !(bound && bound->ended)) {
    auto why = co_await life_.changed().wait(until);
    if (why != wake::notified) co_return why == wake::timed_out;
  }
  co_return false;
}

awaitable<std::vector<backend::reply>> requests::perform_all(std::vector<backend::request> what, incarnation_ptr bound,
                                                             lease_clock::time_point deadline) {
  auto self = life_.shared_from_this();
  deadline = std::min(deadline, retry_deadline());
  auto pause = backoff();
  bool maybe_done = false;
  bool one_by_one = false;
  for (;;) {
    std::vector<backend::reply> results(what.size());
    auto error = co_await wait_connected(bound, deadline);
    if (error == errc::timed_out && !what.empty()) error = report_no_connection(what.front(), maybe_done);
    for (auto& each : results) each.error = error;
    if (error) co_return results;
    results = co_await send_all(what, one_by_one, bound, deadline);
    bool lost = false;
    bool throttled = false;
    for (const auto& each : results) {
      lost = lost || is_reply_lost(each.error);
      throttled = throttled || (each.throttled && life_.now() < deadline);
    }
    if (lost) {
      maybe_done = true;
      co_await before_retry();
    } else if (throttled) {  // send all again: a read behind a request that was not executed may show something else
      one_by_one = one_by_one || !results.front().throttled;
      error = co_await pause_before_retry(pause, bound);
      for (auto& each : results) each.error = error;
      if (error) co_return results;
    } else {
      co_return results;
    }
  }
}

/// At once, in one round trip, or each behind the answer to the one before it: a server that refuses what has waited
/// for too long would refuse a request behind a slow write of ours as often as both are sent together.
awaitable<std::vector<backend::reply>> requests::send_all(const std::vector<backend::request>& what, bool one_by_one,
                                                          incarnation_ptr bound, lease_clock::time_point deadline) {
  std::vector<backend::reply> results(what.size());
  std::vector<exchange_ptr> sent;
  for (std::size_t i = 0; !one_by_one && i < what.size(); ++i) sent.push_back(send(what[i]));
  for (std::size_t i = 0; i < what.size(); ++i) {
    if (one_by_one && i > 0 && ends_all(results[i - 1])) {
      results[i] = results[i - 1];
    } else if (one_by_one) {
      results[i] = co_await perform(what[i], retry::once, bound, deadline);
    } else {
      results[i] = co_await answer(sent[i]);
    }
  }
  co_return results;
}

awaitable<error_code> requests::ensure_path(std::string path, incarnation_ptr bound) {
  if (path == "/") {  // the root is created by `session_options::create_root` only
    auto root = co_await perform(make_request(opcode::exists, "/"), retry::always, bound);
    co_return root.error;
  }
  std::vector<backend::request> creates;
  for (std::size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    creates.push_back(make_request(opcode::create, path.substr(0, end)));
  }
  const auto deadline = retry_deadline();
  auto pause = backoff();
  bool one_by_one = false;
  for (bool was_sent = false;; was_sent = true) {
    auto error = co_await wait_connected(bound, deadline);
    if (error == errc::timed_out) co_return report_no_connection(creates.back(), was_sent);
    if (error) co_return error;
    const auto made = co_await send_all(creates, one_by_one, bound, deadline);
    error_code first;
    error_code last;
    bool again = false;
    bool is_above = false;  // the answer before said that the parent exists
    for (const auto& each : made) {
      last = each.error == errc::node_exists ? error_code() : each.error;
      // Either this create was throttled, or somebody has removed the parent since.
      again = again || each.throttled || (last == errc::no_node && is_above);
      one_by_one = one_by_one || (each.throttled && !made.front().throttled);
      is_above = !last;
      if (last && !first) first = last;
    }
    // If the last node exists, an error at an ancestor, to which we may have no rights, does not matter.
    if (!last) co_return last;
    if (is_reply_lost(last)) continue;
    if (!again || life_.now() >= deadline) co_return first;
    error = co_await pause_before_retry(pause, bound);
    if (error) co_return error;
  }
}

}  // namespace zkrecipes::detail
