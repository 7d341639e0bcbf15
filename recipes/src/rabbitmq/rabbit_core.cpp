#include "rabbitmq/rabbit_core.hpp"

#include <string>
#include <utility>

#include "queue/dead_letter_folder.hpp"
#include "rabbitmq/lone_put.hpp"
#include "rabbitmq/queue_census.hpp"
#include "rabbitmq/queue_letters.hpp"
#include "rabbitmq/queue_limits.hpp"
#include "session/outcomes.hpp"
#include "session/paths.hpp"

namespace zkrecipes::detail {

using backend::opcode;

awaitable<outcome<std::vector<rabbit_depth>>> rabbit_core::depths() {
  const auto error = co_await find_queues(frame_);
  if (error) co_return failed<std::vector<rabbit_depth>>(error);
  queue_census counting(frame_);
  co_return co_await counting.count(frame_->broker.session->retry_deadline());
}

awaitable<outcome<std::vector<dead_letter>>> rabbit_core::dead_letters() {
  return read_letters(frame_->broker.session, frame_->where.dead(rabbit_group));
}

/// The letter is removed when the message is put, so that it can not be lost. The id is that of no other letter: one
/// commit can make several, and another node can have the same name later.
awaitable<outcome<>> rabbit_core::revive(dead_letter which) {
  const auto shard = shard_of_queue_letter(which.item);
  const bool is_named = !which.name.empty() && which.name.find('/') == which.name.npos;
  if (!shard || *shard >= frame_->options.shards || !is_named) co_return outcome<>(errc::bad_arguments);
  if (which.missing_bytes != 0 || is_too_large_for_queue(which.key, which.data)) co_return outcome<>(errc::too_large);
  auto error = co_await find_queues(frame_);  // another queue might be nobody's
  if (error) co_return outcome<>(error);
  const auto session = frame_->broker.session;
  const auto folder = frame_->where.dead(rabbit_group);
  auto seen = co_await session->perform(make_request(opcode::exists, join(folder, which.name)), retry::always);
  if (seen.error) co_return outcome<>(seen.error);
  lone_put::message what;
  what.queue = frame_->queue(*shard);
  what.id = "zkr-letter:" + std::to_string(seen.stat.czxid) + ':' + which.name;
  what.key = which.key;
  what.data = which.data;
  lone_put putting(frame_, std::move(what));
  error = co_await putting.run(session->retry_deadline());
  if (error) co_return outcome<>(error);
  auto removed = co_await discard_letter(session, folder, which.name);
  const bool has_gone = std::get<0>(removed) == errc::no_node || std::get<0>(removed) == errc::outcome_unknown;
  co_return has_gone ? outcome<>(error_code()) : removed;
}

awaitable<outcome<>> rabbit_core::discard(dead_letter which) {
  if (which.name.empty()) return refuse<>(errc::bad_arguments);
  return discard_letter(frame_->broker.session, frame_->where.dead(rabbit_group), std::move(which.name));
}

}  // namespace zkrecipes::detail
