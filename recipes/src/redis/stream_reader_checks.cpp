// How the reader compares a stream with what was consumed, and what it removes from it.
#include <algorithm>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/redis_inquiry.hpp"
#include "redis/stream_reader.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

constexpr std::uint64_t many_entries = 1'000'000;

}  // namespace

/// The replies that tell whether the stream is the one that was consumed.
struct stream_reader::look_at_stream {
  stream_id last{};  // what was asked for: commits move on while the broker answers
  stream_id farthest{};
  stream_id read_before{};
  error_code error{};
  std::string words{};
  stream_state state{};
  bool has_last = false;
  bool has_farthest = false;
  bool has_read_before = false;

  void take_state(const redisReply& reply) {
    if (is_missing_key(reply)) return;
    const auto read = parse_stream_state(reply);
    if (read) state = *read;
    if (!read) refuse(reply, refusal_of(reply, REDIS_REPLY_ARRAY));
  }
  bool take_entry(const redisReply& reply) {
    const auto why = judge_reply(reply, REDIS_REPLY_ARRAY);
    if (why) refuse(reply, why);
    return !why && reply.elements > 0;
  }
  void refuse(const redisReply& reply, const error_code& why) {
    error = why;
    words = words_of(reply);
  }
};

awaitable<error_code> stream_reader::check_stream() {
  redis_inquiry asking(connection_, frame_->broker.session->get_scheduler());
  auto look = std::make_shared<look_at_stream>();
  look->last = progress_.last();
  look->farthest = progress_.farthest();
  look->read_before = std::max(look->farthest, read_before_);
  const std::vector<std::string> state{"XINFO", "STREAM", stream_};
  asking.ask(state, [look](const redisReply& reply) { look->take_state(reply); });
  const auto ask_for = [&](const stream_id& which, bool look_at_stream::*has) {
    const auto id = to_string(which);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    asking.ask(command, [look, has](const redisReply& reply) { (*look).*has = look->take_entry(reply); });
  };
  ask_for(look->last, &look_at_stream::has_last);
  ask_for(look->farthest, &look_at_stream::has_farthest);
  if (look->read_before > look->farthest) ask_for(look->read_before, &look_at_stream::has_read_before);
  auto asked = co_await asking.replies(frame_->broker.session->now() + frame_->options.timeout);
  const auto& [failure, is_complete] = asked;
  if (failure || !is_complete) co_return failure;  // the next connection asks again
  if (look->error) co_return answer_failure(look->error, look->words);
  co_return co_await judge(*look);
}

awaitable<error_code> stream_reader::judge(look_at_stream& look) {
  const auto& farthest = look.farthest;
  auto loss = loss_of(look.state, look.last, look.has_last, farthest);
  if (loss.empty()) loss = loss_of(look.state, farthest, look.has_farthest, farthest);
  const auto& read = look.read_before;
  if (loss.empty() && read > farthest) loss = loss_of(look.state, read, look.has_read_before, read);
  if (!loss.empty()) {
    read_before_ = {};
    const auto error = answer_loss(connection_, loss);
    if (error) co_return error;
    if (look.state.last_generated < farthest) end_of_rest_ = look.state.last_generated;
  }
  checked_ = connection_.number();
  tell_length(look.state.length);
  co_return error_code();
}

/// Other programs may read the stream, so nothing is removed from it unless an option says for whom it is.
void stream_reader::tell_length(std::uint64_t length) {
  if (!frame_->options.groups.empty() || length <= many_entries || std::exchange(has_told_length_, true)) return;
  connection_.tell(log_severity::warning, session_event::operation_failed, {},
                   stream_ + " has " + std::to_string(length) +
                       " entries, and nothing removes those that were consumed: redis_options::groups is empty");
}

/// Tells the log of it. Error: the run ends.
error_code stream_reader::answer_loss(redis_connection& by, const std::string& loss) {
  const bool stops = frame_->options.regress == redis_regress::stop_the_run;
  const auto detail = stream_ + ": " + loss + (stops ? "; the run ends" : "; going on with what is put from now on");
  by.tell(stops ? log_severity::error : log_severity::warning, session_event::operation_failed,
          redis_errc::source_regressed, detail);
  return stops ? make_error_code(redis_errc::source_regressed) : error_code();
}

/// First all that is in hand is settled: then no entry that is put meanwhile has an id that is behind the position.
/// Entries that are there and were not read yet are read. True: the position has changed.
bool stream_reader::goes_back() {
  if (!end_of_rest_ || !ready_.empty() || progress_.has_open()) return false;
  is_unwritten_ = true;
  progress_.fall_back(*end_of_rest_);
  cursor_ = std::min(cursor_, *end_of_rest_);
  trimmer_.note_consumed(progress_.last());
  end_of_rest_.reset();
  return true;
}

error_code stream_reader::answer_failure(const error_code& why, const std::string& words) {
  const auto detail = stream_ + ": " + words;
  if (connection_.may_recover(why)) {
    connection_.give_up(why, detail);
    return {};
  }
  connection_.tell(log_severity::error, session_event::operation_failed, why, detail);
  return why;
}

/// Nothing is removed while the position is behind the end of the stream: its last entries would go, which tell the
/// next time whether it is still the same. It takes two calls. In between nothing is read, because the removal would
/// wait behind an XREAD for seconds, and an operator may move a group back in them.
awaitable<void> stream_reader::trim() {
  if (removable_) {
    const auto keep = *std::exchange(removable_, std::nullopt);
    co_return co_await remove_consumed(keep);
  }
  if (is_comparing_ || is_going_back()) co_return;
  const auto consumed = co_await trimmer_.consumed_by_all();
  if (!consumed.empty() && is_checked()) compare(consumed);
}

/// By the connection that has told that the stream is whole: what a broker loses ends it.
void stream_reader::compare(const std::vector<stream_id>& consumed) {
  struct comparison {
    std::size_t left;
    bool is_whole = true;
  };
  const auto state = std::make_shared<comparison>(comparison{consumed.size()});
  const auto now = frame_->broker.session->now();
  is_comparing_ = true;
  answer_by_ = (is_asking_ ? std::max(answer_by_, now) : now) + frame_->options.timeout;
  for (const auto& each : consumed) {
    const auto id = to_string(each);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    connection_.send(command, [this, state, keep = consumed.front()](const redisReply* reply) {
      if (!reply) return;  // the connection has ended
      state->is_whole = state->is_whole && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0;
      if (--state->left > 0) return;
      is_comparing_ = false;
      if (state->is_whole) removable_ = keep;
      changed_.notify();
    });
  }
}

/// Whole nodes of the stream, which is cheap.
awaitable<void> stream_reader::remove_consumed(stream_id keep) {
  const bool is_agreed = co_await trimmer_.is_consumed_by_all(keep);
  if (!is_agreed || !is_checked()) co_return;
  const std::vector<std::string> command{"XTRIM", stream_, "MINID", "~", to_string(keep)};
  connection_.send(command, [](const redisReply*) {});  // a refusal shows in the length of the stream only
}

}  // namespace zkrecipes::detail
