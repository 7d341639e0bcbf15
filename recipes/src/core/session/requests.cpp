#include "session/requests.hpp"

#include <algorithm>

#include "backend/worded_errors.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using backend::opcode;

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
  auto pause = patience();
  bool maybe_done = false;  // by an earlier try
  for (;;) {
    backend::reply result;
    result.error = co_await wait_connected(bound, deadline);
    result.sent = maybe_done;
    if (result.error == errc::timed_out) result.error = report_no_connection(what, maybe_done);
    if (result.error) co_return result;
    result = co_await answer(send(what));
    if (result.throttled && life_.now() < deadline) {
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

back_off requests::patience() const { return {life_.options().retry.first_pause, life_.options().retry.max_pause}; }

awaitable<error_code> requests::outwait(back_off& pause, incarnation_ptr bound) {
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
  auto pause = patience();
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
      error = co_await outwait(pause, bound);
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
  auto pause = patience();
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
    error = co_await outwait(pause, bound);
    if (error) co_return error;
  }
}

}  // namespace zkrecipes::detail
