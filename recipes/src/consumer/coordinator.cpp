#include "consumer/coordinator.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include "consumer/end_of_term.hpp"
#include "consumer/line_seat.hpp"
#include "consumer/record_follower.hpp"
#include "consumer/take_over.hpp"
#include "line/waiter.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

coordinator::coordinator(core_ptr session, std::string path, consumer_coordinator_options options)
    : session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      changed_(session_->get_scheduler()) {}

std::exception_ptr coordinator::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

coordinator_status coordinator::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void coordinator::enter(coordinator_phase phase) {
  const auto present = session_->now();
  std::lock_guard lock(mutex_);
  status_.phase = phase;
  status_.since = present;
}

void coordinator::note_term(const term_record& record) {
  std::lock_guard lock(mutex_);
  status_.epoch = record.epoch;
  status_.leader = record.leader_id;
}

void coordinator::note_ahead(std::optional<std::size_t> ahead) {
  std::lock_guard lock(mutex_);
  status_.ahead = ahead;
}

void coordinator::stop(bool at_once) {
  if (!running_) return;
  stopping_ = true;
  at_once_ = at_once_ || at_once;
  cancel(campaign_, asio::cancellation_type::total);
  if (term_) term_->end(term_end::resigned);
  if (at_once && !handing_over_) cut_short();
  changed_.notify();
}

void coordinator::resign() {
  if (term_) term_->end(term_end::resigned);
}

void coordinator::cut_short() { cancel(phase_, asio::cancellation_type::terminal); }

error_code coordinator::begin_run(leader_career& career) {
  if (running_.exchange(true)) return errc::busy;
  ++runs_;
  // Checked after `running_` was set: either this sees that runs are forbidden, or the `stop` behind that sees the run.
  auto error = forbidden_ ? make_error_code(errc::closed) : read_traits(career);
  // On the strand, because a `stop` there may have seen this run, and must not be left to the next one.
  if (error) asio::post(session_->strand(), [self = shared_from_this()] { self->end_run(); });
  return error;
}

error_code coordinator::read_traits(leader_career& career) {
  std::exception_ptr failure;
  try {
    traits_ = traits_of(career);
  } catch (...) {
    failure = std::current_exception();
  }
  career_ = &career;
  std::lock_guard lock(mutex_);
  failure_ = failure;
  return failure_ ? make_error_code(errc::career_failed) : error_code();
}

awaitable<outcome<>> coordinator::run(asio::any_io_executor executor) {
  executor_ = asio::make_strand(executor);
  enter(coordinator_phase::campaigning);
  auto error = co_await run_terms();
  enter(coordinator_phase::idle);
  end_run();
  co_return outcome<>(error);
}

awaitable<error_code> coordinator::run_terms() {
  while (!stopping_) {
    auto won = co_await run_campaign();
    if (!won.error) won.error = co_await lead(won);
    if (failure()) co_return errc::career_failed;
    // Try again after an error that may not occur with a new place, in a new session or at a later moment.
    const bool is_refused = won.error == errc::server_error;
    const bool mends = !won.error || is_loss(won.error) || won.error == errc::connection_loss || is_refused;
    if (auto over = session_->over()) co_return over;  // while it is being closed a campaign fails at once
    if (stopping_) break;
    if (!mends) co_return won.error;
    co_await rest(is_refused ? std::max(options_.rest, session_->options().retry.max_pause) : options_.rest);
  }
  co_return error_code();
}

awaitable<void> coordinator::campaign(std::shared_ptr<coordinator> self, std::shared_ptr<campaign_result> result) {
  co_await accept_cancellation();
  auto line = election_line(self->path_);
  line.reads_parent = parent_reading::before_list;
  auto entered = co_await waiter::enter(self->session_, line, candidate_data(self->options_.id, false));
  result->error = std::get<0>(entered);
  if (result->error) co_return;
  const auto& who = std::get<1>(entered);
  result->seat = std::make_shared<line_seat>(who->node(), self->options_.id);
  who->tell_position([self](std::size_t ahead) { self->note_ahead(ahead); });
  auto first = who->parent() ? to_known(*who->parent()) : std::nullopt;
  if (first) self->note_term(first->record);
  auto record = std::make_shared<record_follower>(self->session_->get_scheduler(), std::move(first),
                                                  [self](const term_record& seen) { self->note_term(seen); });
  record->start(who);
  result->error = co_await who->wait_turn(&nearest_ahead);
  record->stop();
  result->known = record->known();
}

awaitable<coordinator::campaign_result> coordinator::run_campaign() {
  auto result = std::make_shared<campaign_result>();
  const auto& on = *session_->get_scheduler();
  campaign_ = start_task(on, on.strand, campaign(shared_from_this(), result), changed_, shared_from_this());
  while (!campaign_->done) co_await changed_.wait();
  campaign_.reset();
  if (result->error && result->seat) co_await result->seat->leave();
  if (result->error) note_ahead(std::nullopt);
  co_return *result;
}

awaitable<void> coordinator::rest(std::chrono::milliseconds length) {
  const auto until = session_->now() + length;
  while (!stopping_ && session_->now() < until) co_await changed_.wait(until);
}

awaitable<error_code> coordinator::lead(campaign_result won) {
  enter(coordinator_phase::taking_over);
  take_over_request what{won.seat, traits_.hand_over_deadline, [this] { return stopping_; }, &changed_, won.known};
  auto taken = co_await take_over(std::move(what));
  auto error = std::get<0>(taken);
  if (error) {
    co_await won.seat->leave();
  } else {
    term_ = std::get<1>(taken);
    note_term(term_->record());
    co_await serve(term_);
    term_.reset();
  }
  note_ahead(std::nullopt);
  enter(coordinator_phase::campaigning);
  co_return error;
}

awaitable<void> coordinator::watch_seat(term_ptr term) {
  auto asked = co_await term->seat()->wait_revoked();
  if (std::get<0>(asked) == errc::revoked) {
    term->end(term_end::revoked);
    co_await term->seat()->wait_lost();
  }
  term->end(term_end::lost);
}

/// Runs until the seat is lost, or given up at the end of the term.
awaitable<void> coordinator::watch_connection(term_ptr term) {
  const auto& session = term->session();
  condition changed(session->get_scheduler());
  const forwarding session_changes(session->changed(), changed);
  const forwarding seat_changes(term->seat()->changed(), changed);
  while (!term->seat()->lost()) {
    if (!session->connected()) term->end(term_end::suspended);
    co_await changed.wait();
  }
}

void coordinator::start(const term_ptr& term, std::function<awaitable<void>(zkrecipes::term)> phase) {
  // The user's function is also called on the user's executor, because it need not be a coroutine and may throw.
  struct body {
    static awaitable<void> run(std::function<awaitable<void>(zkrecipes::term)> call, zkrecipes::term present) {
      co_await call(std::move(present));
    }
  };
  phase_ = start_task(*session_->get_scheduler(), executor_, body::run(std::move(phase), zkrecipes::term(term)),
                      changed_, shared_from_this());
}

task_ptr coordinator::in_background(awaitable<void> what) {
  return start_task(*session_->get_scheduler(), session_->strand(), std::move(what), changed_, shared_from_this());
}

void coordinator::note_failure(const term_ptr& term) {
  if (!phase_->failure) return;
  const bool is_over = term->reason() || term->seat()->bound()->ended;
  if (is_over && tells_of_the_end(phase_->failure)) return;
  {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = phase_->failure;
  }
  term->end(term_end::failed);
}

bool coordinator::has_lapsed(const term_ptr& term) const { return session_->now() >= term->seat()->valid_until(); }

/// Runs on the career's executor. The lease is checked right before the call, because the executor may have been busy,
/// or the process asleep, and nothing may have reported the end of the lease yet.
awaitable<void> coordinator::work(term_ptr term) {
  if (!has_lapsed(term)) co_await career_->execute(zkrecipes::term(term));
}

awaitable<void> coordinator::serve(term_ptr term) {
  // The answer to the write that began the term can arrive after the end of the lease: then the career is not called.
  if (has_lapsed(term)) co_return co_await leave(term, true);
  const forwarding term_changes(term->changed(), changed_);
  const auto& strand = session_->strand();
  launch_detached(strand, watch_seat(term));
  if (!traits_.work_while_suspended) launch_detached(strand, watch_connection(term));
  if (stopping_) term->end(term_end::resigned);
  co_await inaugurate(term);
  if (!term->reason()) enter(coordinator_phase::executing);
  while (!term->reason()) co_await execute(term);
  enter(coordinator_phase::handing_over);
  co_await finish(term);
}

awaitable<void> coordinator::inaugurate(term_ptr term) {
  enter(coordinator_phase::inaugurating);
  start(term, [this](zkrecipes::term present) { return career_->inaugurate(std::move(present)); });
  if (at_once_) cut_short();
  while (!phase_->done && !term->reason()) co_await changed_.wait();
  if (phase_->done) note_failure(term);
  if (term->reason()) co_return;
  const auto deadline = session_->now() + session_->options().timeout;
  auto written = in_background(show_phase(term, term_phase::executing, deadline));
  while (!written->done && !term->reason()) co_await changed_.wait();
}

awaitable<void> coordinator::execute(term_ptr term) {
  term->begin_work();
  start(term, [this, term](zkrecipes::term) { return work(term); });
  const bool limited = traits_.stall_limit.count() != 0;
  while (!phase_->done && !term->reason()) {
    const auto since = limited ? term->busy_since() : never;
    const auto limit = since == never ? never : since + traits_.stall_limit;
    if (session_->now() >= limit) {
      term->end(term_end::stalled);
    } else {
      co_await changed_.wait(limit);
    }
  }
  if (phase_->done) note_failure(term);
  if (has_lapsed(term)) term->end(term->seat()->revoked() ? term_end::revoked : term_end::lost);
}

awaitable<void> coordinator::show_phase(term_ptr term, term_phase phase, lease_clock::time_point deadline) {
  auto error = co_await term->publish(phase, false, deadline);
  // A refusal by a server does not end the term; the end of the lease does.
  while (error == errc::server_error && !term->reason()) {
    error = co_await term->publish(phase, false, term->session()->now() + term->session()->options().timeout);
  }
  if (error) term->end(term_end::lost);
}

/// Waits until the present phase of the career is done. False: it is not done by the time when a successor may begin.
awaitable<bool> coordinator::done_in_time(term_ptr term) {
  while (session_->now() < term->end_by()) {
    if (phase_->done) co_return true;
    co_await changed_.wait(term->end_by());
  }
  co_return false;
}

awaitable<void> coordinator::phase_done(term_ptr term) {
  while (!phase_->done) co_await changed_.wait();
  note_failure(term);
}

/// Finishes or cancels the message in hand, and does the hand-over. A call that is not done in time is cancelled, and
/// the seat is given up. The record is written meanwhile, because a dead connection must not delay the career.
awaitable<void> coordinator::finish(term_ptr term) {
  const auto reason = *term->reason();
  if (!traits_.finish_message_in_hand || reason == term_end::stalled || at_once_) cut_short();
  if (!term->seat()->lost() && session_->connected()) {
    in_background(show_phase(term, term_phase::handing_over, term->end_by()));
  }
  bool in_time = co_await done_in_time(term);
  handing_over_ = true;
  if (in_time) {
    note_failure(term);
    start(term, [this, reason](zkrecipes::term present) { return career_->hand_over(std::move(present), reason); });
    in_time = co_await done_in_time(term);
  }
  auto leaving = in_background(leave(term, in_time));
  if (!in_time) cut_short();
  co_await phase_done(term);
  enter(coordinator_phase::ending);
  start(term, [this, reason](zkrecipes::term present) { return career_->ended(std::move(present), reason); });
  co_await phase_done(term);
  handing_over_ = false;
  while (!leaving->done) co_await changed_.wait();
}

/// Writes into the record how the term ended, and removes our node in the same transaction.
awaitable<void> coordinator::leave(term_ptr term, bool in_time) {
  const auto& session = term->session();
  const bool ours = !term->seat()->lost();
  // After this moment the successor does not wait for the confirmation any more.
  const auto last_moment = std::max(term->end_by(), session->now() + session->options().timeout);
  // Before the request, not after the answer, because the successor can learn of it before us.
  if (ours) term->seat()->disown();
  auto error = co_await term->publish(in_time ? term_phase::retired : term_phase::stalled, ours, last_moment);
  if (ours) term->seat()->clear_away(bool(error));
}

}  // namespace zkrecipes::detail
