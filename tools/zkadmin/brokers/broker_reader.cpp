#include "brokers/broker_reader.hpp"

#include <stdexcept>
#include <utility>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks.hpp"
#include "base/text.hpp"
#include "settings/broker_request.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

struct broker_kind {
  const char* source;
  broker_reader read;
  bool (*is_away)(const zkrecipes::error_code&) noexcept;
};

constexpr broker_kind broker_kinds[] = {{"redis_streams", read_redis, is_redis_away},
                                        {"rabbit_queues", read_rabbitmq, is_rabbitmq_away}};

const broker_kind* broker_kind_of(const stream_status& source) {
  for (const auto& each : broker_kinds)
    if (source.source == each.source) return &each;
  return nullptr;
}

/// What came of asking. Beside the time limit nothing may be thrown: it would be waited for.
struct broker_answer {
  broker_status seen{};
  std::string refusal{};  ///< The place is none. Empty: it is one.
};

asio::awaitable<void> ask_within(zkrecipes::session session, const broker_kind& kind, const broker_place& place,
                                 const stream_status& of, broker_answer& into) {
  try {
    const auto error = co_await kind.read(std::move(session), place, of, into.seen);
    into.seen.is_away = error && kind.is_away(error);
    into.seen.trouble = error ? error.message() : "";
  } catch (const std::invalid_argument& refused) {
    into.refusal = refused.what();
  }
}

void add_reasons(const broker_log& log, std::string& trouble) {
  const auto reasons = log.reasons();
  if (!reasons.empty()) trouble += ": " + reasons;
}

}  // namespace

settings with_log_of(const broker_place& place, settings wanted) {
  wanted.log = [log = place.log](const zkrecipes::log_event& told) { log->record(told); };
  return wanted;
}

asio::awaitable<void> ask_broker(zkrecipes::session session, broker_place place, stream_status& of) {
  using namespace asio::experimental::awaitable_operators;
  const auto* kind = broker_kind_of(of);
  if (!kind) co_return;
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer limit(executor, place.limit);
  place.log->forget();
  broker_answer answer;
  const auto first = co_await (ask_within(std::move(session), *kind, place, of, answer) || limit.async_wait(as_result));
  if (!answer.refusal.empty()) throw failure(exit_code::usage, "--broker: " + answer.refusal);
  const bool is_late = first.index() == 1;
  if (is_late) answer.seen = {"it has not answered within " + short_duration(place.limit), true, {}};
  if (answer.seen.is_away) add_reasons(*place.log, answer.seen.trouble);
  of.broker = std::move(answer.seen);
}

}  // namespace zkadmin
