#include "spool/spool_state.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>

namespace zkrecipes::detail {

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
  keep_until_shutdown(*on_, life_);
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
