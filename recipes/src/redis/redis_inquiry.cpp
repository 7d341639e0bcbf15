#include "redis/redis_inquiry.hpp"

#include <utility>

#include "session/forwarding.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

redis_inquiry::redis_inquiry(redis_connection& by, const scheduler_ptr& on)
    : by_(by), number_(by.number()), state_(std::make_shared<state>(on)) {}

void redis_inquiry::ask(const std::vector<std::string>& command, taker take) {
  ++state_->awaited;
  by_.send(command, [shared = state_, take = std::move(take)](const redisReply* reply) {
    shared->arrived.notify();
    if (!reply) return;  // the connection has ended
    --shared->awaited;
    take(*reply);
  });
}

awaitable<outcome<bool>> redis_inquiry::replies(lease_clock::time_point by) {
  const forwarding connection_changes(by_.changed(), state_->arrived);
  while (state_->awaited > 0 && by_.is_up() && by_.number() == number_) {
    const auto why = co_await by_.wait_for_answer(state_->arrived, by, "no answer in time");
    if (why == wake::cancelled) by_.close();
    if (why == wake::cancelled) co_return failed<bool>(asio::error::operation_aborted);
  }
  co_return outcome<bool>(error_code(), state_->awaited == 0);
}

}  // namespace zkrecipes::detail
