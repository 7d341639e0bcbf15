#include "queue/producer_state.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "backend/begin_once.hpp"
#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// Most bytes of a batch: well below the largest request that a server accepts.
std::size_t longest_batch(const queue_frame& frame) {
  return std::min<std::size_t>(256 * 1024, frame.session->options().jute_maxbuffer / 2);
}

/// Bytes of an item in a transaction besides its data: its name, and the ticket that a queue with a limit asks for.
std::size_t overhead_of_item(const queue_frame& frame) {
  const auto& options = frame.session->options();
  const auto path = frame.session->root().size() + frame.where.items.size();
  std::size_t rights = 0;
  for (const auto& each : options.default_acl) rights += each.scheme.size() + each.id.size() + 12;
  const auto ticket = frame.options.limit != 0 ? 2 * path + rights + 250 : 0;
  return path + rights + 64 + ticket;
}

}  // namespace

producer_state::producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name,
                               producer_options options, persistence how_long)
    : session_(frame->session),
      where_(frame->where),
      capacity_(std::move(limits)),
      options_(options),
      how_long_(how_long),
      record_(session_, where_.on_side(std::string(producer_prefix) + name),
              [this] { return session_->ensure_path(where_.items); }),
      overhead_(overhead_of_item(*frame)),
      most_bytes_(longest_batch(*frame)),
      filled_(session_->get_scheduler()) {}

void producer_state::put(handler whose, std::vector<topic_message> what, bool is_many) {
  launch(*session_->get_scheduler(), std::move(whose),
         owning(shared_from_this(), &producer_state::put_items, std::move(what), is_many), how_long_);
}

void producer_state::last(handler whose) {
  launch(*session_->get_scheduler(), std::move(whose), owning(shared_from_this(), &producer_state::read_last),
         how_long_);
}

awaitable<outcome<std::uint64_t>> producer_state::put_items(std::vector<topic_message> what, bool is_many) {
  for (const auto& each : what) {
    if (!each.key.empty()) co_return outcome<std::uint64_t>(errc::bad_arguments, 0);
    if (is_too_large(each.data)) co_return outcome<std::uint64_t>(errc::too_large, 0);
  }
  if (what.empty()) co_return outcome<std::uint64_t>(error_code(), 0);
  const auto& on = session_->get_scheduler();
  const auto mine = std::make_shared<call>(on, what.size());
  const auto due = on->deadline_of(options_.linger);
  try {
    for (auto& each : what) {
      waiting_.push_back({mine, std::move(each.data), due, ++last_place_});
      if (mine->waiting++ == 0) mine->first = std::prev(waiting_.end());
      waiting_bytes_ += bytes_of(waiting_.back());
    }
    what = std::vector<topic_message>();  // this waits until all are put
    if (is_full()) filled_.notify();
    begin_once(working_,
               [this] { launch_detached(session_->strand(), owning(shared_from_this(), &producer_state::work)); });
  } catch (...) {  // no memory: the caller is told that nothing was put
    forget(*mine);
    throw;
  }
  while (!mine->is_over()) {
    auto why = co_await mine->changed.wait();
    if (why != wake::cancelled) continue;
    mine->is_left = !session_->connected();
    if (mine->is_left && !mine->is_over()) forget(*mine);
    co_return outcome<std::uint64_t>(asio::error::operation_aborted, is_many ? mine->put : 0);
  }
  co_return outcome<std::uint64_t>(mine->error, is_many ? mine->put : mine->number);
}

awaitable<outcome<std::uint64_t>> producer_state::read_last() {
  auto seen = record_;  // a batch under way goes by the version that we knew when it was sent
  seen.invalidate();
  auto error = co_await seen.read();
  if (!error && !working_ && !record_.is_known()) record_ = seen;
  co_return outcome<std::uint64_t>(error, seen.last());
}

/// Puts one batch after the other. Items that arrive meanwhile go into the next batch.
awaitable<void> producer_state::work() {
  while (!waiting_.empty()) {
    co_await fill_batch();
    auto error = co_await make_ready();
    auto count = next_batch();
    if (count == 0) break;  // all were given up
    last_in_batch_ = std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(count) - 1)->place;
    if (!error) error = co_await put_batch(count);
    last_in_batch_ = 0;
    if (error) record_.invalidate();
    conclude(count, error);
  }
  working_ = false;
}

/// The first of those that wait were put, or can not be, nor can those behind them in the same call.
void producer_state::conclude(std::size_t count, const error_code& error) {
  auto number = record_.last() - count;
  std::shared_ptr<call> of;
  for (; count > 0; --count) {
    waiting_bytes_ -= bytes_of(waiting_.front());
    of = std::move(waiting_.front().of);
    waiting_.pop_front();
    of->first = waiting_.begin();
    --of->waiting;
    of->error = error;
    if (!error) {
      ++of->put;
      of->number = ++number;
    }
    if (of->is_over()) of->changed.notify();
  }
  // The rest of the call is in front of the others.
  if (error && of->waiting > 0) forget(*of);
}

/// Ahead of the batch: what waits for a connection is in none, so it is never sent behind its error.
awaitable<error_code> producer_state::make_ready() {
  const forwarding session_changes(session_->changed(), filled_);
  const auto until = session_->retry_deadline();
  while (!session_->connected() && !session_->over() && !waiting_.empty()) {
    if (session_->now() >= until) co_return backend::not_sent();
    co_await filled_.wait(until);
  }
  if (record_.is_known() || waiting_.empty()) co_return error_code();
  co_return co_await record_.read(until);
}

/// What nobody waits for any more takes no memory for as long as there is no connection: it is not put.
void producer_state::forget(call& which) {
  auto left = which.waiting;
  auto each = which.first;
  for (; left > 0 && each->place <= last_in_batch_; --left) ++each;
  for (; left > 0; --left) {
    waiting_bytes_ -= bytes_of(*each);
    each = waiting_.erase(each);
    --which.waiting;
  }
  filled_.notify();
}

/// Waits for more items until the batch is full or its first item is due, unless the session is over, because then no
/// batch is put any more.
awaitable<void> producer_state::fill_batch() {
  const forwarding session_changes(session_->changed(), filled_);
  const auto due = waiting_.front().due;
  while (!is_full() && !session_->over() && session_->now() < due) co_await filled_.wait(due);
}

bool producer_state::is_full() const noexcept {
  return waiting_.size() >= options_.max_batch || waiting_bytes_ >= most_bytes_;
}

/// So many items, from the first on, are in it.
std::size_t producer_state::next_batch() const {
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (const auto& each : waiting_) {
    bytes += bytes_of(each);
    if (count > 0 && (count == options_.max_batch || bytes > most_bytes_)) break;
    ++count;
  }
  return count;
}

/// If there is not room for the whole batch, it is shortened before it is sent for the first time.
awaitable<error_code> producer_state::put_batch(std::size_t& count) {
  if (!record_.is_known()) {
    auto error = co_await record_.read();
    if (error) co_return error;
  }
  std::uint64_t before = record_.last();
  for (bool is_sent = false;; is_sent = true) {
    auto some = count;
    auto entered = co_await capacity_->enter(some, is_sent);
    auto& [refusal, pass] = entered;
    if (refusal) co_return refusal;
    count = some;
    const std::uint64_t after = before + count;
    transaction all;
    record_.add_to(all, after);
    auto next = waiting_.begin();
    for (std::size_t i = 0; i < count; ++i, ++next) {
      all.create(where_.item(where_.marker(0)), next->data, create_mode::persistent_sequential);
    }
    capacity_->guard(all);
    auto result = co_await session_->perform(backend::make_multi(all), retry::once);
    co_await capacity_->settle(result);  // its result is not needed: the record tells what became of the put
    if (!result.error) {
      record_.record_written(after, result.results[0].stat.version);
      capacity_->on_name(name_of(result.results[count].path));
      co_return error_code();
    }
    const bool is_wiped = result.error == errc::no_node;  // an operator removed the queue: create it again
    if (!may_have_happened(result.error) && result.error != errc::bad_version && !is_wiped) co_return result.error;
    error_code error;
    if (is_wiped) error = co_await session_->ensure_path(where_.items);
    if (!error || may_have_happened(error)) error = co_await record_.read();
    if (error) co_return error;
    if (is_wiped && record_.last() < before) before = record_.last();
    if (record_.last() == after && record_.is_ours()) co_return error_code();
    if (record_.last() != before) co_return errc::superseded;
    // Somebody was told that it is open, and may put it again by what the record says now.
    const auto end = std::next(waiting_.begin(), static_cast<std::ptrdiff_t>(count));
    if (std::any_of(waiting_.begin(), end, [](const item& each) { return each.of->is_left; }))
      co_return errc::connection_loss;
  }
}

}  // namespace zkrecipes::detail
