#include "rabbitmq/lone_put.hpp"

#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "session/forwarding.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

lone_put::lone_put(rabbit_frame_ptr frame, message what)
    : frame_(std::move(frame)),
      what_(std::move(what)),
      broker_(frame_),
      arrived_(frame_->broker.session->get_scheduler()) {}

awaitable<error_code> lone_put::run(lease_clock::time_point until) {
  const auto& session = frame_->broker.session;
  for (;;) {
    auto error = co_await broker_.ready(until);
    if (error) co_return error;
    const bool is_sent = send();
    if (is_sent) error = co_await answer();
    const bool is_rejected = !is_sent || error == rabbit_errc::unavailable;
    if (!is_rejected) co_return error;
    if (session->now() >= until) co_return rabbit_errc::unavailable;
    broker_.give_up(rabbit_errc::unavailable, "it has rejected a message, which is sent again");
  }
}

bool lone_put::send() {
  answer_.reset();
  auto* link = broker_.link();
  if (!link) return false;
  link->confirm([this](const amqp_confirm& what) { note(what.is_taken ? error_code() : rabbit_errc::unavailable); },
                [this](std::uint64_t) { note(rabbit_errc::missing_queue); }, [](const amqp_answer&) {});
  return link->publish(what_.queue, what_.id, what_.key, what_.data) != 0;
}

/// A message that comes back is confirmed afterwards.
void lone_put::note(const error_code& what) {
  if (!answer_) answer_ = what;
  arrived_.notify();
}

awaitable<error_code> lone_put::answer() {
  const forwarding connection_changes(broker_.changed(), arrived_);
  const auto deadline = frame_->broker.session->now() + frame_->options.timeout;
  while (!answer_ && broker_.is_up()) {
    const auto why = co_await arrived_.wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out && !answer_) broker_.give_up(rabbit_errc::unavailable, "no confirm in time");
  }
  if (answer_) co_return *answer_;
  const auto why = broker_.why();
  if (!why || may_recover_rabbit(why)) co_return errc::outcome_unknown;
  broker_.tell(log_severity::error, session_event::operation_failed, why, broker_.words());
  co_return why;
}

}  // namespace zkrecipes::detail
