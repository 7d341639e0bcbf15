#include "consumer/coordinator.hpp"

#include <utility>

namespace zkrecipes::detail {

using namespace std::chrono_literals;

coordinator::coordinator(core_ptr session, std::string path, coordinator_options options)
    : session_(std::move(session)),
      path_(std::move(path)),
      options_(std::move(options)),
      changed_(session_->get_scheduler()) {}

std::exception_ptr coordinator::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void coordinator::stop(bool at_once) {
  if (!running_) return;
  stopping_ = true;
  at_once_ = at_once_ || at_once;
  cancel(campaign_, asio::cancellation_type::total);
  if (where_) where_->changed().notify();
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
  auto error = read_traits(career);
  if (error) running_ = false;
  return error;
}

error_code coordinator::read_traits(leader_career& career) {
  std::exception_ptr failure;
  try {
    traits_ = career.traits();
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
  auto error = co_await run_terms();
  stopping_ = at_once_ = false;
  running_ = false;
  co_return outcome<>(error);
}

awaitable<error_code> coordinator::run_terms() {
  while (!stopping_) {
    auto won = co_await run_campaign();
    if (!won.error) won.error = co_await lead(won);
    if (failure()) co_return errc::career_failed;
    // Whatever a new place or a new session can mend is tried again.
    const bool mends = !won.error || is_loss(won.error) || won.error == errc::connection_loss;
    if (auto over = session_->over()) co_return over;  // while it is being closed a campaign fails at once
    if (stopping_) break;
    if (!mends) co_return won.error;
    co_await rest();
  }
  co_return error_code();
}

awaitable<void> coordinator::campaign(std::shared_ptr<coordinator> self, std::shared_ptr<campaign_result> result) {
  co_await accept_cancellation();
  auto line = election_line(self->path_);
  line.read_parent = true;
  auto entered = co_await place::enter(self->session_, line, candidate_data(self->options_.id, false));
  result->error = std::get<0>(entered);
  result->where = std::get<1>(entered);
  if (result->error) co_return;
  const auto& where = result->where;
  if (where->parent()) *result->known = to_known(*where->parent());
  auto turn = std::make_shared<bool>(false);
  launch_detached(self->session_->strand(), follow_record(where, self->path_, result->known, turn));
  result->error = co_await where->wait_turn(&nearest_ahead);
  *turn = true;
  where->changed().notify();
}

awaitable<coordinator::campaign_result> coordinator::run_campaign() {
  auto result = std::make_shared<campaign_result>();
  const auto& on = *session_->get_scheduler();
  campaign_ = start_task(on, on.strand, campaign(shared_from_this(), result), changed_, shared_from_this());
  while (!campaign_->done) co_await changed_.wait();
  campaign_.reset();
  if (result->error && result->where) co_await result->where->leave();
  co_return *result;
}

awaitable<void> coordinator::rest() {
  const auto until = session_->now() + options_.rest;
  while (!stopping_ && session_->now() < until) co_await changed_.wait(until);
}

awaitable<error_code> coordinator::lead(campaign_result won) {
  const auto& where = won.where;
  where_ = where;
  take_over_request what{where, path_, options_.id, traits_.hand_over_deadline, nullptr, *won.known};
  what.give_up = [this] { return stopping_; };
  auto taken = co_await take_over(std::move(what));
  where_.reset();
  auto error = std::get<0>(taken);
  if (error) {
    co_await where->leave();
  } else {
    term_ = std::get<1>(taken);
    co_await serve(term_);
    term_.reset();
  }
  co_return error;
}

awaitable<void> coordinator::watch_place(term_ptr term) {
  auto asked = co_await term->where()->wait_revoked();
  if (std::get<0>(asked) == errc::revoked) {
    term->end(term_end::revoked);
    co_await term->where()->wait_lost();
  }
  term->end(term_end::lost);
  term->changed().notify();  // also who waits for the end of a term that was ending already
}

awaitable<void> coordinator::watch_connection(term_ptr term) {
  while (!term->where()->lost()) {
    if (!term->session()->connected()) term->end(term_end::suspended);
    co_await term->session()->changed().wait();
  }
}

void coordinator::start(const term_ptr& term, std::function<awaitable<void>(zkrecipes::term)> phase) {
  // The user's function is called on the user's executor, too: it need not be a coroutine, and may throw.
  struct body {
    static awaitable<void> run(std::function<awaitable<void>(zkrecipes::term)> call, zkrecipes::term present) {
      co_await call(std::move(present));
    }
  };
  phase_ = start_task(*session_->get_scheduler(), executor_, body::run(std::move(phase), zkrecipes::term(term)),
                      term->changed(), term);
}

void coordinator::note_failure(const term_ptr& term) {
  // A phase that was cut short may end with any exception.
  if (!phase_->failure || term->reason()) return;
  {
    std::lock_guard lock(mutex_);
    failure_ = phase_->failure;
  }
  term->end(term_end::failed);
}

/// The three phases of one term.
awaitable<void> coordinator::serve(term_ptr term) {
  const auto& strand = session_->strand();
  launch_detached(strand, watch_place(term));
  if (!traits_.work_while_suspended) launch_detached(strand, watch_connection(term));
  if (stopping_) term->end(term_end::resigned);

  start(term, [this](zkrecipes::term present) { return career_->inaugurate(std::move(present)); });
  if (at_once_) cut_short();
  while (!phase_->done && !term->reason()) co_await term->changed().wait();
  if (phase_->done) note_failure(term);
  if (!term->reason()) {
    auto error = co_await term->publish(term_phase::executing, false, session_->now() + session_->options().timeout);
    if (error) term->end(term_end::lost);
  }
  if (!term->reason()) co_await execute(term);
  co_await finish(term);
  session_->changed().notify();  // who watches the connection for this term need not any more
}

awaitable<void> coordinator::execute(term_ptr term) {
  while (!term->reason()) {
    start(term, [this](zkrecipes::term present) { return career_->execute(std::move(present)); });
    const auto limit = traits_.stall_limit.count() ? session_->now() + traits_.stall_limit : never;
    while (!phase_->done && !term->reason()) {
      auto why = co_await term->changed().wait(limit);
      if (why == wake::timed_out) term->end(term_end::stalled);
    }
    if (phase_->done) note_failure(term);
  }
}

/// Waits until the present phase of the career is done. False: the deadline passed.
awaitable<bool> coordinator::wait_for(term_ptr term, lease_clock::time_point deadline) {
  while (!phase_->done) {
    auto why = co_await term->changed().wait(deadline);
    if (why == wake::timed_out && !phase_->done) co_return false;
  }
  co_return true;
}

/// The message in hand, then the hand-over, both within the deadline; the leadership is given up at the latest then.
awaitable<void> coordinator::finish(term_ptr term) {
  // Zero means that no successor has to wait for us; to end in order takes a moment all the same.
  const bool declared = traits_.hand_over_deadline.count() != 0;
  const auto deadline = session_->now() + (declared ? traits_.hand_over_deadline : session_->options().timeout);
  const auto reason = *term->reason();
  const bool cut = !traits_.finish_message_in_hand || reason == term_end::stalled || at_once_;
  if (!phase_->done && cut) cut_short();
  if (!term->where()->lost() && session_->connected()) {
    co_await term->publish(term_phase::handing_over, false, deadline);
  }
  bool in_time = co_await wait_for(term, deadline);
  if (in_time) {
    handing_over_ = true;
    start(term, [this, reason](zkrecipes::term present) { return career_->hand_over(std::move(present), reason); });
    in_time = co_await wait_for(term, deadline);
    handing_over_ = false;
    if (in_time && phase_->failure && !failure()) {
      std::lock_guard lock(mutex_);
      failure_ = phase_->failure;
    }
  }
  const bool ours = !term->where()->lost();
  // Later than this the successor will not have waited for it.
  const auto last_moment = std::max(deadline, session_->now() + session_->options().timeout);
  // Not when the answer is here: the successor can know before us.
  if (ours) term->where()->disown();
  auto error = co_await term->publish(in_time ? term_phase::retired : term_phase::stalled, ours, last_moment);
  if (ours) term->where()->clear_away(bool(error));
  if (in_time) co_return;
  // Only now can nobody be held up by it: the career must end before it may begin anew.
  cut_short();
  co_await wait_for(term, never);
}

}  // namespace zkrecipes::detail
