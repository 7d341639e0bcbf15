#include "redis/stream_fetcher.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/redis_inquiry.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

std::string loss_in(const stream_fetcher::entries& found, const std::vector<stream_id>& ids, const stream_state& now,
                    const stream_id& farthest) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto loss = found[i] || ids[i] > farthest ? std::string() : loss_of(now, ids[i], false, farthest);
    if (!loss.empty()) return loss;
  }
  return {};
}

}  // namespace

/// What was asked for together, and the answers.
struct stream_fetcher::batch {
  std::vector<stream_id> ids{};
  entries found{};
  stream_state state{};
  error_code error{};
  std::string words{};

  void refuse(const error_code& why, std::string its_words) {
    if (error) return;
    error = why;
    words = std::move(its_words);
  }
  void take_state(const redisReply& reply) {
    if (is_missing_key(reply)) return;
    const auto read = parse_stream_state(reply);
    if (read) state = *read;
    if (!read) refuse(refusal_of(reply, REDIS_REPLY_ARRAY), words_of(reply));
  }
  void take_role(const redisReply& reply) {
    const auto role = judge_role(reply);
    if (role.error) refuse(role.error, role.words);
  }
};

stream_fetcher::stream_fetcher(redis_frame_ptr frame, std::string stream)
    : frame_(std::move(frame)),
      stream_(std::move(stream)),
      connection_(frame_, broker_connection::retries::with_refusals) {}

awaitable<outcome<stream_fetcher::finding>> stream_fetcher::fetch(std::vector<stream_id> ids, stream_id farthest) {
  for (;;) {
    auto error = co_await connection_.ready();
    if (error) co_return failed<finding>(error);
    auto all = std::make_shared<batch>();
    all->ids = ids;
    all->found.resize(ids.size());
    auto asked = co_await ask(all);
    const auto& [failure, is_complete] = asked;
    if (failure) co_return failed<finding>(failure);
    if (all->error && connection_.may_recover(all->error)) {
      connection_.give_up(all->error, stream_ + ": " + all->words);
    } else if (all->error) {
      connection_.write_log(log_severity::error, session_event::operation_failed, all->error,
                            stream_ + ": " + all->words);
      co_return failed<finding>(all->error);
    } else if (is_complete) {
      connection_.on_success();
      finding result;
      result.loss = loss_in(all->found, ids, all->state, farthest);
      result.found = std::move(all->found);
      co_return outcome<finding>(error_code(), std::move(result));
    }
  }
}

/// The state of the stream behind the entries: it tells of one that was removed before it was asked for.
awaitable<outcome<bool>> stream_fetcher::ask(std::shared_ptr<batch> all) {
  redis_inquiry asking(connection_, frame_->session->get_scheduler());
  for (std::size_t i = 0; i < all->ids.size(); ++i) {
    const auto id = to_string(all->ids[i]);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    asking.ask(command, [this, all, i](const redisReply& reply) { take(*all, i, reply); });
  }
  const std::vector<std::string> state{"XINFO", "STREAM", stream_};
  asking.ask(state, [all](const redisReply& reply) { all->take_state(reply); });
  const std::vector<std::string> role{"ROLE"};
  asking.ask(role, [all](const redisReply& reply) { all->take_role(reply); });
  co_return co_await asking.replies(frame_->session->now() + frame_->options.timeout);
}

void stream_fetcher::take(batch& all, std::size_t which, const redisReply& reply) const {
  const entry_fields fields{frame_->options.key_field, frame_->options.data_field};
  auto error = judge_reply(reply, REDIS_REPLY_ARRAY);
  auto read = error ? std::nullopt : parse_range(reply, fields);
  if (!error && !read) error = redis_errc::unexpected_reply;
  if (read && !read->empty()) all.found[which] = std::move(read->front());
  if (error) all.refuse(error, words_of(reply));
}

}  // namespace zkrecipes::detail
