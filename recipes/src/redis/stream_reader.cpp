#include "redis/stream_reader.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_error.hpp>

#include "redis/redis_inquiry.hpp"
#include "session/forwarding.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

using stream_messages = std::vector<message>;
using found_entries = std::vector<std::optional<message>>;

/// An XREAD waits for so long in the broker. The next one asks again, and so proves that the broker is there.
constexpr std::chrono::milliseconds longest_block = 5s;

}  // namespace

stream_reader::stream_reader(redis_frame_ptr frame, std::uint32_t shard, std::string group, position_node& position)
    : frame_(std::move(frame)),
      stream_(frame_->stream(shard)),
      position_(position),
      changed_(frame_->broker.session->get_scheduler()),
      trimmer_(frame_, shard, std::move(group)),
      fetcher_(frame_, stream_),
      connection_(frame_) {}

void stream_reader::open() {
  connection_.close();
  fetcher_.close();
  position_.reset();
  trimmer_.reset();
  progress_ = {};
  cursor_ = {};
  end_of_rest_.reset();
  ready_.clear();
  problems_.clear();
  failure_.reset();
  is_asking_ = false;
}

std::string stream_reader::problem_of(const std::string& name) const {
  if (problems_.empty()) return {};
  const auto found = problems_.find(name);
  return found == problems_.end() ? std::string() : found->second;
}

void stream_reader::note_settled() {
  trimmer_.note_consumed(progress_.last());
  changed_.notify();
}

awaitable<outcome<stream_messages>> stream_reader::receive(std::size_t most) {
  const forwarding position_changes(position_.changed(), changed_);
  const forwarding connection_changes(connection_.changed(), changed_);
  for (;;) {
    auto error = co_await read_position();
    if (!error && most == 0 && position_.wants_look()) error = co_await position_.look();
    if (error || position_.is_outdated() || most == 0) co_return failed<stream_messages>(error);
    if (failure_) error = answer_failure(*std::exchange(failure_, std::nullopt), words_);
    if (error) co_return failed<stream_messages>(error);
    consider_going_back();
    if (is_checked()) {
      co_await trim();
      ask();
    }
    if (!ready_.empty()) break;
    if (is_checked()) {
      error = co_await await_more();
    } else {
      error = co_await get_connection();
    }
    if (error) co_return failed<stream_messages>(error);
  }
  stream_messages some;
  some.reserve(std::min(most, ready_.size()));
  while (some.size() < most && !ready_.empty()) {
    some.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  co_return outcome<stream_messages>(error_code(), std::move(some));
}

/// The first time.
awaitable<error_code> stream_reader::read_position() {
  if (position_.is_known()) co_return error_code();
  auto record = [frame = frame_] { return std::vector<backend::request>{request_of_streams(*frame)}; };
  auto agree = [frame = frame_] { return agree_on_streams(frame); };
  auto begun = co_await position_.begin(record, agree, serialize(stream_position()));
  auto& [error, seen] = begun;
  if (!error) error = compare_streams(*frame_, seen[1]);
  if (error) co_return error;
  auto stored = parse_stream_position(seen[0].data);
  if (!stored) co_return errc::foreign_data;
  cursor_ = stored->last;
  progress_ = stream_progress(std::move(*stored));
  position_.know(seen[0]);
  co_return error_code();
}

awaitable<error_code> stream_reader::get_connection() {
  is_asking_ = false;
  auto error = co_await connection_.ready();
  if (!error && !is_checked()) error = co_await check_stream();
  co_return error;
}

/// The replies that tell whether the stream is the one that was consumed.
struct stream_reader::look_at_stream {
  stream_id last{};  // what was asked for: commits move on while the broker answers
  stream_id farthest{};
  error_code error{};
  std::string words{};
  stream_state state{};
  bool has_last = false;
  bool has_farthest = false;

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
  const std::vector<std::string> state{"XINFO", "STREAM", stream_};
  asking.ask(state, [look](const redisReply& reply) { look->take_state(reply); });
  const auto ask_for = [&](const stream_id& which, bool look_at_stream::*has) {
    const auto id = to_string(which);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    asking.ask(command, [look, has](const redisReply& reply) { (*look).*has = look->take_entry(reply); });
  };
  ask_for(look->last, &look_at_stream::has_last);
  ask_for(look->farthest, &look_at_stream::has_farthest);
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
  if (!loss.empty()) {
    const bool stops = frame_->options.regress == redis_regress::stop_the_run;
    const auto detail = stream_ + ": " + loss + (stops ? "; the run ends" : "; going on with what is put from now on");
    connection_.tell(stops ? log_severity::error : log_severity::warning, session_event::operation_failed,
                     redis_errc::source_regressed, detail);
    if (stops) co_return redis_errc::source_regressed;
    if (look.state.last_generated < farthest) end_of_rest_ = look.state.last_generated;
  }
  checked_ = connection_.number();
  co_return error_code();
}

/// First all that is in hand is settled: then no entry that is put meanwhile has an id that is behind the position.
/// Entries that are there and were not read yet are read.
void stream_reader::consider_going_back() {
  if (!end_of_rest_ || !ready_.empty() || progress_.has_open()) return;
  progress_.fall_back(*end_of_rest_);
  cursor_ = std::min(cursor_, *end_of_rest_);
  trimmer_.note_consumed(progress_.last());
  end_of_rest_.reset();
}

error_code stream_reader::answer_failure(const error_code& why, const std::string& words) {
  const auto detail = stream_ + ": " + words;
  if (may_recover(why)) {
    connection_.give_up(why, detail);
    return {};
  }
  connection_.tell(log_severity::error, session_event::operation_failed, why, detail);
  return why;
}

/// Whole nodes of the stream are removed, which is cheap. Nothing is while the position is behind the end of the
/// stream: its last entries would go, which tell the next time whether it is still the same.
awaitable<void> stream_reader::trim() {
  if (end_of_rest_) co_return;
  const auto consumed = co_await trimmer_.consumed_by_all();
  if (consumed.empty() || !is_checked()) co_return;
  const auto left = std::make_shared<std::size_t>(consumed.size());
  for (const auto& each : consumed) {
    const auto id = to_string(each);
    const std::vector<std::string> command{"XRANGE", stream_, id, id, "COUNT", "1"};
    connection_.send(command, [this, left, keep = consumed.front()](const redisReply* reply) {
      const bool is_there = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements > 0;
      if (is_there && --*left == 0) remove_consumed(keep);
    });
  }
}

/// By the connection that has told that the stream is whole: what a broker loses ends it.
void stream_reader::remove_consumed(const stream_id& keep) {
  const std::vector<std::string> command{"XTRIM", stream_, "MINID", "~", to_string(keep)};
  connection_.send(command, [](const redisReply*) {});  // a refusal shows in the length of the stream only
}

/// Waits for entries, or until something else is to be done.
awaitable<error_code> stream_reader::await_more() {
  if (position_.has_fired()) co_return co_await position_.look();  // our own commits bring us here, too
  const auto until = is_asking_ ? answer_by_ : never;
  if (failure_ || !ready_.empty() || !is_checked()) co_return error_code();
  const auto why = co_await changed_.wait(until);
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  if (why == wake::timed_out) connection_.give_up(redis_errc::unavailable, "no answer to XREAD");
  co_return error_code();
}

void stream_reader::ask() {
  if (is_asking_ || end_of_rest_ || ready_.size() >= frame_->options.read_ahead) return;
  const auto block = std::min(longest_block, frame_->options.timeout);
  const std::vector<std::string> command{"XREAD",
                                         "COUNT",
                                         std::to_string(frame_->options.read_ahead),
                                         "BLOCK",
                                         std::to_string(block.count()),
                                         "STREAMS",
                                         stream_,
                                         to_string(cursor_)};
  is_asking_ = true;
  answer_by_ = frame_->broker.session->now() + block + frame_->options.timeout;
  connection_.send(command, [this](const redisReply* reply) { take(reply); });
}

/// Called inside of hiredis.
void stream_reader::take(const redisReply* reply) {
  is_asking_ = false;
  changed_.notify();
  if (!reply) return;  // the connection has ended
  const entry_fields fields{frame_->options.key_field, frame_->options.data_field};
  auto entries = reply->type == REDIS_REPLY_ERROR ? std::nullopt : parse_entries(*reply, fields);
  if (!entries) {
    failure_ = reply->type == REDIS_REPLY_ERROR ? judge_reply(*reply, REDIS_REPLY_ARRAY)
                                                : make_error_code(redis_errc::unexpected_reply);
    words_ = words_of(*reply);
    return;
  }
  connection_.note_good();
  for (auto& each : *entries) take_entry(std::move(each));
  if (!entries->empty()) ask();
}

void stream_reader::take_entry(stream_entry entry) {
  cursor_ = entry.id;
  if (progress_.open(entry.id)) ready_.push_back(make_message(std::move(entry)));
}

message stream_reader::make_message(stream_entry entry) {
  message made;
  made.name = to_string(entry.id);
  if (!entry.has_data) problems_[made.name] = "the entry has no field \"" + frame_->options.data_field + '"';
  made.data = std::move(entry.data);
  made.key = std::move(entry.key);
  const auto failed = progress_.failed(entry.id);
  made.attempts = failed.count + 1;
  made.stat.ctime = made.stat.mtime = static_cast<std::int64_t>(entry.id.ms);
  if (failed.count > 0) made.stat.mtime = failed.since;  // the engine takes it for the first failed attempt
  return made;
}

awaitable<outcome<found_entries>> stream_reader::read_again(std::vector<std::string> names) {
  found_entries found(names.size());
  auto error = co_await read_position();
  if (!error && position_.is_outdated()) error = asio::error::operation_aborted;
  if (error) co_return failed<found_entries>(error);
  std::vector<stream_id> ids;
  std::vector<std::size_t> places;  // in `names`
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto id = parse_stream_id(names[i]);
    if (!id || progress_.is_settled(*id)) continue;
    ids.push_back(*id);
    places.push_back(i);
  }
  if (ids.empty()) co_return outcome<found_entries>(error_code(), std::move(found));
  auto fetched = co_await fetcher_.fetch(ids);
  auto& [failure, entries] = fetched;
  if (failure) co_return failed<found_entries>(failure);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (entries[i]) found[places[i]] = make_message(std::move(*entries[i]));
    if (!entries[i]) progress_.settle(ids[i]);  // it has gone
  }
  changed_.notify();  // `receive` may wait until nothing is in hand any more
  co_return outcome<found_entries>(error_code(), std::move(found));
}

}  // namespace zkrecipes::detail
