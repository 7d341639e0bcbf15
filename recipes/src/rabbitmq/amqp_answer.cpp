#include "rabbitmq/amqp_answer.hpp"

#include <charconv>
#include <string_view>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/rabbitmq_c.hpp"

namespace zkrecipes::detail {

namespace {

bool has_words(const amqp_refusal& refusal, std::string_view words) {
  return refusal.text.find(words) != std::string::npos;
}

/// RabbitMQ says "not found" also of a queue that it knows, but whose leader does not answer.
rabbit_errc judge_not_found(const amqp_refusal& refusal) {
  const bool is_there = has_words(refusal, "due to timeout") || has_words(refusal, "is down or inaccessible");
  return is_there ? rabbit_errc::unavailable : rabbit_errc::missing_queue;
}

/// If the request is no declaration, it says so for a message that is too large, and for acknowledgements: those it
/// knows no message of, and those that come after its time for them.
rabbit_errc judge_precondition(const amqp_refusal& refusal) {
  if (refusal.method == AMQP_BASIC_PUBLISH_METHOD || has_words(refusal, "invalid arg")) return rabbit_errc::refused;
  return refusal.method == AMQP_QUEUE_DECLARE_METHOD ? rabbit_errc::other_queue : rabbit_errc::unavailable;
}

/// The virtual host is not there, is down, has enough connections, or is not for this user.
rabbit_errc judge_not_allowed(const amqp_refusal& refusal) {
  if (has_words(refusal, "is down") || has_words(refusal, "limit")) return rabbit_errc::unavailable;
  return has_words(refusal, "refused for user") ? rabbit_errc::refused_credentials : rabbit_errc::refused;
}

}  // namespace

error_code error_of_refusal(const amqp_refusal& refusal) {
  switch (refusal.code) {
    case AMQP_NOT_FOUND: return judge_not_found(refusal);
    case AMQP_PRECONDITION_FAILED: return judge_precondition(refusal);
    case AMQP_NOT_ALLOWED: return judge_not_allowed(refusal);
    case AMQP_ACCESS_REFUSED: return rabbit_errc::refused_credentials;
    case AMQP_RESOURCE_LOCKED: return rabbit_errc::other_queue;  // that of one connection only
    case AMQP_CONTENT_TOO_LARGE:
    case AMQP_INVALID_PATH:
    case AMQP_FRAME_ERROR:
    case AMQP_SYNTAX_ERROR:
    case AMQP_COMMAND_INVALID:
    case AMQP_UNEXPECTED_FRAME:
    case AMQP_NOT_IMPLEMENTED: return rabbit_errc::refused;
    default: return rabbit_errc::unavailable;
  }
}

/// "... inequivalent arg 'x-delivery-limit' for queue 'q' in vhost '/': received none but current is the value '5' of
/// type 'long'"; between two numbers it says "current is '5'".
std::optional<delivery_limit> limit_in_the_way(std::string_view words) {
  constexpr std::string_view present = "but current is ";
  if (words.find("inequivalent arg 'x-delivery-limit'") == words.npos) return std::nullopt;
  const auto place = words.rfind(present);
  const auto value = place == words.npos ? std::string_view() : words.substr(place + present.size());
  const auto quote = value.find('\'');
  std::int64_t limit = 0;
  if (quote == value.npos) return delivery_limit();
  const auto read = std::from_chars(value.data() + quote + 1, value.data() + value.size(), limit);
  return read.ec == std::errc() ? delivery_limit(limit) : delivery_limit();
}

error_code judge_declared(delivery_limit& asked, const amqp_answer& answer) {
  if (!answer.standing) return answer.error;
  if (is_dangerous(*answer.standing) || *answer.standing == asked) return rabbit_errc::other_queue;
  asked = *answer.standing;
  return rabbit_errc::unavailable;
}

}  // namespace zkrecipes::detail
