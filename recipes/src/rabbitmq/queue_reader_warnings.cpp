// What the reader tells of a queue that drops messages, or may.
#include <string>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "rabbitmq/queue_reader.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::string_view broker_field = "broker";
constexpr std::string_view limit_field = "delivery_limit";

}  // namespace

/// The queue is there already, and was made with another limit.
error_code queue_reader::take_limit(const amqp_answer& found) {
  const auto why = judge_declared(limit_, found);
  if (!may_recover_rabbit(why)) return answer_failure(why, found.words);
  connection_.close();
  return {};
}

/// A queue that was made when nothing had been settled has told its limit. Later it is what the memory says.
void queue_reader::note_broker() {
  const auto& link = *connection_.link();
  if (progress_.memory().is_new()) progress_.note(limit_field, limit_ ? std::to_string(*limit_) : std::string());
  progress_.note(broker_field, link.version());
  const bool is_known = !progress_.memory().noted(limit_field).empty();
  if (is_known || !limits_by_itself(link.major_version()) || std::exchange(has_told_limit_, true)) return;
  const auto broker =
      link.version().empty() ? std::string("a broker of an unknown version") : "RabbitMQ " + link.version();
  connection_.tell(log_severity::warning, session_event::operation_failed, {},
                   queue_ +
                       ": it is not known to have the argument x-delivery-limit: unless a policy says otherwise, " +
                       broker + " drops a message that has come back 20 times, as with each lost connection");
}

void queue_reader::tell_standstill() {
  if (std::exchange(has_told_standstill_, true)) return;
  connection_.tell(log_severity::warning, session_event::operation_failed, {},
                   queue_ + ": nothing was settled for 30 s, and all " + std::to_string(prefetch_) +
                       " messages that the broker gives ahead are here: if their keys rest, no other key goes on");
}

/// Outside of the handlers of the link.
void queue_reader::tell_losses() {
  const auto tell = [this](log_severity severity, const std::string& words) {
    connection_.tell(severity, session_event::operation_failed, {}, queue_ + ": " + words);
  };
  const auto returned = std::exchange(returned_, {});
  if (!returned.empty())
    tell(log_severity::warning, "the message " + returned + " times: a limit, of the queue or of a policy, drops it");
  for (const auto& each : progress_.take_missing())
    tell(log_severity::error, "messages of a producer are missing (numbers, epoch, producer): " + each);
}

}  // namespace zkrecipes::detail
