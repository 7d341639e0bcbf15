#include "redis/stream_fetcher.hpp"

#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_error.hpp>

#include "session/forwarding.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

/// What was asked for together, and the answers.
struct stream_fetcher::batch {
  std::vector<stream_id> ids{};
  entries found{};
  std::size_t awaited = 0;
  error_code error{};
  std::string words{};
};

stream_fetcher::stream_fetcher(redis_frame_ptr frame, std::string stream)
    : frame_(std::move(frame)),
      stream_(std::move(stream)),
      changed_(frame_->session->get_scheduler()),
      connection_(frame_) {}

awaitable<outcome<stream_fetcher::entries>> stream_fetcher::fetch(std::vector<stream_id> ids) {
  const forwarding connection_changes(connection_.changed(), changed_);
  for (;;) {
    auto error = co_await connection_.ready();
    if (error) co_return failed<entries>(error);
    auto all = std::make_shared<batch>();
    all->ids = ids;
    all->found.resize(ids.size());
    ask(all);
    error = co_await await_answers(all);
    if (error) co_return failed<entries>(error);
    if (all->error && may_recover(all->error)) {
      connection_.give_up(all->error, stream_ + ": " + all->words);
    } else if (all->error) {
      connection_.tell(log_severity::error, session_event::operation_failed, all->error, stream_ + ": " + all->words);
      co_return failed<entries>(all->error);
    } else if (all->awaited == 0) {
      connection_.note_good();
      co_return outcome<entries>(error_code(), std::move(all->found));
    }
  }
}

void stream_fetcher::ask(const std::shared_ptr<batch>& all) {
  all->awaited = all->ids.size();
  for (std::size_t i = 0; i < all->ids.size(); ++i) {
    const auto id = to_string(all->ids[i]);
    connection_.send({"XRANGE", stream_, id, id, "COUNT", "1"},
                     [this, all, i](const redisReply* reply) { take(*all, i, reply); });
  }
}

/// Returns when all answers are there, or the connection has ended. Error: the wait was cancelled.
awaitable<error_code> stream_fetcher::await_answers(const std::shared_ptr<batch>& all) {
  const auto deadline = frame_->session->now() + frame_->options.timeout;
  while (all->awaited > 0 && connection_.is_up()) {
    const auto why = co_await changed_.wait(deadline);
    if (why == wake::cancelled) connection_.close();  // else its answers would come among those to the next questions
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
    if (why == wake::timed_out) connection_.give_up(redis_errc::unavailable, "no answer in time");
  }
  co_return error_code();
}

void stream_fetcher::take(batch& all, std::size_t which, const redisReply* reply) {
  changed_.notify();
  if (!reply) return;  // the connection has ended
  --all.awaited;
  const entry_fields fields{frame_->options.key_field, frame_->options.data_field};
  auto error = judge_reply(*reply, REDIS_REPLY_ARRAY);
  auto read = error ? std::nullopt : parse_range(*reply, fields);
  if (!error && !read) error = redis_errc::unexpected_reply;
  if (read && !read->empty()) all.found[which] = std::move(read->front());
  if (!error || all.error) return;
  all.error = error;
  all.words = words_of(*reply);
}

}  // namespace zkrecipes::detail
