#include "redis/redis_producer_state.hpp"

#include <algorithm>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_error.hpp>
#include <zkrecipes/shard.hpp>

#include "redis/stream_replies.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::size_t most_at_once = 1'000;
constexpr std::size_t most_bytes_at_once = 1024 * 1024;
constexpr std::size_t most_bytes_of_one = 64 * 1024 * 1024;

bool is_too_large(const topic_message& what) { return what.key.size() + what.data.size() > most_bytes_of_one; }

}  // namespace

redis_producer_state::redis_producer_state(redis_frame_ptr frame, const std::string& name)
    : frame_(std::move(frame)),
      key_(frame_->options.stream + ":producer:" + name),
      id_(frame_->session->make_guid()),
      broker_(frame_),
      inbox_(get_scheduler()) {}

void redis_producer_state::put(topic_caller::handler whose, topic_message what) {
  std::vector<topic_message> one;
  one.push_back(std::move(what));
  accept(std::move(whose), std::move(one), false);
}

void redis_producer_state::put_all(topic_caller::handler whose, std::vector<topic_message> what) {
  accept(std::move(whose), std::move(what), true);
}

void redis_producer_state::accept(topic_caller::handler whose, std::vector<topic_message> what, bool is_many) {
  if (std::ranges::any_of(what, &is_too_large)) return inbox_.refuse(std::move(whose), errc::too_large);
  if (what.empty()) return inbox_.refuse(std::move(whose), error_code());
  inbox_.add(std::move(whose), std::move(what), is_many,
             [self = shared_from_this()](auto arrived) { self->take_in(std::move(arrived)); });
}

/// If the coroutine goes with its context before its end, so do the callers that wait: they may own the producer.
class redis_producer_state::abandonment {
 public:
  explicit abandonment(std::shared_ptr<redis_producer_state> of) : of_(std::move(of)) {}
  abandonment(const abandonment&) = delete;
  abandonment& operator=(const abandonment&) = delete;
  ~abandonment() {
    if (!of_) return;
    const auto callers = std::exchange(of_->waiting_, {});  // they may let go of the last handle
  }
  void dismiss() { of_.reset(); }

 private:
  std::shared_ptr<redis_producer_state> of_;
};

void redis_producer_state::take_in(std::vector<waiting_put> arrived) {
  std::ranges::move(arrived, std::back_inserter(waiting_));
  if (waiting_.empty() || std::exchange(is_working_, true)) return;
  auto watch = std::make_shared<abandonment>(shared_from_this());
  launch_detached(frame_->session->strand(), owning(shared_from_this(), &redis_producer_state::work, std::move(watch)));
}

awaitable<void> redis_producer_state::work(std::shared_ptr<abandonment> watch) {
  while (!waiting_.empty()) {
    auto error = frame_->session->over();
    if (!error && !is_known_) error = co_await begin();
    if (error)
      fail_all(error);
    else
      co_await put_batch();
    tell_all(get_scheduler()->base, std::exchange(results_, {}));
  }
  is_working_ = false;
  watch->dismiss();
}

/// Takes the name over, so that nothing that another object has sent can come in between.
awaitable<error_code> redis_producer_state::begin() {
  auto error = co_await agree_on_streams(frame_);
  std::uint64_t number = 0;
  if (!error) error = co_await claim(broker_, number);
  if (error) co_return error;
  is_known_ = true;
  last_ = number;
  co_return error;
}

awaitable<error_code> redis_producer_state::claim(redis_connection& by, std::uint64_t& number) {
  const auto found = std::make_shared<std::uint64_t>(0);
  const auto asked = std::make_shared<redis_question>();
  asked->command = claim_command(key_, id_);
  asked->take = [found](const redisReply& reply) {
    const auto answer = parse_put_answer(reply);
    if (answer) *found = answer->last;
    return answer ? error_code() : refusal_of(reply, REDIS_REPLY_ARRAY);
  };
  redis_questions one;
  one.push_back(asked);
  const auto error = co_await ask_broker(frame_, by, std::move(one), true, never);
  number = *found;
  co_return error;
}

awaitable<outcome<std::uint64_t>> redis_producer_state::last() {
  auto error = co_await agree_on_streams(frame_);
  std::uint64_t number = 0;
  redis_connection broker(frame_);  // puts may be under way on the other one
  if (!error) error = co_await claim(broker, number);
  if (!error && !is_working_) {
    if (is_known_ && number < last_) note_loss(number);
    is_known_ = true;
    last_ = number;
  }
  co_return outcome<std::uint64_t>(error, number);
}

awaitable<void> redis_producer_state::put_batch() {
  const auto all = next_batch();
  const auto count = all.size();
  const auto found = std::make_shared<put_answer>();
  const auto asked = std::make_shared<redis_question>();
  asked->command = put_command(frame_->options, key_, id_, last_, all);
  asked->take = [found](const redisReply& reply) {
    auto answer = parse_put_answer(reply);
    if (!answer) return refusal_of(reply, REDIS_REPLY_ARRAY);
    *found = std::move(*answer);
    const auto error = found->problem.empty() ? error_code() : error_of_redis(found->problem);
    return may_recover(error) ? error : error_code();
  };
  redis_questions one;
  one.push_back(asked);
  const auto error = co_await ask_broker(frame_, broker_, std::move(one), true, never);
  if (error)
    fail_all(error);
  else
    conclude(count, *found, asked->sent > 1);
}

/// Messages from the first one on that was not put.
std::vector<stream_put> redis_producer_state::next_batch() const {
  std::vector<stream_put> all;
  std::size_t bytes = 0;
  for (const auto& call : waiting_) {
    for (auto place = call->put; place < call->messages.size(); ++place) {
      const auto& [key, data] = call->messages[place];
      bytes += key.size() + data.size();
      const bool has_room = all.empty() || (all.size() < most_at_once && bytes <= most_bytes_at_once);
      if (!has_room) return all;
      all.push_back({frame_->stream(shard_of(key, frame_->options.shards)), key, data});
    }
  }
  return all;
}

/// The broker has answered to a batch of so many messages behind `last_`.
void redis_producer_state::conclude(std::size_t count, const put_answer& answer, bool was_repeated) {
  if (answer.last < last_) return note_loss(answer.last);
  const auto more = answer.last - last_;
  if (!answer.is_ours || more > count) {
    is_known_ = false;
    return fail_all(was_repeated && more > 0 ? errc::outcome_unknown : errc::superseded);
  }
  note_put(more);
  if (!answer.problem.empty()) fail_first(error_of_redis(answer.problem));
}

void redis_producer_state::note_put(std::size_t count) {
  while (count > 0) {
    auto& first = *waiting_.front();
    const auto some = std::min(count, first.messages.size() - first.put);
    first.put += some;
    last_ += some;
    count -= some;
    if (first.put < first.messages.size()) return;
    results_.push_back({std::move(first.caller), error_code(), first.is_many ? first.put : last_});
    waiting_.pop_front();
  }
}

/// The first message that was not put can not be, nor can those behind it in the same call.
void redis_producer_state::fail_first(const error_code& why) {
  auto& first = *waiting_.front();
  results_.push_back({std::move(first.caller), why, first.is_many ? first.put : 0});
  waiting_.pop_front();
}

void redis_producer_state::fail_all(const error_code& why) {
  is_known_ = false;
  while (!waiting_.empty()) fail_first(why);
}

/// The broker has lost messages that it had acknowledged. Those that wait go behind what it has, or fail.
void redis_producer_state::note_loss(std::uint64_t found) {
  const auto words = "the last message of the producer " + key_ + " is number " + std::to_string(found) + "; " +
                     std::to_string(last_) + " was acknowledged";
  broker_.tell(log_severity::error, session_event::operation_failed, redis_errc::source_regressed, words);
  is_known_ = false;
  if (frame_->options.regress == redis_regress::stop_the_run) fail_all(redis_errc::source_regressed);
}

}  // namespace zkrecipes::detail
