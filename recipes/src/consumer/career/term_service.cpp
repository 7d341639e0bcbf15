#include "career/term_service.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "career/term_state.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

void require_within_hour(const char* field, std::chrono::milliseconds value) {
  using namespace std::chrono_literals;
  if (value >= 0ms && value <= 1h) return;
  throw std::invalid_argument(std::string(field) + " is " + std::to_string(value.count()) +
                              " ms; it must be from 0 to 1 h");
}

career_traits traits_of(const leader_career& career) {
  const auto traits = career.traits();
  require_within_hour("career_traits::hand_over_deadline", traits.hand_over_deadline);
  require_within_hour("career_traits::aftermath", traits.aftermath);
  require_within_hour("career_traits::stall_limit", traits.stall_limit);
  return traits;
}

namespace {

/// Runs until the seat is lost.
awaitable<void> watch_seat(term_ptr term) {
  auto& seat = *term->seat();
  bool is_told = false;
  auto woken = wake::notified;
  while (!seat.lost() && woken != wake::cancelled) {
    if (seat.revoked() && !std::exchange(is_told, true)) term->end(term_end::revoked);
    woken = co_await seat.changed().wait();
  }
  term->end(term_end::lost);
}

/// Runs until the seat is lost, or given up at the end of the term.
awaitable<void> watch_connection(term_ptr term) {
  const auto& session = term->session();
  condition changed(session->get_scheduler());
  const forwarding session_changes(session->changed(), changed);
  const forwarding seat_changes(term->seat()->changed(), changed);
  while (!term->seat()->lost()) {
    if (!session->connected()) term->end(term_end::suspended);
    co_await changed.wait();
  }
}

awaitable<void> show_phase(term_ptr term, term_phase phase, lease_clock::time_point deadline) {
  auto error = co_await term->publish(phase, false, deadline);
  // A refusal by a server does not end the term; the end of the lease does.
  while (error == errc::server_error && !term->reason()) {
    error = co_await term->publish(phase, false, term->session()->now() + term->session()->options().timeout);
  }
  if (error) term->end(term_end::lost);
}

/// Writes into the record how the term ended, and gives our seat up in the same transaction.
awaitable<void> leave(term_ptr term, term_phase end) {
  const auto& session = term->session();
  const auto loss = term->seat()->lost();
  const bool ours = !loss;
  // After this moment the successor does not wait for the confirmation any more.
  const auto last_moment = std::max(term->end_by(), session->now() + session->options().timeout);
  // Before the request, not after the answer, because the successor can learn of it before us.
  if (ours) term->seat()->disown();
  try {
    // Behind a lapse of the lease our node stands for as long as the servers keep the session.
    auto error = co_await term->publish(end, ours || loss == errc::lease_lapsed, last_moment);
    if (ours) term->seat()->clear_away(bool(error));
  } catch (...) {  // no memory: nobody else would remove the seat
    if (ours) term->seat()->clear_away(true);
    throw;
  }
}

void write_log(const term_state& term, log_event told, const std::string& detail) {
  const auto log = guarded(*term.session()->get_scheduler(), term.session()->options().log);
  if (!log) return;
  told.path = term.seat()->record_path();
  told.detail = detail;
  log(told);
}

void log_begin(const term_state& term) {
  log_event told;
  told.event = session_event::term_begun;
  write_log(term, told, "term " + std::to_string(term.record().epoch));
}

/// Only ends that nothing else tells: those that come with the session are in its log anyway.
void log_end(const term_state& term, term_end reason, const std::exception_ptr& failure) {
  if (reason != term_end::stalled && reason != term_end::failed && reason != term_end::superseded) return;
  log_event told;
  told.event = session_event::operation_failed;
  told.severity = log_severity::warning;
  told.operation = "term";
  const auto number = std::to_string(term.record().epoch);
  write_log(term, told,
            "term-ended: " + std::string(to_string(reason)) + ", term " + number +
                (failure ? ": " + text_of(failure) : std::string()));
}

}  // namespace

term_service::term_service(term_ptr term, leader_career& career, career_traits traits, asio::any_io_executor executor,
                           phase_listener entered)
    : term_(std::move(term)),
      career_(career),
      traits_(traits),
      executor_(std::move(executor)),
      enter_(std::move(entered)),
      changed_(session()->get_scheduler()) {}

void term_service::stop(bool at_once) {
  at_once_ = at_once_ || at_once;
  term_->end(term_end::resigned);
  if (at_once && !in_last_calls_) cut_short();
  changed_.notify();
}

void term_service::start(std::function<awaitable<void>(zkrecipes::term)> phase) {
  // The user's function is also called on the user's executor, because it need not be a coroutine and may throw.
  struct body {
    static awaitable<void> run(std::function<awaitable<void>(zkrecipes::term)> call, zkrecipes::term present) {
      co_await call(std::move(present));
    }
  };
  phase_ = start_task(*session()->get_scheduler(), executor_, body::run(std::move(phase), zkrecipes::term(term_)),
                      changed_, shared_from_this());
}

task_ptr term_service::in_background(awaitable<void> what) {
  return start_task(*session()->get_scheduler(), session()->strand(), std::move(what), changed_, shared_from_this());
}

void term_service::take_failure() {
  if (!phase_->failure) return;
  const bool is_over = term_->reason() || term_->seat()->bound()->ended;
  if (is_over && is_end_of_term(phase_->failure)) return;
  if (!failure_) on_failure(text_of(phase_->failure));
  if (!failure_) failure_ = phase_->failure;
  term_->end(term_end::failed);
}

void term_service::on_failure(const std::string& what) {
  if (on_failure_) on_failure_(what);
}

/// Runs on the career's executor. The lease is checked right before the call, because the executor may have been busy,
/// or the process asleep, and nothing may have reported the end of the lease yet.
awaitable<void> term_service::work() {
  if (!has_lapsed()) co_await career_.execute(zkrecipes::term(term_));
}

awaitable<void> term_service::run() {
  // The answer to the write that began the term can arrive after the end of the lease: then the career is not called.
  if (has_lapsed()) {
    co_await leave(term_, end_);
    co_return release_guard();
  }
  const forwarding term_changes(term_->changed(), changed_);
  const auto& strand = session()->strand();
  launch_detached(strand, watch_seat(term_));
  if (!traits_.work_while_suspended) launch_detached(strand, watch_connection(term_));
  log_begin(*term_);
  co_await inaugurate();
  if (!term_->reason()) enter_(coordinator_phase::executing);
  while (!term_->reason()) co_await execute();
  enter_(coordinator_phase::handing_over);
  co_await finish();
  release_guard();
}

awaitable<void> term_service::abandon() {
  term_->end(term_end::lost);
  cut_short();
  while (phase_ && !phase_->done) co_await changed_.wait();
}

/// Here, because copies of the term may live on, on other threads. A record that may still name us as a leader at work
/// is left to the guardian, which passes over one that names somebody else.
void term_service::release_guard() {
  if (term_->is_finished() || term_->reason() == term_end::superseded) term_->set_guard(nullptr);
}

awaitable<void> term_service::inaugurate() {
  enter_(coordinator_phase::inaugurating);
  term_->work().begin();
  start([this](zkrecipes::term present) { return career_.inaugurate(std::move(present)); });
  if (at_once_) cut_short();
  co_await phase_done_or_over();
  if (phase_->done) take_failure();
  if (term_->has_failed() && !failure_) on_failure("inaugurate took longer than career_traits::stall_limit");
  if (term_->reason()) co_return;
  const auto deadline = session()->now() + session()->options().timeout;
  auto written = in_background(show_phase(term_, term_phase::executing, deadline));
  while (!written->done && !term_->reason()) co_await changed_.wait();
  if (written->failure) term_->end(term_end::lost);  // no memory
}

/// Until the phase is done, or the term is to end: at the latest when the call has worked for as long as it may.
awaitable<void> term_service::phase_done_or_over() {
  while (!phase_->done && !term_->reason()) {
    const auto limit = stall_at(term_->work().busy_since());
    if (session()->now() >= limit) {
      term_->end(term_end::stalled);
    } else {
      co_await changed_.wait(limit);
    }
  }
}

awaitable<void> term_service::execute() {
  term_->work().begin();
  start([this](zkrecipes::term) { return work(); });
  co_await phase_done_or_over();
  if (phase_->done) take_failure();
  if (has_lapsed()) term_->end(term_->seat()->revoked() ? term_end::revoked : term_end::lost);
}

/// Waits until the present phase of the career is done. False: it is not done by the time when a successor may begin.
awaitable<bool> term_service::done_in_time() {
  while (session()->now() < term_->end_by()) {
    if (phase_->done) co_return true;
    co_await changed_.wait(term_->end_by());
  }
  co_return false;
}

awaitable<void> term_service::phase_done(lease_clock::time_point limit) {
  while (!phase_->done) {
    co_await changed_.wait(limit);
    if (phase_->done || session()->now() < limit) continue;
    limit = never;
    on_failure("ended took longer than career_traits::stall_limit");
    cut_short();
  }
  take_failure();
}

/// Finishes or cancels the message in hand, and does the hand-over. A call that is not done in time is cancelled, and
/// the seat is given up. The record is written meanwhile, because a dead connection must not delay the career.
awaitable<void> term_service::finish() {
  log_end(*term_, *term_->reason(), failure_);
  const auto reason = *term_->reason();
  if (!traits_.finish_message_in_hand || reason == term_end::stalled || at_once_) cut_short();
  if (!term_->seat()->lost() && session()->connected()) {
    in_background(show_phase(term_, term_phase::handing_over, term_->end_by()));
  }
  bool in_time = co_await done_in_time();
  in_last_calls_ = true;
  if (in_time) {
    take_failure();
    start([this, reason](zkrecipes::term present) { return career_.hand_over(std::move(present), reason); });
    in_time = co_await done_in_time();
  }
  end_ = in_time ? term_phase::retired : term_phase::stalled;
  auto leaving = in_background(leave(term_, end_));
  if (!in_time) cut_short();
  co_await phase_done(never);
  enter_(coordinator_phase::ending);
  start([this, reason](zkrecipes::term present) { return career_.ended(std::move(present), reason); });
  co_await phase_done(stall_at(session()->now()));
  while (!leaving->done) co_await changed_.wait();
}

}  // namespace zkrecipes::detail
