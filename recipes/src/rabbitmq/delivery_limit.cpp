#include "rabbitmq/delivery_limit.hpp"

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

namespace zkrecipes::detail {

error_code judge_declared(delivery_limit& asked, const amqp_answer& answer) {
  if (!answer.standing) return answer.error;
  if (is_dangerous(*answer.standing) || *answer.standing == asked) return rabbit_errc::other_queue;
  asked = *answer.standing;
  return rabbit_errc::unavailable;
}

}  // namespace zkrecipes::detail
