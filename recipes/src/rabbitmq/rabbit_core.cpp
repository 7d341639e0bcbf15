#include "rabbitmq/rabbit_core.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbit_connection.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

/// Counts what waits in the queues.
/// It asks for many queues at once. The broker answers in order, up to the first one that is missing, and reads nothing
/// behind it until the channel was opened anew. So a missing queue costs a round trip. On the strand, with a connection
/// of its own.
class queue_census {
 public:
  explicit queue_census(rabbit_frame_ptr frame);

  /// Each shard, in order; none with an error. Errors: `operation_aborted`, and those of `broker_connection::ready`;
  /// `unavailable` when the time is over.
  awaitable<error_code> count(std::vector<source_lag>& into, lease_clock::time_point until);

 private:
  static constexpr std::uint32_t most_at_once = 100;

  void ask();
  void on_answer(std::uint32_t shard, const amqp_answer& answer);
  awaitable<error_code> answers();
  error_code judge();

  rabbit_frame_ptr frame_;
  rabbit_connection broker_;
  condition arrived_;
  std::vector<source_lag> found_;
  std::uint32_t at_once_ = most_at_once;  // queues that are asked for next
  std::size_t asked_ = 0;
  std::size_t awaited_ = 0;
  amqp_answer refusal_;  // the first one of what was asked last
};

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

namespace {

constexpr std::size_t longest_producer_name = 200;  // the id of a message has at most 255 bytes

}  // namespace

void require_producer_name(const std::string& name) {
  require_name("producer name", name);
  if (name.size() > longest_producer_name) throw std::invalid_argument("producer name: it must have at most 200 bytes");
}

/// Puts one message into a queue, outside of any producer.
/// On the strand, with a connection of its own.
class lone_put {
 public:
  struct message {
    std::string queue;
    std::string id;
    std::string key;
    std::string data;
  };

  lone_put(rabbit_frame_ptr frame, message what);

  /// Puts it once. A message that the broker rejects is put again, until this time. Errors: `outcome_unknown` (no
  /// answer), `missing_queue`, `operation_aborted`, and those of `broker_connection::ready`.
  awaitable<error_code> run(lease_clock::time_point until);

 private:
  bool send();
  void on_result(const error_code& what);
  awaitable<error_code> answer();

  rabbit_frame_ptr frame_;
  message what_;
  rabbit_connection broker_;
  condition arrived_;
  std::optional<error_code> answer_;
};

lone_put::lone_put(rabbit_frame_ptr frame, message what)
    : frame_(std::move(frame)), what_(std::move(what)), broker_(frame_), arrived_(frame_->session->get_scheduler()) {}

awaitable<error_code> lone_put::run(lease_clock::time_point until) {
  const auto& session = frame_->session;
  for (;;) {
    auto error = co_await broker_.ready(until);
    if (error) co_return error;
    const bool is_sent = send();
    if (is_sent) error = co_await answer();
    const bool is_rejected = !is_sent || error == rabbit_errc::unavailable;
    if (!is_rejected) co_return error;
    if (session->now() >= until) co_return rabbit_errc::unavailable;
    broker_.give_up(rabbit_errc::unavailable, "the broker has rejected a message; the message is sent again");
  }
}

bool lone_put::send() {
  answer_.reset();
  auto* link = broker_.link();
  if (!link) return false;
  link->confirm(
      [this](const amqp_confirm& what) { on_result(what.is_taken ? error_code() : rabbit_errc::unavailable); },
      [this](std::uint64_t) { on_result(rabbit_errc::missing_queue); }, [](const amqp_answer&) {});
  return link->publish(what_.queue, what_.id, what_.key, what_.data) != 0;
}

/// A message that comes back is confirmed afterwards.
void lone_put::on_result(const error_code& what) {
  if (!answer_) answer_ = what;
  arrived_.notify();
}

awaitable<error_code> lone_put::answer() {
  const forwarding connection_changes(broker_.changed(), arrived_);
  const auto deadline = frame_->session->now() + frame_->options.timeout;
  while (!answer_ && broker_.is_up()) {
    const auto why = co_await arrived_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out && !answer_)
      broker_.give_up(rabbit_errc::unavailable, "the broker has not confirmed a message in time");
  }
  if (answer_) co_return *answer_;
  const auto why = broker_.why();
  if (!why || may_recover_rabbit(why)) co_return errc::outcome_unknown;
  broker_.write_log(log_severity::error, session_event::operation_failed, why, broker_.words());
  co_return why;
}

awaitable<error_code> rabbit_core::read_lags(std::string, std::vector<source_lag>& into) {
  queue_census counting(queues_);
  co_return co_await counting.count(into, queues_->session->retry_deadline());
}

awaitable<outcome<>> rabbit_core::put_back(std::uint32_t shard, std::string group, dead_letter which) {
  if (is_too_large_for_queue(which.key, which.data)) return refuse<>(errc::too_large);
  return source_core::put_back(shard, std::move(group), std::move(which));
}

/// The id is that of no other letter: one commit can make several, and another node can have the same name later.
awaitable<error_code> rabbit_core::put(std::uint32_t shard, dead_letter which, std::int64_t made) {
  lone_put::message what;
  what.queue = queues_->queue(shard);
  what.id = "zkr-letter:" + std::to_string(made) + ':' + which.name;
  what.key = which.key;
  what.data = which.data;
  lone_put putting(queues_, std::move(what));
  co_return co_await putting.run(queues_->session->retry_deadline());
}

}  // namespace zkrecipes::detail
