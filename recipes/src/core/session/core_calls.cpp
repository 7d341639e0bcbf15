// The requests of a session: how they are sent, answered and tried again.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "backend/worded_errors.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"
#include "session/request_size.hpp"

namespace zkrecipes::detail {

using backend::opcode;

namespace {

bool is_write(opcode op) {
  return op == opcode::create || op == opcode::remove || op == opcode::set || op == opcode::multi ||
         op == opcode::set_acl;
}

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

const std::string& shown_path(const backend::request& what) {
  return what.operations.empty() ? what.path : what.operations.front().path;
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

/// Takes note of the state in which a server has answered. True if it is older than what the session has seen. That is
/// looked at in the answer to the catch-up only, which goes through the leader and a quorum: later answers on the same
/// connection are no older.
bool core::shows_past(std::uint64_t number, const backend::reply& answer) {
  if (!incarnation_ || answer.zxid <= 0) return false;
  const auto before = std::exchange(incarnation_->seen, std::max(incarnation_->seen, answer.zxid));
  return number == welcome_number_ && answer.zxid < before;
}

exchange_ptr core::refuse(error_code why) {
  auto which = std::make_shared<exchange>(scheduler_, false);
  which->answer.emplace();
  which->answer->error = why;
  which->answer->sent = false;
  return which;
}

exchange_ptr core::refuse_unsent(const backend::request& what, error_code why) {
  const auto paths = paths_of(what);
  const auto bad = std::ranges::find_if(paths, [](const auto& each) { return !path_problem(each).empty(); });
  const bool has_bad_path = bad != paths.end();
  log_.operation_ended(what.op, has_bad_path ? *bad : shown_path(what), why,
                       has_bad_path ? "nothing was sent: " + path_problem(*bad) : "nothing was sent");
  return refuse(why);
}

exchange_ptr core::send(backend::request what) {
  if (ended_ || closing_) return refuse(ended_ ? ended_ : make_error_code(errc::closed));
  if (!connected()) return refuse(backend::not_sent());
  if (!well_formed(what)) return refuse_unsent(what, errc::bad_arguments);
  const auto watching = what.watch ? std::optional(watch_of(what)) : std::nullopt;
  const auto probing = what.probes ? std::optional(what.path) : std::nullopt;
  apply_root(what);
  if (size_on_wire(what) > options_.jute_maxbuffer) return refuse_unsent(what, errc::too_large);
  if (watching) watches_->asked(watching->first, watching->second);
  const auto op = what.op;
  auto which = std::make_shared<exchange>(scheduler_, is_write(op));
  const bool changes = may_change(what);
  const auto sent = now();
  std::uint64_t number;
  {
    std::lock_guard lock(mutex_);
    number = ++counters_.requests;
  }
  in_flight_.emplace(number, which);
  std::vector<std::string> paths;  // only for the trace and the log
  if (options_.trace || log_.is_on()) paths = paths_of(what);
  // Captures `this` only: we own the link, and a request in flight must not keep us alive when the context ends.
  link_->submit(std::move(what),
                [this, which, number, op, sent, paths, watching, probing, changes](backend::reply answer) {
                  has_lost_writes_ = has_lost_writes_ || (changes && is_reply_lost(answer.error));
                  if (watching) watches_->answered(watching->first, watching->second, seen_by_watch(op, answer));
                  if (probing) note_probe(op, *probing, answer);
                  if (in_flight_.erase(number) == 0) return;  // `answer_all` has answered it already
                  if (number == welcome_number_ && is_server_refusal(answer.error) && !closing_) {
                    in_flight_.emplace(number, which);
                    return forsake();
                  }
                  if (!is_unanswered(answer.error) && shows_past(number, answer) && !closing_) {
                    in_flight_.emplace(number, which);
                    return leave_past();
                  }
                  if (answer.error == errc::auth_required && !closing_) {
                    in_flight_.emplace(number, which);
                    return turn_away();
                  }
                  const bool is_lost = is_reply_lost(answer.error) || answer.error == errc::auth_required;
                  if (closing_ && is_lost) answer.error = errc::closed;
                  if (is_reply_lost(answer.error)) answer.error = backend::loss_of(which->is_write, answer.sent);
                  answered(op, paths, sent, answer);
                  if (log_.is_on() && !probing) log_.operation_ended(op, path_at_fault(paths, answer), answer.error);
                  strip_root(answer);
                  which->answer = std::move(answer);
                  which->done.notify();
                });
  return which;
}

/// A probe was answered. Those who wait for a change look again only if they may read the node: until then nothing is
/// told, as without a probe, and the next ones try again. An answer that says nothing of the node is no news either.
void core::note_probe(opcode op, const std::string& path, const backend::reply& answer) {
  if (answer.error && answer.error != errc::no_node) return;
  const auto there = mark_of(answer);
  if (!watches_->is_untold(path, there)) return;
  if (op == opcode::exists && there.exists) {
    send(make_probe(opcode::get, path));
  } else {
    log_.change_untold(full_path(path));
    watches_->probed(path, there);
  }
}

void core::answered(opcode op, const std::vector<std::string>& paths, lease_clock::time_point sent,
                    const backend::reply& answer) {
  const auto& outcome = answer.error;
  const bool proves_life = !is_unanswered(outcome);
  if (proves_life && !served_) note_service();
  bool is_renewed = false;
  if (proves_life) {
    const auto present = now();
    std::lock_guard lock(mutex_);
    ++counters_.answers;
    const bool was_over = lease_.valid_until() <= present;
    lease_.acknowledged(sent, present, witness_of(op, outcome));
    is_renewed = was_over && lease_.valid_until() > present;
  }
  if (is_renewed) heartbeat_.notify();  // `watch_lease` has to wait for the new end
  if (options_.trace) options_.trace({backend::to_string(op), paths.front(), now() - sent, outcome});
}

awaitable<backend::reply> core::answer(exchange_ptr which) {
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

lease_clock::time_point core::retry_deadline() const {
  return options_.retry.limit.count() ? now() + options_.retry.limit : never;
}

awaitable<error_code> core::wait_connected(incarnation_ptr bound, lease_clock::time_point deadline) {
  for (;;) {
    if (ended_) co_return ended_;
    if (closing_) co_return errc::closed;
    if (bound && bound->ended) co_return bound->ended;
    if (connected()) co_return error_code();
    auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return errc::timed_out;
  }
}

awaitable<backend::reply> core::perform(backend::request what, retry policy, incarnation_ptr bound,
                                        lease_clock::time_point deadline) {
  auto self = shared_from_this();
  deadline = std::min(deadline, retry_deadline());
  auto pause = patience();
  bool maybe_done = false;  // by an earlier try
  for (;;) {
    backend::reply result;
    result.error = co_await wait_connected(bound, deadline);
    result.sent = maybe_done;
    if (result.error == errc::timed_out) result.error = report_no_connection(what, maybe_done);
    if (result.error) co_return result;
    result = co_await answer(send(what));
    if (result.throttled && now() < deadline) {
      result.error = co_await outwait(pause, bound);
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
error_code core::report_no_connection(const backend::request& what, bool was_sent) const {
  log_.operation_ended(what.op, full_path(shown_path(what)), errc::connection_loss,
                       was_sent ? "no connection in time" : "no connection in time: it was not sent");
  return backend::loss_of(is_write(what.op), was_sent);
}

awaitable<void> core::before_retry() {
  {
    std::lock_guard lock(mutex_);
    ++counters_.retries;
  }
  // The connection still seems to be up although the request was lost: wait for the news that the connection has ended.
  if (connected()) co_await link_changed_.wait(now() + options_.retry.first_pause);
}

back_off core::patience() const { return {options_.retry.first_pause, options_.retry.max_pause}; }

awaitable<error_code> core::outwait(back_off& pause, incarnation_ptr bound) {
  {
    std::lock_guard lock(mutex_);
    ++counters_.retries;
  }
  const bool again = co_await rest(pause, bound);
  if (again) co_return error_code();
  if (over()) co_return over();
  co_return bound && bound->ended ? bound->ended : asio::error::make_error_code(asio::error::operation_aborted);
}

awaitable<bool> core::rest(back_off& pause, incarnation_ptr bound) {
  const auto until = pause.next(*scheduler_);
  while (!ended_ && !closing_ && !(bound && bound->ended)) {
    auto why = co_await changed_.wait(until);
    if (why != wake::notified) co_return why == wake::timed_out;
  }
  co_return false;
}

awaitable<std::vector<backend::reply>> core::perform_all(std::vector<backend::request> what, incarnation_ptr bound,
                                                         lease_clock::time_point deadline) {
  auto self = shared_from_this();
  deadline = std::min(deadline, retry_deadline());
  auto pause = patience();
  bool maybe_done = false;
  for (;;) {
    std::vector<backend::reply> results(what.size());
    auto error = co_await wait_connected(bound, deadline);
    if (error == errc::timed_out && !what.empty()) error = report_no_connection(what.front(), maybe_done);
    for (auto& each : results) each.error = error;
    if (error) co_return results;
    std::vector<exchange_ptr> sent;
    for (const auto& each : what) sent.push_back(send(each));
    bool lost = false;
    bool throttled = false;
    for (std::size_t i = 0; i < sent.size(); ++i) {
      results[i] = co_await answer(sent[i]);
      lost = lost || is_reply_lost(results[i].error);
      throttled = throttled || (results[i].throttled && now() < deadline);
    }
    if (lost) {
      maybe_done = true;
      co_await before_retry();
    } else if (throttled) {  // send all again: a read behind a request that was not executed may show something else
      error = co_await outwait(pause, bound);
      for (auto& each : results) each.error = error;
      if (error) co_return results;
    } else {
      co_return results;
    }
  }
}

std::unique_ptr<watch> core::arm(watch_kind kind, std::string path, condition& tell) {
  if (watches_->size() == 0) {  // from now on there is something to probe
    next_probe_ = now() + lease_.interval();
    if (holders_.empty()) heartbeat_.notify();  // else a heartbeat is due before that
  }
  return std::make_unique<watch>(watches_, kind, std::move(path), tell);
}

std::string core::make_guid() {
  static constexpr char digits[] = "0123456789abcdef";
  std::string guid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  std::array<std::uint64_t, 2> bits{scheduler_->world->random(), scheduler_->world->random()};
  for (std::size_t i = 0, used = 0; i < guid.size(); ++i) {
    if (guid[i] == '-') continue;
    guid[i] = digits[(bits[used / 16] >> (used % 16 * 4)) & 0xf];
    ++used;
  }
  return guid;
}

}  // namespace zkrecipes::detail
