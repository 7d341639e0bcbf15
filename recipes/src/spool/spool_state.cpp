#include "spool/spool_state.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

#include "session/background.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

// How a spooled producer is flushed and closed, and how it ends.

/// Messages that were in the file before count too, so the last one is known only when the file is open and nothing
/// waits for room any more that came before the call.
awaitable<outcome<>> spool_state::flush(lease_clock::duration within) {
  take_in();  // what was put before this call
  const auto until = on_->deadline_of(within);
  const auto arrival = arrivals_;
  const auto failures = write_failures_;
  std::optional<std::uint64_t> through;
  if (was_open_ && !keeps_waiting(arrival)) through = accepted();
  error_code error;
  ++flushes_;
  writer_.notify();
  const auto is_put = [&] { return through && numbers_.put() >= *through; };
  while (!error && !is_put()) {
    error = co_await check_progress(until, failures);
    const bool is_refused = stopped_ || is_closing_;  // what waited for room
    if (!through && was_open_ && !is_refused && !keeps_waiting(arrival)) through = accepted();
  }
  --flushes_;
  co_return outcome<>(is_put() ? error_code() : error);
}

awaitable<error_code> spool_state::check_progress(lease_clock::time_point until, std::uint64_t failures) {
  if (stopped_) co_return stopped_;
  if (is_over()) co_return errc::closed;
  if (write_failures_ != failures && !keeps_unwritten()) co_return write_error_;
  const auto why = co_await progress_.wait(until);
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  co_return why == wake::timed_out ? make_error_code(errc::timed_out) : error_code();
}

awaitable<outcome<>> spool_state::close(lease_clock::duration within) {
  take_in();
  const auto until = on_->deadline_of(within);
  is_closing_ = true;
  refuse_waiting(errc::closed);
  writer_.notify();
  progress_.notify();
  const auto failures = write_failures_;
  error_code early;
  while (!early && (!was_open_ || lag() > 0) && !stopped_ && !is_over()) {
    const auto why = co_await progress_.wait(until);
    if (why == wake::cancelled) early = asio::error::operation_aborted;
    if (why == wake::timed_out) early = errc::timed_out;
    if (!early && write_failures_ != failures) early = write_error_;
  }
  co_await ignore_cancellation();
  is_ending_ = true;
  writer_.notify();
  sender_.notify();
  while (!is_over()) co_await progress_.wait();
  if (is_gone_) co_return outcome<>(errc::closed);
  disk_->stop();
  const auto result = end_of_close(early);
  refuse_unwritten(file_error_ ? file_error_ : errc::closed);
  refuse_through(errc::closed);
  co_return outcome<>(result);
}

/// How the file and the queue were left.
error_code spool_state::end_of_close(const error_code& early) const {
  if (file_error_) return file_error_;
  if (lag() == 0) return {};
  if (stopped_) return stopped_;
  return early ? early : errc::closed;  // closed: by another call, which tells why
}

/// Nothing is put any more. What was accepted still goes into the file.
void spool_state::stop(const error_code& why) {
  stopped_ = why;
  refuse_waiting(why);
  refuse_through(why);
  clear_outbox();
  writer_.notify();
  progress_.notify();
  publish();
}

void spool_state::refuse_through(const error_code& why) {
  for (auto& each : through_) answers_.add(*each, why, 0);
  through_.clear();
  answers_.send(on_->base);
}

void spool_state::abandon() noexcept {
  disk_->stop();
  if (!life_ || life_->is_over()) return;  // the context is shut down
  asio::post(on_->strand, [self = shared_from_this()] { self->leave(); });
}

void spool_state::leave() {
  take_in();
  is_gone_ = true;
  refuse_waiting(errc::closed);
  refuse_unwritten(errc::closed);
  refuse_through(errc::closed);
  writer_.notify();
  sender_.notify();
  progress_.notify();
  target_->cancel();
  release(on_->strand, life_.get());
}

void spool_state::drop() {
  std::vector<spool_put_ptr> arrived;
  {
    std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  let_go(waiting_);
  let_go(buffer_);
  let_go(through_);
}

void spool_numbers::open(const spool_extent& found) noexcept {
  put_ = found.put;
  spooled_ = found.last;
  base_ = found.base;
  unsent_from_ = found.unsent_from;
  bound_ = unsent_from_ != 0 ? unsent_from_ - 1 : spooled_;
}

/// Messages that are appended before the queue was asked have not been sent. The next run has to know that, if this one
/// ends before it could ask: the queue's number may be that of messages which the file never had.
std::uint64_t spool_numbers::unsent_from(bool appends) const noexcept {
  if (was_agreed_) return 0;
  return unsent_from_ == 0 && appends ? spooled_ + 1 : unsent_from_;
}

spool_numbers::finding spool_numbers::compare(std::uint64_t last_in_queue) const noexcept {
  const auto last = static_cast<std::int64_t>(last_in_queue);
  const auto reached = last + base_;
  const auto put = static_cast<std::int64_t>(put_);
  const auto bound = static_cast<std::int64_t>(bound_);
  using kind = finding::kind;
  if (reached < put) return {kind::anew, put_, put - last, static_cast<std::uint64_t>(put - reached)};
  if (reached <= bound) return {kind::expected, static_cast<std::uint64_t>(reached), base_, 0};
  const auto what = was_agreed_ ? kind::foreign : kind::gap;
  return {what, bound_, bound - last, static_cast<std::uint64_t>(reached - bound)};
}

void spool_numbers::agree(const finding& what) noexcept {
  put_ = what.put;
  base_ = what.base;
  unsent_from_ = 0;
  is_agreed_ = was_agreed_ = true;
}

void spool_numbers::go_on() noexcept {
  unsent_from_ = 0;
  is_agreed_ = was_agreed_ = true;
}

void spool_numbers::on_spooled(std::uint64_t count, std::uint64_t unsent_from) noexcept {
  spooled_ += count;
  unsent_from_ = unsent_from;
}

void spool_life::drop() {
  is_over_ = true;
  disk_->stop();
  if (auto state = whose_.lock()) state->drop();
}

void spool_state::check(const spool_options& options) {
  using namespace std::chrono_literals;
  const auto require = [](bool is_good, const char* option, const char* bounds) {
    if (!is_good) throw std::invalid_argument(std::string("spool_options::") + option + ": it must be " + bounds);
  };
  require(!options.file.empty() && options.file.find('\0') == std::string::npos, "file", "the name of a file");
  require(options.durability >= spool_durability::memory && options.durability <= spool_durability::power, "durability",
          "memory, process or power");
  require(options.count >= 1 && options.count <= 100'000, "count", "1 to 100 000");
  require(options.interval >= 0ms && options.interval <= 60s, "interval", "0 to 60 s");
  require(options.most_bytes >= 1, "most_bytes", "at least 1");
  require(options.most_messages >= 1, "most_messages", "at least 1");
  require(options.most_memory >= 1, "most_memory", "at least 1");
  require(options.when_full == spool_full::wait || options.when_full == spool_full::reject, "when_full",
          "wait or reject");
}

spool_state::spool_state(scheduler_ptr on, spool_options options, std::unique_ptr<spool_target> target,
                         std::shared_ptr<spool_disk> disk)
    : on_(std::move(on)),
      options_(std::move(options)),
      target_(std::move(target)),
      disk_(std::move(disk)),
      writer_(on_),
      sender_(on_),
      progress_(on_) {
  publish();
}

void spool_state::start() {
  life_ = std::make_shared<spool_life>(weak_from_this(), disk_);
  keep_until_shutdown(on_->strand, life_);
  launch_detached(on_->strand, owning(shared_from_this(), &spool_state::write));
  launch_detached(on_->strand, owning(shared_from_this(), &spool_state::send));
}

void spool_state::put(topic_caller::handler whose, spool_row what, bool is_through) {
  auto cancellation = asio::get_associated_cancellation_slot(whose);
  auto row = std::make_shared<spool_row>(std::move(what));
  auto mine = std::make_shared<spool_put>(spool_put{std::move(row), is_through, topic_caller(*on_, std::move(whose))});
  if (cancellation.is_connected()) {
    // The slot may outlive the context, so it has only weak pointers.
    cancellation.assign([weak_on = std::weak_ptr(on_), self = weak_from_this(), which = std::weak_ptr(mine)](auto) {
      auto on = weak_on.lock();
      if (on) asio::post(on->strand, [on, self, which] { cancel(on, self, which); });
    });
  }
  std::lock_guard lock(mutex_);
  mine->is_late = refuses_puts_;
  arrived_.push_back(std::move(mine));
  if (arrived_.size() == 1) asio::post(on_->strand, [self = shared_from_this()] { self->take_in(); });
}

void spool_state::refuse_puts() {
  std::lock_guard lock(mutex_);
  refuses_puts_ = true;
}

/// A put that waits for room is not accepted any more; of another one only the wait ends.
void spool_state::cancel(const scheduler_ptr& on, const std::weak_ptr<spool_state>& whose,
                         const std::weak_ptr<spool_put>& which) {
  auto self = whose.lock();
  auto alive = which.lock();
  if (!self || !alive) return;
  alive->is_cancelled = true;
  self->answers_.add(*alive, asio::error::operation_aborted, 0);
  self->answers_.send(on->base);
  self->sweep();
}

/// Those that were cancelled must not take memory for long.
void spool_state::sweep() {
  if (++cancelled_ * 2 < waiting_.size()) return;
  std::erase_if(waiting_, [](const spool_put_ptr& each) { return each->is_cancelled; });
  cancelled_ = 0;
  admit();
  publish();
}

void spool_state::take_in() {
  std::vector<spool_put_ptr> arrived;
  {
    std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  for (auto& each : arrived) {
    auto refusal = stopped_;
    if (!refusal && (each->is_late || is_over())) refusal = errc::closed;
    if (!refusal) refusal = target_->check(*each->row);
    if (refusal) {
      answers_.add(*each, refusal, 0);
    } else {
      each->arrival = ++arrivals_;
      waiting_.push_back(std::move(each));
    }
  }
  admit();
  publish();
}

/// Accepts in the order of arrival. Nothing is accepted before the file is known to be ours.
void spool_state::admit() {
  const auto before = waiting_.size();
  while (was_open_ && !waiting_.empty()) {
    auto& first = waiting_.front();
    const bool fits = first->is_cancelled || has_room(*first);
    if (!fits && options_.when_full == spool_full::wait) break;
    auto next = std::move(first);
    waiting_.pop_front();
    if (next->is_cancelled) continue;
    if (fits) {
      accept(std::move(next));
    } else {
      answers_.add(*next, errc::full, 0);
    }
  }
  if (waiting_.size() != before) progress_.notify();
  answers_.send(on_->base);
}

bool spool_state::has_room(const spool_put& one) const noexcept {
  const auto size = size_of(*one.row);
  const bool has_memory = buffer_.empty() || buffer_bytes_ + size <= options_.most_memory / 2;
  const bool has_space = lag() == 0 || (lag() < options_.most_messages && bytes_ + size <= options_.most_bytes);
  return has_memory && has_space;
}

void spool_state::accept(spool_put_ptr one) {
  const auto now = on_->now();
  const auto size = size_of(*one->row);
  one->due = end_of(options_.interval, now);
  buffer_bytes_ += size;
  bytes_ += size;
  buffer_.push_back(std::move(one));
  auto& mine = *buffer_.back();
  age_.record(accepted(), now);
  if (options_.durability == spool_durability::memory && !mine.is_through) answers_.add(mine, {}, accepted());
  if (buffer_.size() == 1 || is_write_due()) writer_.notify();
}

void spool_state::refuse_waiting(const error_code& why) {
  for (auto& each : waiting_) answers_.add(*each, why, 0);
  waiting_.clear();
  cancelled_ = 0;
  answers_.send(on_->base);
}

void spool_state::publish() {
  spool_status now;
  now.is_open = is_open_;
  now.accepted = accepted();
  now.spooled = numbers_.spooled();
  now.put = numbers_.put();
  now.lag = was_open_ ? lag() : spool_status::unknown;
  now.lag_bytes = was_open_ ? bytes_ : spool_status::unknown;
  now.memory = buffer_bytes_ + outbox_bytes_;
  now.waiting = waiting_.size();
  now.gap = gap_;
  describe_trouble(now);
  std::lock_guard lock(mutex_);
  status_ = std::move(now);
  oldest_ = age_.oldest();
}

void spool_state::describe_trouble(spool_status& now) const {
  now.error = file_error_ ? file_error_ : stopped_ ? stopped_ : target_error_;
  if (!now.error) now.error = outage_.error;
  now.trouble = file_trouble_;
  if (now.error && !file_error_) now.trouble = path() + ": " + now.error.message();
  if (outage_.error && !file_error_ && !stopped_)
    now.trouble += "; " + outage_.words + ". Messages are accepted as before, and put when it is over";
  if (!news_.empty()) now.trouble += (now.trouble.empty() ? "" : "\n") + news_;
}

spool_status spool_state::status() const {
  std::lock_guard lock(mutex_);
  auto all = status_;
  if (oldest_) all.oldest = std::chrono::duration_cast<std::chrono::milliseconds>(on_->now() - *oldest_);
  return all;
}

}  // namespace zkrecipes::detail
