#include "redis/stream_fetcher.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_error.hpp>

#include "redis/redis_inquiry.hpp"
#include "session/operation.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// What was asked for together, and the answers.
struct stream_fetcher::batch {
  std::vector<stream_id> ids{};
  entries found{};
  error_code error{};
  std::string words{};
};

stream_fetcher::stream_fetcher(redis_frame_ptr frame, std::string stream)
    : frame_(std::move(frame)), stream_(std::move(stream)), connection_(frame_) {}

awaitable<outcome<stream_fetcher::entries>> stream_fetcher::fetch(std::vector<stream_id> ids) {
  for (;;) {
    auto error = co_await connection_.ready();
    if (error) co_return failed<entries>(error);
    auto all = std::make_shared<batch>();
    all->ids = ids;
    all->found.resize(ids.size());
    auto asked = co_await ask(all);
    const auto& [failure, is_complete] = asked;
    if (failure) co_return failed<entries>(failure);
    if (all->error && may_recover(all->error)) {
      connection_.give_up(all->error, stream_ + ": " + all->words);
    } else if (all->error) {
      connection_.tell(log_severity::error, session_event::operation_failed, all->error, stream_ + ": " + all->words);
      co_return failed<entries>(all->error);
    } else if (is_complete) {
      connection_.note_good();
      co_return outcome<entries>(error_code(), std::move(all->found));
    }
  }
}

awaitable<outcome<bool>> stream_fetcher::ask(std::shared_ptr<batch> all) {
  redis_inquiry asking(connection_, frame_->broker.session->get_scheduler());
  for (std::size_t i = 0; i < all->ids.size(); ++i) {
    const auto id = to_string(all->ids[i]);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    asking.ask(command, [this, all, i](const redisReply& reply) { take(*all, i, reply); });
  }
  co_return co_await asking.replies(frame_->broker.session->now() + frame_->options.timeout);
}

void stream_fetcher::take(batch& all, std::size_t which, const redisReply& reply) const {
  const entry_fields fields{frame_->options.key_field, frame_->options.data_field};
  auto error = judge_reply(reply, REDIS_REPLY_ARRAY);
  auto read = error ? std::nullopt : parse_range(reply, fields);
  if (!error && !read) error = redis_errc::unexpected_reply;
  if (read && !read->empty()) all.found[which] = std::move(read->front());
  if (!error || all.error) return;
  all.error = error;
  all.words = words_of(reply);
}

}  // namespace zkrecipes::detail
