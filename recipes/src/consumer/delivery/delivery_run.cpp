#include "delivery/delivery_run.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/system/system_error.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// The lane of a message: see `delivery_window`. By key it is the key, which is empty if it can not be told; with
/// `message_repeats` it is the name of the producer.
std::string lane_of(const queue_consumer_options& options, const message& what) {
  if (options.order == message_order::none) return what.name;
  if (options.order == message_order::strict) return {};
  try {
    if (!options.repeats) return options.key(what);
    auto origin = options.repeats->origin(what);
    return origin ? std::move(origin->producer) : std::string();
  } catch (...) {
    return {};
  }
}

}  // namespace

delivery_intake::delivery_intake(core_ptr session, delivery_frame& frame, delivery_window& window, probation& watch,
                                 parked_keys& parked, delivery_repeats& repeats, delivery_news& news)
    : session_(std::move(session)),
      frame_(frame),
      window_(window),
      probation_(watch),
      parked_(parked),
      repeats_(repeats),
      news_(news) {}

void delivery_intake::take_up_revived(bool is_committing) {
  if (!parked_.has_revived()) return;
  stop();
  if (is_reading() || is_committing) return;
  for (const auto& key : parked_.take_revived()) frame_.source->put_back(drop_lane(window_, key));
}

void delivery_intake::reopen(bool is_busy) {
  if (must_open_ || !frame_.source->is_outdated()) return;
  stop();
  if (is_reading() || is_busy) return;
  const auto lost = count_removed(window_.all());
  frame_.board.change([&](queue_consumer_status& status) { status.lost += lost; });
  for (const auto& each : drop_all(window_)) probation_.put_back(each);
  must_open_ = true;
}

void delivery_intake::read_on(const std::shared_ptr<void>& run, bool is_idle) {
  if (frame_.source->is_outdated() && !must_open_) return;
  if (parked_.has_revived()) return;
  const std::shared_ptr<delivery_intake> self(run, this);
  // While all places are taken by messages that rest, or the window is held off, nothing else would tell of a seek.
  const bool is_to_look = is_idle && frame_.source->wants_look();
  if (!is_receiving_ && (window_.room() > 0 || is_to_look)) {
    is_receiving_ = true;
    receiver_ = background();
    receiver_.run(session_->strand(), owning(self, &delivery_intake::receive));
  }
  if (!is_rereading_ && !window_.missing().empty()) {
    is_rereading_ = true;
    rereader_ = background();
    rereader_.run(session_->strand(), owning(self, &delivery_intake::read_missing));
  }
}

void delivery_intake::stop() {
  if (is_receiving_) receiver_.stop();
  if (is_rereading_) rereader_.stop();
}

awaitable<void> delivery_intake::receive() {
  outcome<std::vector<message>> received;
  auto& [error, messages] = received;
  if (std::exchange(must_open_, false)) error = co_await frame_.source->open();
  if (!error) error = co_await repeats_.prepare();
  if (!error) error = co_await probation_.prepare(*frame_.source);
  if (!error) error = co_await parked_.prepare(*frame_.source);  // before the list: what is revived in between waits
  if (!error) received = co_await frame_.source->receive(window_.room());
  if (error && !is_cancelled(error)) news_.error = error;
  const auto passed_over = frame_.source->take_passed_over();
  frame_.board.change([&](queue_consumer_status& status) {
    status.received += messages.size();
    status.passed_over += passed_over;
  });
  for (auto& each : messages) {
    auto lane = lane_of(frame_.options, each);
    const bool is_sound = frame_.source->problem_of(each.name).empty();
    window_.add(std::move(each), std::move(lane), session_->now(), is_sound);
  }
  is_receiving_ = false;
  news_.notify();
}

awaitable<void> delivery_intake::read_missing() {
  std::vector<std::uint64_t> missing;
  std::vector<std::string> names;
  for (const auto* each : window_.missing()) {
    missing.push_back(each->number);
    names.push_back(each->what->name);
  }
  auto read = co_await frame_.source->read_again(std::move(names));
  auto& [error, found] = read;
  if (error && !is_cancelled(error)) news_.error = error;
  for (std::size_t i = 0; !error && i < missing.size(); ++i) {
    auto* which = window_.find_waiting(missing[i]);
    if (!which) continue;  // it was declined meanwhile
    if (found[i]) {
      window_.load(*which, std::move(*found[i]));
    } else {
      frame_.board.change([](queue_consumer_status& status) { ++status.passed_over; });
      probation_.settled(which->what->name);
      window_.remove(*which);
    }
  }
  is_rereading_ = false;
  news_.notify();
}

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
      news_(get_scheduler()),
      probation_({}, 0),
      window_(limits_of(*frame_)),
      breaker_(window_, frame_->options),
      parked_(frame_->options),
      repeats_(term_->session(), *frame_),
      log_(term_->session(), *frame_),
      limit_(term_, *frame_),
      committer_(term_, *frame_, window_, breaker_, probation_, parked_, repeats_, log_, limit_),
      intake_(term_->session(), *frame_, window_, probation_, parked_, repeats_, news_),
      calls_(term_, std::move(executor),
             {*frame_, window_, breaker_, probation_, parked_, repeats_, log_, limit_, news_}) {}

awaitable<outcome<>> delivery_run::run() {
  const forwarding term_changes(term_->changed(), news_.changed);
  const forwarding session_changes(term_->session()->changed(), news_.changed);
  std::optional<forwarding> source_changes;
  if (auto* source = frame_->source->changed()) source_changes.emplace(*source, news_.changed);
  // Here, on the strand: a term can have several runs, and its notes change.
  probation_ = probation(term_->notes().present(), std::max<std::size_t>(frame_->options.window, 2));
  if (probation_.is_on()) window_.resize(1, 1);
  limit_.take_up();
  while (!is_over()) {
    news_.is_there = false;
    const auto now = get_scheduler()->now();  // one moment for all: one that passes meanwhile is still waited for
    step(now);
    if (!news_.is_there && !is_over()) co_await news_.changed.wait(next_time(now));
  }
  co_await frame_->source->close();
  const auto lost = count_removed(window_.all());
  frame_->board.change([&](queue_consumer_status& status) {
    status.lost += lost;
    status.in_hand = status.finished = status.held_back = status.resting = status.limited = 0;
    status.oldest = 0ms;
    status.held_off.clear();
  });
  co_return outcome<>(news_.error);
}

void delivery_run::step(lease_clock::time_point now) {
  if (term_->reason() == term_end::stalled) cut();  // here, too: a call that blocks its thread blocks the signal to it
  calls_.take_ended(now);
  limit_.forget_waiting();
  intake_.take_up_revived(is_committing_);
  intake_.reopen(is_committing_ || !calls_.empty());
  if (goes_on()) {
    calls_.evict(now);
    begin_messages(now);  // first, because it finds out which messages have to be read again
    intake_.read_on(shared_from_this(), calls_.empty() && !is_committing_ && !committer_.has_work());
  } else {
    intake_.stop();
    if (!is_committing_) drop_declined(window_);  // the successor declines them, or processes them
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
  if (!goes_on() && !may_commit() && !intake_.is_reading()) frame_->source->let_go();
  end_step();
}

void delivery_run::end_step() {
  term_->notes().set_suspects(probation_.suspects(), probation_.in_hand());
  term_->work().set_since(calls_.working_since());
  show();
}

/// Whether a call was begun that has not had its turn on the executor of the career yet. If it ends without suspending,
/// its message travels in the next commit, and so may those behind it. So messages that are processed at once make full
/// commits, where a commit takes long. The wait is at most a quarter of the time that the last commit took. Where
/// commits are quick there is none: then it is better to process messages while a short commit is under way.
bool delivery_run::expects_more(lease_clock::time_point now) {
  constexpr lease_clock::duration shortest_wait = 1ms;
  constexpr lease_clock::duration longest_wait = 10ms;
  if (!calls_.awaits_turn() || commit_took_ / 4 < shortest_wait) return false;
  if (commit_by_ == never) commit_by_ = now + std::min(commit_took_ / 4, longest_wait);
  if (now >= commit_by_) return false;
  calls_.report_turn(shared_from_this());
  return true;
}

bool delivery_run::goes_on() const {
  return !is_cut_ && !calls_.has_lapsed() && !news_.error && !failure_ && !term_->reason();
}

bool delivery_run::is_over() const {
  const bool is_busy = calls_.is_working() || intake_.is_reading() || is_committing_;
  if (goes_on() || is_busy) return false;
  return !may_commit() || !window_.stages().has_finished();
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
    consider(window_.stages().next_time());
    consider(committer_.figures().next_time());
    consider(limit_.held_off_until());
    consider(breaker_.next_probe());
    consider(limit_.limited_until());
    consider(calls_.next_eviction());
  }
  consider(calls_.next_look(now));
  if (is_cut_ && !may_not_commit_) consider(term_->end_by());
  consider(commit_by_);
  return next;
}

void delivery_run::begin_messages(lease_clock::time_point now) {
  if (now < limit_.held_off_until() || parked_.has_revived() || frame_->source->is_outdated()) return;
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
  } else if (!limit_.lets_through(next)) {
    probation_.retract();
    return false;
  } else if (is_removed_first) {
    window_.decide(next, message_outcome::done());
  } else if (!next.is_removed && probation_.must_be_named(*next.what) && !probation_.is_named(name)) {
    probation_.announce(name);
    return false;
  } else {
    probation_.begun(name);
    calls_.begin(next, shared_from_this());
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
    co_await news_.changed.wait(get_scheduler()->now() + term_->session()->options().retry.max_pause);
  } else if (error) {
    may_not_commit_ = true;
    const bool is_told = is_cancelled(error) || error == errc::superseded || is_fatal(error);
    if (!is_told) news_.error = error;
  }
  if (!error && !probation_.is_on()) window_.resize(frame_->options.window, frame_->options.parallel);
  is_committing_ = false;
  news_.notify();
}

void delivery_run::show() {
  using stage = message_in_hand::stage;
  const auto& all = window_.all();
  const auto& stages = window_.stages();
  using std::chrono::milliseconds;
  milliseconds age{0};
  if (!all.empty()) {
    const auto& first = all.begin()->second;
    age = std::chrono::duration_cast<milliseconds>(get_scheduler()->now() - first.received);
    const auto present = get_scheduler()->world->wall_clock().time_since_epoch();
    // A source of the user's may not know when the message was put.
    if (const milliseconds put(first.what->stat.ctime); put.count() > 0)
      age = std::max(age, std::chrono::duration_cast<milliseconds>(present) - put);
  }
  frame_->board.change([&](queue_consumer_status& status) {
    status.in_hand = stages.working_count();
    status.finished = stages.count(stage::finished) + stages.count(stage::committing);
    status.held_back = window_.lanes().held_back();
    status.resting = stages.count(stage::resting);
    status.limited = limit_.limited_until() == never ? 0 : window_.lanes().ready().size();
    status.oldest = age;
    status.held_off = breaker_.is_open() ? breaker_.reason() : std::string();
  });
  if (std::exchange(is_told_open_, breaker_.is_open()) != breaker_.is_open())
    log_.held_off(breaker_.is_open(), breaker_.reason());
  if (const auto* hanging = committer_.figures().hanging()) log_.stands_still(*hanging->what);
}

void delivery_run::cut() {
  if (std::exchange(is_cut_, true)) return;
  calls_.cut(term_->reason() == term_end::stalled);
  news_.changed.notify();
}

}  // namespace zkrecipes::detail
