#include "redis/stream_reader.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include "redis/redis_inquiry.hpp"
#include "session/condition.hpp"
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

using namespace std::chrono_literals;

namespace {

using stream_messages = std::vector<message>;
using found_entries = std::vector<std::optional<message>>;

/// An XREAD waits for so long in the broker. The next one asks again, and so proves that the broker is there.
constexpr std::chrono::milliseconds longest_block = 5s;

std::size_t size_of(const message& what) { return what.name.size() + what.key.size() + what.data.size(); }

}  // namespace

stream_reader::stream_reader(redis_frame_ptr frame, std::uint32_t shard, std::string group, position_node& position)
    : frame_(std::move(frame)),
      stream_(frame_->stream(shard)),
      position_(position),
      changed_(frame_->session->get_scheduler()),
      ahead_(frame_->reading, frame_->options.read_ahead),
      trimmer_(frame_, shard, std::move(group)),
      fetcher_(frame_, stream_),
      connection_(frame_, broker_connection::retries::with_refusals) {}

void stream_reader::open() {
  connection_.close();
  fetcher_.close();
  position_.reset();
  trimmer_.reset();
  read_before_ = std::max(read_before_, progress_.farthest());
  progress_ = {};
  cursor_ = {};
  end_of_rest_.reset();
  is_unwritten_ = false;
  ready_.clear();
  ahead_.stop();
  problems_.clear();
  failure_.reset();
  is_asking_ = is_comparing_ = false;
  removable_.reset();
}

std::string stream_reader::problem_of(const std::string& name) const {
  if (problems_.empty()) return {};
  const auto found = problems_.find(name);
  return found == problems_.end() ? std::string() : found->second;
}

void stream_reader::on_settled() {
  is_unwritten_ = false;
  trimmer_.on_consumed(progress_.last());
  changed_.notify();
}

awaitable<outcome<stream_messages>> stream_reader::receive(std::size_t most) {
  const forwarding position_changes(position_.changed(), changed_);
  const forwarding connection_changes(connection_.changed(), changed_);
  for (;;) {
    auto error = co_await read_position();
    if (!error && most == 0 && position_.wants_look()) error = co_await position_.look();
    if (error || position_.is_outdated() || most == 0) co_return failed<stream_messages>(error);
    if (failure_) error = judge_failure(connection_, *std::exchange(failure_, std::nullopt), stream_ + ": " + words_);
    if (error) co_return failed<stream_messages>(error);
    if (goes_back()) co_return failed<stream_messages>(error);  // with none, so that it is written
    if (is_checked()) {
      co_await trim();
      ask();
    }
    if (may_hand_out()) break;
    if (is_checked()) {
      error = co_await await_more();
    } else {
      error = co_await get_connection();
    }
    if (error) co_return failed<stream_messages>(error);
  }
  stream_messages some;
  some.reserve(std::min(most, ready_.size()));
  while (some.size() < most && may_hand_out()) {
    ahead_.on_taken(size_of(ready_.front()));
    some.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  co_return outcome<stream_messages>(error_code(), std::move(some));
}

/// With more in hand the position might become too large. Alone an entry always may.
bool stream_reader::may_hand_out() const {
  if (ready_.empty()) return false;
  const bool is_alone = progress_.count_open() == ready_.size();
  if (is_alone || !progress_.is_full()) return true;
  const auto next = parse_stream_id(ready_.front().name);
  return next && progress_.is_known(*next);
}

/// The first time.
awaitable<error_code> stream_reader::read_position() {
  if (position_.is_known()) co_return error_code();
  auto begun = co_await position_.begin(serialize(stream_position()));
  auto& [error, seen] = begun;
  if (error) co_return error;
  auto stored = parse_stream_position(seen[0].data);
  if (!stored) co_return errc::foreign_data;
  cursor_ = stored->last;
  if (std::exchange(seek_, stored->seek) != stored->seek) read_before_ = {};
  progress_ = stream_progress(std::move(*stored));
  position_.know(seen[0]);
  co_return error_code();
}

awaitable<error_code> stream_reader::get_connection() {
  is_asking_ = is_comparing_ = false;
  removable_.reset();
  auto error = co_await connection_.ready();
  if (!error && !is_checked()) error = co_await check_stream();
  co_return error;
}

/// Waits for entries, or until something else is to be done.
awaitable<error_code> stream_reader::await_more() {
  if (position_.has_fired()) co_return co_await position_.look();  // our own commits bring us here, too
  const auto until = is_asking_ || is_comparing_ ? answer_by_ : never;
  if (failure_ || may_hand_out() || removable_ || !is_checked()) co_return error_code();
  const auto why = co_await connection_.wait_for_answer(changed_, until, "no answer in time");
  co_return why == wake::cancelled ? make_error_code(asio::error::operation_aborted) : error_code();
}

void stream_reader::ask() {
  if (is_asking_ || is_trimming() || is_going_back() || ready_.size() >= frame_->options.read_ahead) return;
  ahead_.start();
  const auto room = ahead_.room();
  if (room == 0 && !ready_.empty()) return;
  const auto block = std::min(longest_block, frame_->options.timeout);
  const std::vector<std::string> command{"XREAD",
                                         "COUNT",
                                         std::to_string(std::max<std::size_t>(room, 1)),
                                         "BLOCK",
                                         std::to_string(block.count()),
                                         "STREAMS",
                                         stream_,
                                         to_string(cursor_)};
  is_asking_ = true;
  answer_by_ = frame_->session->now() + block + frame_->options.timeout;
  connection_.prepare({"ROLE"}, [this](const redisReply* reply) { take_role(reply); });
  connection_.send(command, [this](const redisReply* reply) { take(reply); });
}

/// Called inside of hiredis.
void stream_reader::take_role(const redisReply* reply) {
  if (!reply) return;  // the connection has ended
  auto role = judge_role(*reply);
  if (!role.error) return;
  failure_ = role.error;
  words_ = std::move(role.words);
  changed_.notify();
}

/// Called inside of hiredis.
void stream_reader::take(const redisReply* reply) {
  is_asking_ = false;
  changed_.notify();
  if (!reply || failure_) return;  // the connection has ended, or is to end
  const entry_fields fields{frame_->options.key_field, frame_->options.data_field};
  auto entries = reply->type == REDIS_REPLY_ERROR ? std::nullopt : parse_entries(*reply, fields);
  if (!entries) {
    failure_ = reply->type == REDIS_REPLY_ERROR ? judge_reply(*reply, REDIS_REPLY_ARRAY)
                                                : make_error_code(redis_errc::unexpected_reply);
    words_ = words_of(*reply);
    return;
  }
  connection_.on_success();
  std::size_t bytes = 0;
  for (auto& each : *entries) {
    cursor_ = each.id;
    if (!progress_.open(each.id)) continue;
    ready_.push_back(make_message(std::move(each)));
    bytes += size_of(ready_.back());
  }
  ahead_.on_answer(entries->size(), bytes);
  if (!entries->empty()) ask();
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
  auto fetched = co_await fetcher_.fetch(ids, progress_.farthest());
  auto& [failure, finding] = fetched;
  if (!failure && !finding.loss.empty()) failure = answer_loss(fetcher_.connection(), finding.loss);
  if (failure) co_return failed<found_entries>(failure);
  const bool must_compare = !finding.loss.empty() && is_checked() && !is_going_back();
  if (must_compare) connection_.close();  // the next one tells where the stream ends
  for (std::size_t i = 0; i < ids.size(); ++i) {
    auto& each = finding.found[i];
    if (each) found[places[i]] = make_message(std::move(*each));
    if (!each) progress_.settle(ids[i]);  // it has gone
  }
  changed_.notify();  // `receive` may wait until nothing is in hand any more
  co_return outcome<found_entries>(error_code(), std::move(found));
}

// How the reader compares a stream with what was consumed, and what it removes from it.

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
  /// In words; empty: the stream is the same.
  std::string loss() const {
    auto found = loss_of(state, last, has_last, farthest);
    if (found.empty()) found = loss_of(state, farthest, has_farthest, farthest);
    if (found.empty() && read_before > farthest) found = loss_of(state, read_before, has_read_before, read_before);
    return found;
  }
};

awaitable<error_code> stream_reader::check_stream() {
  redis_inquiry asking(connection_, frame_->session->get_scheduler());
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
  auto asked = co_await asking.replies(frame_->session->now() + frame_->options.timeout);
  const auto& [failure, is_complete] = asked;
  if (failure || !is_complete) co_return failure;  // the next connection asks again
  if (look->error) co_return judge_failure(connection_, look->error, stream_ + ": " + look->words);
  if (const auto loss = look->loss(); !loss.empty()) {
    read_before_ = {};
    const auto error = answer_loss(connection_, loss);
    if (error) co_return error;
    if (look->state.last_generated < look->farthest) end_of_rest_ = look->state.last_generated;
  }
  checked_ = connection_.number();
  log_length(look->state.length);
  co_return error_code();
}

/// Other programs may read the stream, so nothing is removed from it unless an option says for whom it is.
void stream_reader::log_length(std::uint64_t length) {
  if (!frame_->options.groups.empty() || length <= many_entries || std::exchange(has_told_length_, true)) return;
  connection_.write_log(log_severity::warning, session_event::operation_failed, {},
                        stream_ + " has " + std::to_string(length) +
                            " entries, and nothing removes those that were consumed: redis_options::groups is empty");
}

/// Tells the log of it. Error: the run ends.
error_code stream_reader::answer_loss(redis_connection& by, const std::string& loss) {
  const bool stops = frame_->options.regress == redis_regress::stop_the_run;
  const auto detail = stream_ + ": " + loss + (stops ? "; the run ends" : "; going on with what is put from now on");
  by.write_log(stops ? log_severity::error : log_severity::warning, session_event::operation_failed,
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
  trimmer_.on_consumed(progress_.last());
  end_of_rest_.reset();
  return true;
}

/// Nothing is removed while the position is behind the end of the stream: its last entries would go, which tell the
/// next time whether it is still the same. It takes two calls. In between nothing is read, because the removal would
/// wait behind an XREAD for seconds, and an operator may move a group back in them.
awaitable<void> stream_reader::trim() {
  if (removable_) {
    const auto keep = *std::exchange(removable_, std::nullopt);
    const bool is_agreed = co_await trimmer_.is_consumed_by_all(keep);
    if (!is_agreed || !is_checked()) co_return;
    const std::vector<std::string> command{"XTRIM", stream_, "MINID", "~", to_string(keep)};  // whole nodes: cheap
    connection_.send(command, [](const redisReply*) {});  // a refusal shows in the length of the stream only
    co_return;
  }
  if (is_comparing_ || is_going_back()) co_return;
  const auto consumed = co_await trimmer_.consumed_by_all();
  if (!consumed.empty() && is_checked()) compare(consumed);
}

/// Asks on the connection that has shown the stream to be whole. A broker that loses entries ends that connection, so
/// the answers are about the same stream.
void stream_reader::compare(const std::vector<stream_id>& consumed) {
  struct comparison {
    std::size_t left;
    bool is_whole = true;
  };
  const auto state = std::make_shared<comparison>(comparison{consumed.size()});
  const auto now = frame_->session->now();
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

}  // namespace zkrecipes::detail
