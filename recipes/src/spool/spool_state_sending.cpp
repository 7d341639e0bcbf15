// The sender: puts what is in the file.
#include <algorithm>
#include <numeric>
#include <utility>

#include "session/outcomes.hpp"
#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds shortest_pause = 100ms;
constexpr std::chrono::milliseconds longest_pause = 10s;
/// A connection that is lost is often back sooner, and a put of many messages takes longer. So the status tells an
/// outage when there is no connection after this time, and looks again so often.
constexpr std::chrono::milliseconds report_interval = 1s;

}  // namespace

awaitable<void> spool_state::send() {
  while (!is_over() && !stopped_) {
    if (was_open_ && !numbers_.is_agreed()) {
      co_await agree();
    } else if (numbers_.lag() > 0 && begins_origin()) {
      co_await remove_put();
    } else if (numbers_.lag() > 0 && !outbox_.empty()) {
      co_await put_some();
    } else if (numbers_.lag() > 0 && is_open_) {
      co_await fill_outbox();
    } else {
      co_await sender_.wait();
    }
  }
}

awaitable<spool_state::target_answer> spool_state::ask_target(std::function<void(spool_target::handler)> question) {
  auto mine = std::make_shared<std::optional<target_answer>>();
  question([mine, weak = weak_from_this()](error_code error, std::uint64_t number) {
    *mine = target_answer{error, number};
    if (auto self = weak.lock()) self->sender_.notify();
  });
  auto until = on_->deadline_of(report_interval);
  while (!*mine && !is_over()) {
    co_await sender_.wait(until);
    if (on_->now() < until) continue;
    until = on_->deadline_of(report_interval);
    outage_ = target_->outage();
    publish();
  }
  outage_ = {};
  co_return *mine ? **mine : target_answer{errc::closed};
}

/// Asks the queue how far it is. What follows is written to the file before anything is sent.
awaitable<void> spool_state::agree() {
  if (!target_->knows_last()) {
    go_on();
    co_return;
  }
  const auto answer = co_await ask_target([this](spool_target::handler done) { target_->last(std::move(done)); });
  if (is_over()) co_return;
  if (answer.error) {
    co_await rest(answer.error);
    co_return;
  }
  const auto found = numbers_.compare(answer.number);
  if (found.what == spool_numbers::finding::kind::foreign) {
    stop(errc::superseded);
    co_return;
  }
  to_agree_ = found;
  writer_.notify();
  while (to_agree_ && !is_over() && !stopped_) co_await sender_.wait();
  if (to_agree_) co_return;
  if (numbers_.lag() == 0) target_error_ = {};  // otherwise the next put tells
  record_finding(found);
  on_progress();
}

/// Nothing can be asked. What may have been put is put again, so nothing changes in the file.
void spool_state::go_on() {
  numbers_.go_on();
  next_ = numbers_.put() + 1;
}

bool spool_state::begins_origin() const noexcept {
  return !outbox_.empty() && outbox_.front()->origin != origin_sent_ && numbers_.put() > removed_;
}

/// Before the first message of an origin is sent, the file knows that those of the one before were put. So all that is
/// put again after a restart has one origin, however often the process is restarted: receivers remember few.
awaitable<void> spool_state::remove_put() {
  is_removing_ = true;
  writer_.notify();
  while (numbers_.put() > removed_ && !is_over() && !stopped_) co_await sender_.wait();
  is_removing_ = false;
}

void spool_state::record_finding(const spool_numbers::finding& what) {
  using kind = spool_numbers::finding::kind;
  if (what.what == kind::expected) return;
  const auto count = std::to_string(what.count) + " messages";
  if (what.what == kind::gap) {
    gap_ += what.count;
    news_ = path() + " has " + count + " that " + options_.file +
            " does not know: it is new, an older copy, or has lost its end, or another producer used the name. It goes "
            "on behind them; what the missing file had and the queue has not is lost";
  } else {
    news_ = path() + " does not know any more of " + count + " that " + options_.file +
            " has put: it was removed, or is an older copy. The numbers there begin anew";
  }
}

awaitable<void> spool_state::fill_outbox() {
  const auto room = std::max<std::size_t>(options_.most_memory / 2, outbox_bytes_ + 1) - outbox_bytes_;
  const auto bytes = std::min(room, target_->most_bytes());
  const auto from = next_;
  // Not what is being written, or what could not be written and is still to be removed.
  const auto most = std::min<std::uint64_t>(target_->most_messages(), numbers_.spooled() + 1 - from);
  auto answer =
      co_await ask_disk(sender_, [&](spool_disk::handler done) { disk_->load(from, most, bytes, std::move(done)); });
  if (is_over() || stopped_) co_return;
  if (answer.error) {
    on_file_failure(answer);
    writer_.notify();
    co_return;
  }
  for (auto& each : answer.rows) {
    outbox_bytes_ += size_of(each);
    outbox_.push_back(std::make_shared<spool_row>(std::move(each)));
  }
  publish();
}

/// The rows are moved out: if the put fails they are read from the file again. After a failure of a target that does
/// not know what was put the first message goes alone, because those behind it could be repeated with each attempt.
std::vector<spool_row> spool_state::next_to_put() {
  std::vector<spool_row> all;
  std::size_t bytes = 0;
  const auto most = is_probing_ ? 1 : target_->most_messages();
  while (!outbox_.empty() && all.size() < most) {
    if (!all.empty() && outbox_.front()->origin != all.front().origin) break;
    bytes += size_of(*outbox_.front());
    if (bytes > target_->most_bytes() && !all.empty()) break;
    all.push_back(std::move(*outbox_.front()));
    outbox_.pop_front();
  }
  return all;
}

awaitable<void> spool_state::put_some() {
  auto some = next_to_put();
  const auto count = some.size();
  std::vector<std::size_t> sizes;
  for (const auto& each : some) sizes.push_back(size_of(each));
  origin_sent_ = some.front().origin;
  const bool may_be_late = numbers_.is_unclear();
  numbers_.on_sent(count);
  next_ += count;
  const auto answer =
      co_await ask_target([&](spool_target::handler done) { target_->put(std::move(some), std::move(done)); });
  if (is_over()) co_return;
  const bool is_known = !answer.error || !target_->knows_last();
  const auto put = is_known ? std::min<std::uint64_t>(answer.number, count) : 0;
  const auto end = sizes.begin() + static_cast<std::ptrdiff_t>(put);
  if (!answer.error && put == count) {
    pause_ = {};
    target_error_ = {};
    is_probing_ = false;
    on_put(count, std::reduce(sizes.begin(), end));
  } else {
    if (!target_->knows_last()) {
      is_probing_ = true;
      on_put(put, std::reduce(sizes.begin(), end));
    }
    clear_outbox();
    co_await handle_failed_put(answer.error ? answer.error : make_error_code(errc::outcome_unknown), may_be_late);
  }
}

void spool_state::on_put(std::uint64_t count, std::size_t bytes) {
  numbers_.on_put(count);
  outbox_bytes_ -= std::min(bytes, outbox_bytes_);  // `stop` has cleared the outbox, perhaps
  bytes_ -= bytes;
  bytes_put_ += bytes;
  on_progress();
}

void spool_state::on_progress() {
  age_.forget(numbers_.put());
  while (!through_.empty() && through_.front()->number <= numbers_.put()) {
    answers_.add(*through_.front(), {}, through_.front()->number);
    through_.pop_front();
  }
  if (is_write_due()) writer_.notify();
  progress_.notify();
  admit();
  publish();
}

/// Somebody else has put something, unless a put of ours that failed before was done late: then the queue's number is
/// one that we have sent.
awaitable<void> spool_state::handle_failed_put(error_code why, bool may_be_late) {
  if (why == errc::superseded && !may_be_late) {
    stop(why);
    co_return;
  }
  numbers_.record_failure();
  co_await rest(why);
}

awaitable<void> spool_state::rest(error_code why) {
  if (forbids_retry(why)) {
    stop(why);
    co_return;
  }
  target_error_ = why;
  publish();
  pause_ = std::clamp(pause_ * 2, shortest_pause, longest_pause);
  const auto until = on_->deadline_of(pause_);
  while (!is_over() && !stopped_ && !is_ending_ && on_->now() < until) co_await sender_.wait(until);
}

void spool_state::clear_outbox() {
  outbox_.clear();
  outbox_bytes_ = 0;
}

}  // namespace zkrecipes::detail
