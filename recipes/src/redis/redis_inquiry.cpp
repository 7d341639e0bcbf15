#include "redis/redis_inquiry.hpp"

#include <algorithm>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/stream_replies.hpp"
#include "session/condition.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

void redis_question::answer(const redisReply& reply) {
  ++answered;
  error = take(reply);
  if (error) words = words_of(reply);
}

awaitable<error_code> ask_broker(redis_frame_ptr frame, redis_connection& by, redis_questions all, bool may_repeat,
                                 lease_clock::time_point until) {
  const auto& session = frame->session;
  for (;;) {
    auto error = co_await by.ready(until);
    if (error) co_return error;
    redis_inquiry asking(by, session->get_scheduler());
    for (const auto& each : all) {
      ++each->sent;
      asking.ask(each->command, [each](const redisReply& reply) { each->answer(reply); });
    }
    auto asked = co_await asking.replies(session->now() + frame->options.timeout);
    const auto& [failure, is_complete] = asked;
    if (failure) co_return failure;
    if (!is_complete && !may_repeat) co_return errc::outcome_unknown;
    const auto bad = std::ranges::find_if(all, [](const auto& each) { return bool(each->error); });
    if (is_complete && bad == all.end()) {
      by.on_success();
      co_return error_code();
    }
    error = bad == all.end() ? make_error_code(redis_errc::unavailable) : (*bad)->error;
    if (!may_recover(error)) by.write_log(log_severity::error, session_event::operation_failed, error, (*bad)->words);
    if (!may_recover(error) || session->now() >= until) co_return error;
    if (bad != all.end()) by.give_up(error, (*bad)->words);
  }
}

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
