// The operations that the users of a kept node wait for.
#include <utility>

#include "group/kept_node.hpp"
#include "session/request_size.hpp"

namespace zkrecipes::detail {

awaitable<outcome<>> kept_node::wait_started() {
  for (;;) {
    const auto now = status();
    if (finished_) co_return outcome<>(now.error);
    if (now.present && !now.error && written_ > 0) co_return outcome<>(error_code());
    // `session_expired` is not reported, because the node is made again in the next session.
    if (now.error && now.error != errc::session_expired) co_return outcome<>(now.error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<>> kept_node::set_data(std::string data) {
  if (is_too_large(data)) co_return outcome<>(errc::too_large);
  data_ = std::move(data);
  const auto mine = ++wanted_;
  const auto tries = tries_;
  changed_.notify();
  for (;;) {
    if (written_ >= mine) co_return outcome<>(error_code());
    const auto error = status().error;
    if (finished_) co_return outcome<>(error);
    if (tries_ > tries && error && error != errc::session_expired) co_return outcome<>(error);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
}

awaitable<outcome<persistent_node_status>> kept_node::wait_status_change(std::uint64_t seen) {
  for (;;) {
    const auto now = status();
    if (now.changes > seen) co_return outcome<persistent_node_status>(error_code(), now);
    if (finished_) co_return outcome<persistent_node_status>(errc::closed, now);
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<persistent_node_status>(asio::error::operation_aborted, now);
  }
}

awaitable<outcome<>> kept_node::close() {
  work_.stop();
  while (!finished_) {
    auto why = co_await changed_.wait();
    if (why == wake::cancelled) co_return outcome<>(asio::error::operation_aborted);
  }
  co_return outcome<>(end_);
}

awaitable<error_code> kept_node::wait_standing(recogniser may_go, lease_clock::duration patience) {
  auto deadline = never;
  for (;;) {
    auto started = co_await wait_started();
    const auto error = std::get<0>(started);
    if (error != errc::busy || !may_go || !may_go(in_the_way_)) co_return error;
    if (deadline == never) deadline = scheduler_->deadline_of(patience);
    auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) co_return error;
  }
}

}  // namespace zkrecipes::detail
