// How a spooled producer is flushed and closed, and how it ends.
#include <utility>

#include <boost/asio/post.hpp>

#include "session/background.hpp"
#include "session/outcomes.hpp"
#include "spool/spool_state.hpp"

namespace zkrecipes::detail {

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
  release(*on_, life_.get());
}

void spool_state::drop() {
  std::vector<spool_put_ptr> arrived;
  {
    std::lock_guard lock(mutex_);
    arrived.swap(arrived_);
  }
  const auto waiting = std::exchange(waiting_, {});  // they may let go of the user's object
  const auto unwritten = std::exchange(buffer_, {});
  const auto through = std::exchange(through_, {});
}

}  // namespace zkrecipes::detail
