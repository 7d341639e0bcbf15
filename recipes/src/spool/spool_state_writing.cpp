// The writer: the only one who changes the file.
#include <algorithm>
#include <utility>

#include <zkrecipes/spool/spooled_producer.hpp>

#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

namespace {

using namespace std::chrono_literals;

constexpr auto pause_of_file = 1s;
constexpr unsigned most_pauses = 600;  // ten minutes
constexpr std::size_t most_bytes_of_batch = std::size_t{4} << 20;

}  // namespace

awaitable<void> spool_state::write() {
  while (!is_over()) {
    co_await pause_behind_failure();
    if (is_over()) co_return;
    if (!is_open_) {
      co_await open_file();
    } else if (is_write_due()) {
      co_await write_batch();
    } else if (file_error_ && !is_ending_) {
      co_await write_batch();  // looks whether there is room
    } else if (is_ending_) {
      forget_file_failure();
      co_await finish();
    } else {
      co_await writer_.wait(next_write());
    }
  }
}

bool spool_state::is_write_due() const {
  if (is_lean_ && !is_ending_) return true;
  const bool in_haste = flushes_ > 0 || is_closing_ || stopped_;
  const auto to_remove = numbers_.put() - removed_;
  if (to_agree_ || to_remove >= (is_ending_ || is_removing_ ? 1 : options_.count)) return true;
  if (buffer_.empty()) return false;
  return in_haste || buffer_.size() >= options_.count || buffer_bytes_ >= most_bytes_of_batch ||
         buffer_bytes_ >= options_.most_memory / 4 || on_->now() >= buffer_.front()->due;
}

lease_clock::time_point spool_state::next_write() const { return buffer_.empty() ? never : buffer_.front()->due; }

awaitable<spool_answer> spool_state::ask_disk(condition& waiter, std::function<void(spool_disk::handler)> question) {
  auto mine = std::make_shared<std::optional<spool_answer>>();
  question([mine, &waiter, weak = weak_from_this()](spool_answer answer) {
    *mine = std::move(answer);
    if (auto self = weak.lock()) waiter.notify();
  });
  while (!*mine && !is_gone_) co_await waiter.wait();
  if (*mine) co_return std::move(**mine);
  spool_answer none;
  none.error = errc::closed;
  co_return none;
}

/// After a failure messages behind the last one that was confirmed are removed from the file: they were told to have
/// failed, or are still in the buffer. A corrupt file is read whole for each attempt, so those become rare.
awaitable<void> spool_state::open_file() {
  const auto keep = was_open_ ? std::optional(numbers_.spooled()) : std::nullopt;
  const bool looks = pauses_left_ == 0 || is_ending_;
  spool_answer answer;
  if (looks) {
    answer = co_await ask_disk(writer_, [&](spool_disk::handler done) { disk_->open(keep, std::move(done)); });
  } else {
    --pauses_left_;
    answer.error = file_error_;
    answer.trouble = file_trouble_;
  }
  if (is_gone_) co_return;
  const bool is_open = !answer.error || answer.stays_open;
  const bool has_lost = is_open && was_open_ && answer.extent.last < numbers_.spooled() && numbers_.lag() > 0;
  if (has_lost) {
    answer.error = spool_errc::corrupt;
    answer.stays_open = false;
    answer.trouble = options_.file + ": has lost messages that were confirmed: it ends with " +
                     std::to_string(answer.extent.last) + " instead of " + std::to_string(numbers_.spooled()) +
                     "; check the disk, and make a new producer, which goes on with what is left";
  }
  if (looks) {
    pauses_ = answer.error == spool_errc::corrupt ? std::min(2 * pauses_ + 1, most_pauses) : 0;
    pauses_left_ = pauses_;
  }
  if (is_open && !has_lost) take_up(answer);
  if (!answer.error) co_return;
  on_failed_write(answer);
  if (has_lost) stop(answer.error);
  if (!keeps_unwritten()) refuse_waiting(answer.error);
  if (is_ending_) end_writing();
}

/// Waits after a failed write, also if the file could be opened again: a full disk lets it be opened, and takes no
/// message.
awaitable<void> spool_state::pause_behind_failure() {
  if (!file_error_) co_return;
  const auto until = on_->deadline_of(pause_of_file);
  while (!is_over() && !is_ending_ && on_->now() < until) co_await writer_.wait(until);
}

/// Behind a failure, too: another attempt could fail for ever.
void spool_state::end_writing() {
  is_open_ = false;
  is_ended_ = true;
  target_->cancel();
  progress_.notify();
  sender_.notify();
  publish();
}

void spool_state::take_up(const spool_answer& answer) {
  const auto& found = answer.extent;
  is_open_ = true;
  is_lean_ = answer.is_lean;
  origin_ = found.origin;
  file_error_ = {};
  file_trouble_.clear();
  removed_ = found.put;
  if (!std::exchange(was_open_, true)) {
    numbers_.open(found);
    next_ = numbers_.put() + 1;
    bytes_ += found.bytes;
    if (numbers_.lag() > 0) age_.record(numbers_.spooled(), on_->now());
  }
  sender_.notify();
  progress_.notify();
  admit();
  publish();
}

/// The file has to be opened again, unless it stays open for want of room: then messages are put and removed as before.
void spool_state::on_file_failure(const spool_answer& answer) {
  is_open_ = answer.stays_open;
  file_error_ = answer.error;
  file_trouble_ = answer.trouble;
  publish();
}

/// The messages that wait to be written could not be written.
void spool_state::on_failed_write(const spool_answer& answer) {
  on_file_failure(answer);
  if (!answer.stays_open || !buffer_.empty()) {
    ++write_failures_;
    write_error_ = answer.error;
  }
  if (!keeps_unwritten()) refuse_unwritten(answer.error);
  progress_.notify();
  publish();
}

awaitable<void> spool_state::write_batch() {
  spool_change change;
  const auto count = next_batch(change);
  change.agrees = to_agree_.has_value();
  change.put = change.agrees ? to_agree_->put : numbers_.put();
  change.base = change.agrees ? to_agree_->base : numbers_.base();
  change.unsent_from = change.agrees ? 0 : numbers_.unsent_from(count > 0);
  // The file says from which message on none was ever sent (`unsent_from`). These are sent now, so that is taken back,
  // and synced, before: after a power failure it would be false.
  change.is_vital = change.agrees && (change.base != numbers_.base() || numbers_.unsent_from(false) != 0);
  change.is_measured = must_measure_ || (change.agrees && change.put != numbers_.put());
  bytes_put_before_ = bytes_put_;
  const bool only_looks = file_error_ && count == 0 && !change.agrees && change.put == removed_;
  if (only_looks) change.room = lacking_;
  auto answer = co_await ask_disk(writer_, [&](spool_disk::handler done) { disk_->commit(change, std::move(done)); });
  while (!is_gone_ && answer.stays_open && change.rows.size() > 1) {  // fewer may have room
    change.rows.resize(change.rows.size() / 2);
    answer = co_await ask_disk(writer_, [&](spool_disk::handler done) { disk_->commit(change, std::move(done)); });
  }
  if (is_gone_) co_return;
  if (!answer.error) {
    conclude(change, answer);
    co_return;
  }
  if (answer.stays_open) take_origin(answer);
  if (answer.stays_open && change.agrees && !change.is_vital) {  // the next run asks the queue, too
    must_measure_ = true;
    on_agreed();
    sender_.notify();
  }
  if (count > 0) lacking_ = size_of(change.rows);  // of one message
  on_failed_write(answer);
  if (is_ending_) end_writing();
}

/// The origin of this run stands in the file from the moment at which that is made ready.
void spool_state::take_origin(const spool_answer& answer) {
  if (is_lean_ && !answer.is_lean) origin_ = answer.extent.origin;
  is_lean_ = answer.is_lean;
}

void spool_state::forget_file_failure() {
  file_error_ = {};
  file_trouble_.clear();
  publish();
}

/// On a full disk messages are removed first, which makes room in the file.
std::size_t spool_state::next_batch(spool_change& change) const {
  const bool only_removes = is_lean_ || (file_error_ && (to_agree_ || numbers_.put() > removed_));
  if (only_removes) return 0;
  std::size_t bytes = 0;
  for (const auto& each : buffer_) {
    bytes += size_of(*each->row);
    const auto count = change.rows.size();
    if (count > 0 && (count == options_.count || bytes > most_bytes_of_batch)) break;
    each->row->number = numbers_.spooled() + count + 1;
    each->row->origin = origin_;
    change.rows.push_back(each->row);
  }
  return change.rows.size();
}

/// The sender may have put more meanwhile, but it does not while there is something to agree on. The queue may have
/// answered meanwhile too: then the file does not have that finding yet, and the next transaction brings it.
void spool_state::conclude(const spool_change& change, const spool_answer& answer) {
  const auto count = change.rows.size();
  take_origin(answer);
  if (!is_lean_) forget_file_failure();
  numbers_.on_spooled(count, change.unsent_from);
  removed_ = change.put;
  if (change.agrees) on_agreed();
  for (std::size_t i = 0; i < count; ++i) {
    buffer_bytes_ -= size_of(*buffer_.front()->row);
    on_written(buffer_.front());
    buffer_.pop_front();
  }
  if (change.is_measured) {
    bytes_ = answer.extent.bytes + buffer_bytes_ - (bytes_put_ - bytes_put_before_);
    must_measure_ = false;
  }
  sender_.notify();
  progress_.notify();
  admit();
  publish();
}

void spool_state::on_agreed() {
  numbers_.agree(*to_agree_);
  to_agree_.reset();
  next_ = numbers_.put() + 1;
  age_.forget(numbers_.put());
}

void spool_state::on_written(const spool_put_ptr& one) {
  const auto row = std::exchange(one->row, nullptr);  // the message is in the file, and need not be in memory too
  one->number = row->number;
  if (!one->is_through) {
    answers_.add(*one, {}, one->number);
  } else if (stopped_) {
    answers_.add(*one, stopped_, 0);
  } else {
    through_.push_back(one);
  }
  const auto size = size_of(*row);
  const bool is_next = numbers_.is_agreed() && row->number == next_ + outbox_.size();
  if (!is_next || (outbox_bytes_ > 0 && outbox_bytes_ + size > options_.most_memory / 2)) return;
  outbox_.push_back(row);
  outbox_bytes_ += size;
}

void spool_state::refuse_unwritten(const error_code& why) {
  for (auto& each : buffer_) answers_.add(*each, why, 0);
  buffer_.clear();
  bytes_ -= std::exchange(buffer_bytes_, 0);
  answers_.send(on_->base);
}

awaitable<void> spool_state::finish() {
  auto answer = co_await ask_disk(writer_, [&](spool_disk::handler done) { disk_->close(std::move(done)); });
  if (is_gone_) co_return;
  if (answer.error) on_file_failure(answer);
  end_writing();
}

}  // namespace zkrecipes::detail
