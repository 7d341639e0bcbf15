#include "rabbitmq/queue_census.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "session/forwarding.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

queue_census::queue_census(rabbit_frame_ptr frame)
    : frame_(std::move(frame)), broker_(frame_), arrived_(frame_->session->get_scheduler()) {}

awaitable<error_code> queue_census::count(std::vector<source_lag>& into, lease_clock::time_point until) {
  const auto& session = frame_->session;
  error_code error;
  while (!error && found_.size() < frame_->shards) {
    error = co_await broker_.ready(until);
    if (error) break;
    ask();
    error = co_await answers();
    if (!error) error = judge();
    const bool is_passing = error && may_recover_rabbit(error) && session->now() < until;
    if (is_passing) error.clear();
  }
  if (!error) into = std::move(found_);
  co_return error;
}

void queue_census::ask() {
  refusal_ = {};
  asked_ = 0;
  awaited_ = 0;
  const auto from = static_cast<std::uint32_t>(found_.size());
  const auto to = std::min(from + at_once_, frame_->shards);
  for (auto shard = from; shard < to; ++shard) {
    auto* link = broker_.link();
    if (!link) return;
    ++asked_;
    ++awaited_;
    link->count(frame_->queue(shard), [this, shard](const amqp_answer& answer) { on_answer(shard, answer); });
  }
}

/// Only the first refusal says something of its queue: the broker has not read what was asked behind it.
void queue_census::on_answer(std::uint32_t shard, const amqp_answer& answer) {
  --awaited_;
  arrived_.notify();
  if (refusal_.error) return;
  if (answer.error)
    refusal_ = answer;
  else
    found_.push_back({.shard = shard, .messages = answer.messages, .consumers = answer.consumers});
}

awaitable<error_code> queue_census::answers() {
  const forwarding connection_changes(broker_.changed(), arrived_);
  const auto by = frame_->session->now() + frame_->options.timeout;
  while (awaited_ > 0 && broker_.is_up()) {
    const auto why = co_await broker_.wait_for_answer(arrived_, by, "no answer in time");
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
  }
  co_return error_code();
}

/// What the answers mean for the rest.
error_code queue_census::judge() {
  const bool is_complete = asked_ > 0 && awaited_ == 0;
  if (!refusal_.error && is_complete) {
    broker_.on_success();
    at_once_ = std::min(2 * at_once_, most_at_once);
    return {};
  }
  if (refusal_.error == rabbit_errc::missing_queue) {
    found_.push_back({.shard = static_cast<std::uint32_t>(found_.size()), .is_missing = true});
    broker_.on_success();
    at_once_ = 1;  // a missing one is seldom alone
    return {};
  }
  if (!refusal_.error || may_recover_rabbit(refusal_.error)) return rabbit_errc::unavailable;
  broker_.write_log(log_severity::error, session_event::operation_failed, refusal_.error, refusal_.words);
  return refusal_.error;
}

}  // namespace zkrecipes::detail
