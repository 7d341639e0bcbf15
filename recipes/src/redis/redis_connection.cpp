#include "redis/redis_connection.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/reply_text.hpp"
#include "redis/stream_replies.hpp"

namespace zkrecipes::detail {

/// The replies to the first commands of a connection.
struct redis_connection::greeting {
  std::vector<std::vector<std::string>> commands{};
  std::vector<int> types{};
  std::size_t answered = 0;
  error_code error{};
  std::string detail{};
};

redis_connection::redis_connection(redis_frame_ptr frame, retries with)
    : broker_connection(broker_frame_ptr(frame, &frame->broker), with), frame_(std::move(frame)) {}

std::shared_ptr<broker_link> redis_connection::make_link(std::unique_ptr<backend::broker_stream> over,
                                                         std::function<void()> changed) {
  const auto& scheduler = frame_->broker.session->get_scheduler();
  return std::make_shared<redis_link>(scheduler, std::move(over), std::move(changed));
}

void redis_connection::send(const std::vector<std::string>& command, redis_link::reply_handler handler) {
  if (auto* link = static_cast<redis_link*>(present_link())) link->send(command, std::move(handler));
}

void redis_connection::prepare(const std::vector<std::string>& command, redis_link::reply_handler handler) {
  if (auto* link = static_cast<redis_link*>(present_link())) link->prepare(command, std::move(handler));
}

/// Authenticates, selects the database, and asks whether the broker is a primary, in one round trip.
awaitable<error_code> redis_connection::greet(lease_clock::time_point deadline) {
  auto first = std::make_shared<greeting>();
  const auto& options = frame_->options;
  const auto add = [&first](std::vector<std::string> command, int type) {
    first->commands.push_back(std::move(command));
    first->types.push_back(type);
  };
  std::vector<std::string> auth{"AUTH", options.password};
  if (!options.user.empty()) auth.insert(auth.begin() + 1, options.user);
  if (!options.password.empty()) add(std::move(auth), REDIS_REPLY_STATUS);
  if (options.database != 0) add({"SELECT", std::to_string(options.database)}, REDIS_REPLY_STATUS);
  add({"ROLE"}, REDIS_REPLY_ARRAY);
  for (std::size_t step = 0; step < first->commands.size(); ++step) {
    send(first->commands[step], [this, first, step](const redisReply* reply) { on_answer(*first, step, reply); });
  }
  const auto* link = present_link();
  while (first->answered < first->commands.size() && !first->error && !link->is_over()) {
    const auto why = co_await changed().wait(deadline);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::notified) continue;
    record_detail("no answer within " + std::to_string(frame_->broker.timeout.count()) + " ms");
    co_return redis_errc::unavailable;
  }
  const bool is_lost = !first->error && first->answered < first->commands.size();
  record_detail(is_lost ? link->reason() : first->detail);
  co_return is_lost ? make_error_code(redis_errc::unavailable) : first->error;
}

/// The broker's words are told, but for those of AUTH, which must not repeat what was sent.
void redis_connection::on_answer(greeting& of, std::size_t step, const redisReply* reply) {
  on_change();
  if (!reply || of.error) return;
  ++of.answered;
  const auto& command = of.commands[step].front();
  of.error = judge_reply(*reply, of.types[step]);
  if (of.error) {
    const bool has_words = reply->type == REDIS_REPLY_ERROR && command != "AUTH";
    of.detail = command + (has_words ? ": " + std::string(text_in(*reply)) : " was refused");
  }
  if (of.error || command != "ROLE") return;
  const auto role = judge_role(*reply);
  of.error = role.error;
  of.detail = role.words;
}

}  // namespace zkrecipes::detail
