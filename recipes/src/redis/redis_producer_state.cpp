#include "redis/redis_producer_state.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <hiredis/hiredis.h>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

#include "backend/begin_once.hpp"
#include "format/shown_text.hpp"
#include "redis/reply_reader.hpp"
#include "redis/stream_replies.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

namespace {

/// KEYS: the producer. ARGV: by.
constexpr const char* claim_script =
    "local kind = redis.pcall('HGET', KEYS[1], 'zkrecipes') "
    "if type(kind) == 'table' then return kind end "
    "if not kind and redis.call('EXISTS', KEYS[1]) == 1 or kind and kind ~= 'redis_producer' then "
    "return redis.error_reply('WRONGTYPE the key is not that of a producer') end "
    "redis.call('HSET', KEYS[1], 'zkrecipes', 'redis_producer', 'by', ARGV[1]) "
    "return {redis.call('HGET', KEYS[1], 'last') or '0', 1, ''}";

/// KEYS: the producer, and the streams. ARGV: by, the number of the last message, the names of the fields; then for
/// each message its stream, as a place in KEYS, its key and its data. The number is written first: a broker that does
/// not let us write it, or is out of memory, refuses the first write of a script, and nothing was put then. A message
/// that is refused leaves those in front of it in their streams, so the number has to tell of them.
constexpr const char* put_script =
    "local last = redis.call('HGET', KEYS[1], 'last') or '0' "
    "local ours = redis.call('HGET', KEYS[1], 'by') == ARGV[1] and 1 or 0 "
    "if ours == 0 or last ~= ARGV[2] then return {last, ours, ''} end "
    "local put, problem = tonumber(last), '' "
    "local function note(number) "
    "last = string.format('%.0f', number) "
    "redis.call('HSET', KEYS[1], 'last', last) end "
    "note(put + (#ARGV - 4) / 3) "
    "for i = 5, #ARGV, 3 do "
    "local stream, done = KEYS[tonumber(ARGV[i])] "
    "if ARGV[i + 1] == '' then done = redis.pcall('XADD', stream, '*', ARGV[4], ARGV[i + 2]) "
    "else done = redis.pcall('XADD', stream, '*', ARGV[3], ARGV[i + 1], ARGV[4], ARGV[i + 2]) end "
    "if type(done) == 'table' and done['err'] then problem = done['err'] break end "
    "put = put + 1 end "
    "if problem ~= '' then note(put) end "
    "return {last, 1, problem}";

}  // namespace

std::vector<std::string> claim_command(const std::string& producer, const std::string& by) {
  return {"EVAL", claim_script, "1", producer, by};
}

std::vector<std::string> put_command(const redis_options& options, const std::string& producer, const std::string& by,
                                     std::uint64_t last, const std::vector<stream_put>& all) {
  std::map<std::string_view, std::size_t> places;
  std::vector<std::string> keys{producer};
  for (const auto& each : all) {
    if (places.emplace(each.stream, keys.size() + 1).second) keys.push_back(each.stream);
  }
  std::vector<std::string> command{"EVAL", put_script, std::to_string(keys.size())};
  command.insert(command.end(), keys.begin(), keys.end());
  command.insert(command.end(), {by, std::to_string(last), options.key_field, options.data_field});
  for (const auto& each : all) {
    command.insert(command.end(), {std::to_string(places.at(each.stream)), each.key, each.data});
  }
  return command;
}

std::optional<put_answer> parse_put_answer(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 3) return std::nullopt;
  const auto& last = *reply.element[0];
  const auto& ours = *reply.element[1];
  const auto& problem = *reply.element[2];
  const bool is_form =
      last.type == REDIS_REPLY_STRING && ours.type == REDIS_REPLY_INTEGER && problem.type == REDIS_REPLY_STRING;
  const auto number = is_form ? parse_whole<std::uint64_t>(text_in(last)) : std::nullopt;
  if (!number) return std::nullopt;
  return put_answer{*number, ours.integer == 1, std::string(text_in(problem))};
}

namespace {

constexpr std::size_t most_at_once = 1'000;
constexpr std::size_t most_bytes_at_once = 1024 * 1024;
constexpr std::size_t most_bytes_of_one = 64 * 1024 * 1024;

bool can_put(const topic_message& what) { return what.key.size() + what.data.size() <= most_bytes_of_one; }

bool asks_for_number(const topic_put& which) { return which.messages.empty(); }

}  // namespace

redis_producer_state::redis_producer_state(redis_frame_ptr frame, const std::string& name)
    : inbox_producer(frame, &can_put),
      frame_(std::move(frame)),
      key_(frame_->options.stream + ":producer:" + name),
      broker_(frame_) {}

void redis_producer_state::take_in(std::vector<waiting_put> arrived) {
  for (auto& each : arrived) {
    each->composed = each->messages.size();
    waiting_.push_back(std::move(each));
  }
  record_change();
  if (!waiting_.empty()) begin_work();
}

void redis_producer_state::abandon() {
  broker_.close();
  let_go(waiting_);
}

awaitable<void> redis_producer_state::work(std::shared_ptr<put_abandonment> watch) {
  co_await wait_for_calls();
  while (!waiting_.empty()) {
    co_await do_next();
    tell(results_);
    co_await wait_for_calls();
  }
  broker_.close();
  end_work(*watch);
}

/// Until there are some, or there will be none.
awaitable<void> redis_producer_state::wait_for_calls() {
  const auto& session = frame_->broker.session;
  const forwarding session_changes(session->changed(), changed());
  while (waiting_.empty() && !is_left() && !session->over()) co_await changed().wait();
}

awaitable<void> redis_producer_state::do_next() {
  auto error = frame_->broker.session->over();
  const bool has_begun = !error && !is_known_;
  if (has_begun) error = co_await begin();
  if (error) co_return fail_all(error);
  if (!is_known_) co_return;  // a loss was found
  if (asks_for_number(*waiting_.front()))
    co_await answer_last(has_begun);
  else
    co_await put_batch();
}

/// Takes the name over, so that nothing that another object has sent can come in between. After an error `last_` is
/// what was acknowledged before it.
awaitable<error_code> redis_producer_state::begin() {
  auto error = co_await agree_on_record(frame_);
  std::uint64_t number = 0;
  if (!error) error = co_await claim(number);
  if (error) co_return error;
  is_known_ = true;
  if (number < last_) on_loss(number);
  last_ = number;
  co_return error;
}

/// A try whose reply is lost may come late, when others have the name. It must not give them ours of now.
awaitable<error_code> redis_producer_state::claim(std::uint64_t& number) {
  const auto found = std::make_shared<std::uint64_t>(0);
  error_code error = errc::outcome_unknown;
  while (error == errc::outcome_unknown) {
    id_ = frame_->broker.session->make_guid();
    const auto asked = std::make_shared<redis_question>();
    asked->command = claim_command(key_, id_);
    asked->take = [found](const redisReply& reply) {
      const auto answer = parse_put_answer(reply);
      if (answer) *found = answer->last;
      return answer ? error_code() : refusal_of(reply, REDIS_REPLY_ARRAY);
    };
    redis_questions one;
    one.push_back(asked);
    error = co_await ask_broker(frame_, broker_, std::move(one), false, never);
  }
  number = *found;
  co_return error;
}

awaitable<void> redis_producer_state::answer_last(bool has_begun) {
  auto number = last_;
  error_code error;
  if (!has_begun) error = co_await claim(number);
  if (error) co_return fail_all(error);
  results_.push_back({std::move(waiting_.front()->caller), error_code(), number});
  waiting_.pop_front();
  const bool has_grown = number > last_;
  if (number < last_) on_loss(number);
  if (has_grown) fail_puts(errc::superseded);  // they were called before this was known
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
  if (!error) co_return conclude(count, *found, asked->is_open());
  if (asked->is_open() && !frame_->broker.session->over()) fail_batch(count, errc::outcome_unknown);
  fail_all(error);
}

/// The next batch: messages in order, beginning with the first that was not put.
std::vector<stream_put> redis_producer_state::next_batch() const {
  std::vector<stream_put> all;
  std::size_t bytes = 0;
  for (const auto& call : waiting_) {
    if (asks_for_number(*call)) break;
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

/// The broker has answered to a batch of so many messages behind `last_`. `is_open`: another try may have been done.
void redis_producer_state::conclude(std::size_t count, const put_answer& answer, bool is_open) {
  if (answer.last < last_) return on_loss(answer.last);
  const auto more = answer.last - last_;
  if (!answer.is_ours || more > count) {
    if (is_open && more > 0) fail_batch(count, errc::outcome_unknown);
    return fail_puts(errc::superseded);
  }
  const bool is_refused = more < count && !answer.problem.empty();
  if (more == 0 && !is_refused) return fail_all(redis_errc::unexpected_reply);  // it would be the same with each try
  on_put(more);
  if (!is_refused) return;
  if (is_open && more == 0) is_known_ = false;  // the other try would put what was refused now
  const auto error = error_of_redis(answer.problem);
  broker_.write_log(log_severity::error, session_event::operation_failed, error, answer.problem);
  fail_first(error);
}

void redis_producer_state::on_put(std::size_t count) {
  record_put(waiting_, count, last_, results_);
  last_ += count;
}

void redis_producer_state::fail_first(const error_code& why) { detail::fail_first(waiting_, why, results_); }

/// Those that have one of so many messages, from the first on.
void redis_producer_state::fail_batch(std::size_t count, const error_code& why) {
  while (count > 0) {
    const auto& first = *waiting_.front();
    count -= std::min(count, first.messages.size() - first.put);
    fail_first(why);
  }
}

/// All but those that ask for the number only: the broker still tells it.
void redis_producer_state::fail_puts(const error_code& why) {
  is_known_ = false;
  auto asking = std::ranges::stable_partition(waiting_, [](const auto& each) { return !asks_for_number(*each); });
  const auto puts = waiting_.size() - asking.size();
  for (std::size_t i = 0; i < puts; ++i) fail_first(why);
}

void redis_producer_state::fail_all(const error_code& why) {
  is_known_ = false;
  while (!waiting_.empty()) fail_first(why);
}

/// The broker has lost messages that it had acknowledged. Those that wait go behind what it has, or fail.
void redis_producer_state::on_loss(std::uint64_t found) {
  const auto words = "the last message of the producer " + key_ + " is number " + std::to_string(found) + "; " +
                     std::to_string(last_) + " was acknowledged";
  broker_.write_log(log_severity::error, session_event::operation_failed, redis_errc::source_regressed, words);
  is_known_ = false;
  last_ = found;
  if (frame_->options.regress == redis_regress::stop_the_run) fail_puts(redis_errc::source_regressed);
}

}  // namespace zkrecipes::detail
