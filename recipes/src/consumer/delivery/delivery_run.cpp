#include "delivery/delivery_run.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <boost/system/system_error.hpp>

#include "backend/begin_once.hpp"
#include "session/forwarding.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

delivery_window::limits limits_of(const delivery_frame& frame) {
  const auto& options = frame.options;
  const bool may_unload = options.order != message_order::strict &&
                          options.delivery != delivery_guarantee::at_most_once && frame.source->can_read_again();
  const auto keep = options.duplicates ? std::optional(options.duplicates->keep) : std::nullopt;
  return {options.order, options.window, options.parallel, may_unload, keep};
}

/// Another try can succeed. Only the making of a folder ends with these: a commit waits by itself.
bool is_untold_yet(const error_code& error) { return is_server_refusal(error) || may_have_happened(error); }

}  // namespace

delivery_run::delivery_run(term_ptr term, delivery_frame_ptr frame, asio::any_io_executor executor)
    : term_(std::move(term)),
      frame_(std::move(frame)),
      executor_(std::move(executor)),
      changed_(get_scheduler()),
      probation_({}, 0),
      window_(limits_of(*frame_)),
      breaker_(window_, frame_->options),
      parked_(frame_->options),
      repeats_(term_->session(), *frame_),
      log_(term_->session(), *frame_),
      committer_(term_, *frame_, window_, breaker_, probation_, parked_, repeats_, log_) {}

awaitable<outcome<>> delivery_run::run() {
  const forwarding term_changes(term_->changed(), changed_);
  const forwarding session_changes(term_->session()->changed(), changed_);
  std::optional<forwarding> source_changes;
  if (auto* source = frame_->source->changed()) source_changes.emplace(*source, changed_);
  // Here, on the strand: a term can have several runs, and its notes change.
  probation_ = probation(term_->notes().present(), std::max<std::size_t>(frame_->options.window, 2));
  if (probation_.is_on()) window_.resize(1, 1);
  take_up_limit();
  while (!is_over()) {
    has_news_ = false;
    const auto now = get_scheduler()->now();  // one moment for all: one that passes meanwhile is still waited for
    step(now);
    if (!has_news_ && !is_over()) co_await changed_.wait(next_time(now));
  }
  co_await frame_->source->close();
  const auto lost = window_.count_removed();
  frame_->board.change([&](queue_consumer_status& status) {
    status.lost += lost;
    status.in_hand = status.finished = status.held_back = status.resting = status.limited = 0;
    status.oldest = 0ms;
    status.held_off.clear();
  });
  co_return outcome<>(error_);
}

void delivery_run::step(lease_clock::time_point now) {
  if (term_->reason() == term_end::stalled) cut();  // here, too: a call that blocks its thread blocks the signal to it
  end_calls(now);
  limited_until_ = never;
  take_up_revived();
  reopen_source();
  if (goes_on()) {
    evict_calls(now);
    begin_messages(now);  // first, because it finds out which messages have to be read again
    read_on();
  } else {
    stop_reading();
    if (!is_committing_) window_.drop_declined();  // the successor declines them, or processes them
  }
  if (!is_committing_ && may_commit() && !frame_->source->is_outdated() && committer_.has_work()) {
    if (expects_more(now)) return end_step();
    is_committing_ = true;
    commit_by_ = never;
    writer_ = background();
    writer_.run(get_scheduler()->strand, owning(shared_from_this(), &delivery_run::commit));
  } else if (is_committing_ && !may_commit()) {
    writer_.stop();
  }
  if (!goes_on() && !may_commit() && !is_receiving_ && !is_reading_) frame_->source->let_go();
  end_step();
}

void delivery_run::end_step() {
  term_->notes().set_suspects(probation_.suspects(), probation_.in_hand());
  term_->work().set_since(working_since());
  show();
}

/// Whether a call was begun that has not had its turn on the executor of the career yet. If it ends without suspending,
/// its message travels in the next commit, and so may those behind it. So messages that are processed at once make full
/// commits, where a commit takes long. The wait is at most a quarter of the time that the last commit took. Where
/// commits are quick there is none: then it is better to process messages while a short commit is under way.
bool delivery_run::expects_more(lease_clock::time_point now) {
  constexpr lease_clock::duration shortest_wait = 1ms;
  constexpr lease_clock::duration longest_wait = 10ms;
  if (calls_.empty() || turned_ == begun_ || commit_took_ / 4 < shortest_wait) return false;
  if (commit_by_ == never) commit_by_ = now + std::min(commit_took_ / 4, longest_wait);
  if (now >= commit_by_) return false;
  take_turn();
  return true;
}

/// What was begun before runs, on the executor of the career, before the inner call does.
void delivery_run::take_turn() {
  begin_once(is_turning_, [this] {
    asio::post(executor_, [self = shared_from_this(), so_many = begun_] {
      asio::post(self->get_scheduler()->strand, [self, so_many] {
        self->turned_ = so_many;
        self->is_turning_ = false;
        self->tell();
      });
    });
  });
}

bool delivery_run::goes_on() const { return !is_cut_ && !has_lapsed_ && !error_ && !failure_ && !term_->reason(); }

bool delivery_run::is_over() const {
  const bool is_working = !calls_.empty() || !given_up_.empty();
  const bool is_busy = is_working || is_receiving_ || is_reading_ || is_committing_;
  if (goes_on() || is_busy) return false;
  return !may_commit() || const_cast<delivery_run*>(this)->window_.finished().empty();
}

/// Finished messages are committed also behind the end of the term, until a successor may begin.
bool delivery_run::may_commit() const {
  if (may_not_commit_ || failure_) return false;
  return !is_cut_ || get_scheduler()->now() < term_->end_by();
}

/// Moments that have passed are not waited for: what they make possible waits for something else, too.
lease_clock::time_point delivery_run::next_time(lease_clock::time_point now) const {
  auto next = never;
  const auto consider = [&](lease_clock::time_point moment) {
    if (moment > now) next = std::min(next, moment);
  };
  if (goes_on()) {
    consider(window_.next_time());
    consider(committer_.next_figures());
    consider(held_off_until_);
    consider(breaker_.next_probe());
    consider(limited_until_);
    consider(next_eviction());
  }
  for (const auto& each : calls_) {
    if (each->messages.size() > 1 && each->taken == 0) consider(each->next_look);
  }
  if (is_cut_ && !may_not_commit_) consider(term_->end_by());
  consider(commit_by_);
  return next;
}

void delivery_run::begin_messages(lease_clock::time_point now) {
  if (now < held_off_until_ || parked_.has_revived() || frame_->source->is_outdated()) return;
  if (breaker_.lets_begin(now)) breaker_.prepare_probe(now);
  while (breaker_.lets_begin(now)) {
    auto* next = breaker_.next(now);
    if (!next || !begin_or_prepare(*next)) return;
  }
}

/// Begins the message, or does what has to be done before that. False: nothing can be begun before that is done.
bool delivery_run::begin_or_prepare(message_in_hand& next) {
  const auto& name = next.what->name;
  const bool is_removed_first = frame_->options.delivery == delivery_guarantee::at_most_once && !next.is_removed;
  auto problem = frame_->source->problem_of(name);
  if (problem.empty()) problem = repeats_.take_origin(next);
  if (!problem.empty()) {
    window_.decide(next, message_outcome::park(std::move(problem)));
  } else if (repeats_.is_repeat(next, window_)) {
    next.is_repeat = true;
    window_.decide(next, message_outcome::done());
  } else if (parked_.has(next.lane)) {
    window_.decide(next, message_outcome::park("a message of its key that came before it was parked"));
  } else if (probation_.is_suspect(name)) {
    frame_->board.change([](queue_consumer_status& status) { ++status.again; });
    window_.decide(next, message_outcome::again("its process died or was lost while this message was in hand"));
  } else if (!is_let_through(next)) {
    probation_.retract();
    return false;
  } else if (is_removed_first) {
    window_.decide(next, message_outcome::done());
  } else if (!next.is_removed && probation_.must_be_named(*next.what) && !probation_.is_named(name)) {
    probation_.announce(name);
    return false;
  } else {
    probation_.begun(name);
    begin(next);
  }
  return true;
}

/// A failure that concerns the term, and not a message, ends the commits. The term ends, too, or the session does.
awaitable<void> delivery_run::commit() {
  const auto begun = get_scheduler()->now();
  auto error = co_await committer_.commit();
  commit_took_ = get_scheduler()->now() - begun;
  if (error == errc::career_failed) {
    failure_ = std::make_exception_ptr(std::runtime_error("the attempts at a message of " + frame_->source->name() +
                                                          " are used up: " + committer_.spent_reason()));
  } else if (error && is_untold_yet(error)) {
    // The folder of the dead letters could not be made: the next step tries again.
    co_await changed_.wait(get_scheduler()->now() + term_->session()->options().retry.max_pause);
  } else if (error) {
    may_not_commit_ = true;
    const bool is_told = is_cancelled(error) || error == errc::superseded || is_fatal(error);
    if (!is_told) error_ = error;
  }
  if (!error && !probation_.is_on()) window_.resize(frame_->options.window, frame_->options.parallel);
  is_committing_ = false;
  tell();
}

/// A coroutine that was started may end before the start returns, when nobody waits for the notification yet.
void delivery_run::tell() {
  has_news_ = true;
  changed_.notify();
}

void delivery_run::show() {
  using stage = message_in_hand::stage;
  const auto* oldest = window_.oldest();
  const auto age = oldest ? get_scheduler()->now() - oldest->received : lease_clock::duration::zero();
  frame_->board.change([&](queue_consumer_status& status) {
    status.in_hand = window_.working_count();
    status.finished = window_.count(stage::finished) + window_.count(stage::committing);
    status.held_back = window_.held_back();
    status.resting = window_.count(stage::resting);
    status.limited = limited_until_ == never ? 0 : window_.ready_count();
    status.oldest = std::chrono::duration_cast<std::chrono::milliseconds>(age);
    status.held_off = breaker_.is_open() ? breaker_.reason() : std::string();
  });
  if (std::exchange(is_told_open_, breaker_.is_open()) != breaker_.is_open())
    log_.held_off(breaker_.is_open(), breaker_.reason());
  if (const auto* hanging = committer_.hanging()) log_.stands_still(*hanging->what);
}

}  // namespace zkrecipes::detail
