#include "queue/producer_state.hpp"

#include <algorithm>
#include <utility>

#include "backend/begin_once.hpp"
#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// Most bytes of a batch: well below the largest request that a server accepts (1 MiB by default).
constexpr std::size_t max_bytes = 256 * 1024;

/// Bytes of an item in a transaction besides its data: its name, and the ticket that a queue with a limit asks for.
std::size_t overhead_of_item(const queue_frame& frame) {
  const auto& options = frame.session->options();
  const auto path = options.root.size() + frame.where.items.size();
  std::size_t rights = 0;
  for (const auto& each : options.default_acl) rights += each.scheme.size() + each.id.size() + 12;
  const auto ticket = frame.options.limit != 0 ? 2 * path + rights + 250 : 0;
  return path + rights + 64 + ticket;
}

}  // namespace

producer_state::producer_state(shared_frame frame, std::shared_ptr<capacity> limits, std::string name,
                               producer_options options)
    : session_(frame->session),
      where_(frame->where),
      capacity_(std::move(limits)),
      options_(options),
      record_(session_, where_.on_side(std::string(producer_prefix) + name),
              [this] { return session_->ensure_path(where_.items); }),
      overhead_(overhead_of_item(*frame)),
      filled_(session_->get_scheduler()) {}

awaitable<outcome<std::uint64_t>> producer_state::put(std::string data) {
  if (is_too_large(data)) co_return outcome<std::uint64_t>(errc::too_large, 0);
  const auto& on = get_scheduler();
  auto mine = std::make_shared<item>(on, std::move(data), on->deadline_of(options_.linger));
  waiting_.push_back(mine);
  waiting_bytes_ += bytes_of(*mine);
  if (is_full()) filled_.notify();
  try {
    begin_once(working_,
               [this] { launch_detached(session_->strand(), owning(shared_from_this(), &producer_state::work)); });
  } catch (...) {  // no memory: the caller is told that it was not put
    forget(mine);
    throw;
  }
  while (!mine->done) {
    auto why = co_await mine->changed.wait();
    if (why != wake::cancelled) continue;
    mine->is_left = !session_->connected();
    if (mine->is_left && !mine->is_in_batch && !mine->done) forget(mine);
    co_return outcome<std::uint64_t>(asio::error::operation_aborted, 0);
  }
  co_return outcome<std::uint64_t>(mine->error, mine->number);
}

awaitable<outcome<std::uint64_t>> producer_state::last() {
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
    auto batch = next_batch();
    if (batch.empty()) break;  // all were given up
    for (const auto& each : batch) each->is_in_batch = true;
    const auto begun = batch;
    if (!error) error = co_await put_batch(batch);
    for (const auto& each : begun) each->is_in_batch = false;
    if (error) record_.invalidate();
    if (error && stops_at_failures_) batch.assign(waiting_.begin(), waiting_.end());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      batch[i]->done = true;
      batch[i]->error = error;
      if (!error) batch[i]->number = record_.last() - batch.size() + 1 + i;
      batch[i]->changed.notify();
      waiting_bytes_ -= bytes_of(*batch[i]);
      waiting_.pop_front();
    }
  }
  working_ = false;
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

/// An item that nobody waits for any more takes no memory for as long as there is no connection: it is not put.
void producer_state::forget(const item_ptr& which) {
  waiting_bytes_ -= bytes_of(*which);
  waiting_.erase(std::ranges::find(waiting_, which));
  filled_.notify();
}

/// Waits for more items until the batch is full or its first item is due, unless the session is over, because then no
/// batch is put any more.
awaitable<void> producer_state::fill_batch() {
  const forwarding session_changes(session_->changed(), filled_);
  const auto due = waiting_.front()->due;
  while (!is_full() && !session_->over() && session_->now() < due) co_await filled_.wait(due);
}

bool producer_state::is_full() const noexcept {
  return waiting_.size() >= options_.max_batch || waiting_bytes_ >= max_bytes;
}

std::vector<producer_state::item_ptr> producer_state::next_batch() const {
  std::vector<item_ptr> batch;
  std::size_t bytes = 0;
  for (const auto& each : waiting_) {
    bytes += bytes_of(*each);
    if (!batch.empty() && (batch.size() == options_.max_batch || bytes > max_bytes)) break;
    batch.push_back(each);
  }
  return batch;
}

/// If there is not room for the whole batch, it is shortened before it is sent for the first time.
awaitable<error_code> producer_state::put_batch(std::vector<item_ptr>& batch) {
  if (!record_.is_known()) {
    auto error = co_await record_.read();
    if (error) co_return error;
  }
  std::uint64_t before = record_.last();
  for (bool is_sent = false;; is_sent = true) {
    auto some = batch.size();
    auto entered = co_await capacity_->enter(some, is_sent);
    auto& [refusal, pass] = entered;
    if (refusal) co_return refusal;
    batch.resize(some);
    const std::uint64_t after = before + some;
    transaction all;
    record_.add_to(all, after);
    for (const auto& each : batch) {
      all.create(where_.item(where_.marker(0)), each->data, create_mode::persistent_sequential);
    }
    capacity_->guard(all);
    auto result = co_await session_->perform(backend::make_multi(all), retry::once);
    co_await capacity_->settle(result);  // its result is not needed: the record tells what became of the put
    if (!result.error) {
      record_.record_written(after, result.results[0].stat.version);
      capacity_->on_name(name_of(result.results[some].path));
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
    if (std::ranges::any_of(batch, &item::is_left)) co_return errc::connection_loss;
  }
}

}  // namespace zkrecipes::detail
