#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/post.hpp>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "backend/begin_once.hpp"
#include "backend/request.hpp"
#include "backend/worded_errors.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "topic/put_inbox.hpp"
#include "topic/topic_core.hpp"
#include "topic/topic_layout.hpp"
#include "topic/topic_sender.hpp"
#include "topic/topic_transaction.hpp"

namespace zkrecipes::detail {

/// Puts messages into a topic exactly once: the transaction that creates the batches also writes the number of the last
/// message.
/// The puts of one transaction complete together. Only a full transaction is sent while others are under way.
class topic_producer_state final : public inbox_producer {
 public:
  topic_producer_state(topic_frame_ptr topic, const std::string& name, topic_producer_options options);

  const topic_producer_options& options() const noexcept { return options_; }
  void last(handler whose) override;

 private:
  void take_in(std::vector<waiting_put> arrived) override;
  awaitable<void> work(std::shared_ptr<put_abandonment> watch) override;
  void abandon() override;
  awaitable<void> fill();
  awaitable<void> send_next();
  awaitable<void> wait_for_answer();
  bool is_full() const noexcept;
  bool can_send() const noexcept { return is_full() && sender_->has_room(); }
  void compose(topic_transaction& into);
  bool compose(topic_put& each, topic_transaction& into);
  void conclude(const topic_sender::result& what);
  void on_put(std::size_t count, std::uint64_t number);
  void fail(std::size_t count, const error_code& error);
  void begin_again();
  void end_late();
  void count_in(const topic_put& which, std::size_t from, std::size_t to);
  void count_out(const topic_put& which, std::size_t from, std::size_t to);

  topic_frame_ptr topic_;
  topic_producer_options options_;
  std::shared_ptr<topic_sender> sender_;
  topic_room room_;
  std::size_t overhead_;              // bytes of a node in a transaction besides its data
  std::size_t max_bytes_;             // of a transaction
  bool is_ending_late_ = false;       // it will be looked at
  put_line waiting_;                  // those of the transactions under way are the first
  std::size_t composed_puts_ = 0;     // so many of them are in transactions as a whole
  std::size_t waiting_messages_ = 0;  // those that are in none
  std::size_t waiting_bytes_ = 0;
  std::deque<put_result> results_;  // to be told
};

using backend::opcode;

namespace {

constexpr std::size_t longest_key_of_put = 1'000;

/// Bytes of a node in a transaction besides its data.
std::size_t overhead_of_batch(const topic_frame& topic) {
  std::size_t rights = 0;
  for (const auto& each : topic.session->options().default_acl) rights += each.scheme.size() + each.id.size() + 12;
  return topic.session->root().size() + topic.where.root.size() + rights + 96;
}

/// What the session sends in one request, less the writes of the producer's record: see `topic_sender`.
std::size_t max_bytes_of(const topic_frame& topic, const std::string& name, const topic_producer_options& options) {
  constexpr std::size_t least = 1024;
  const auto writes = std::size_t{topic_sender::most_under_way} * (overhead_of_batch(topic) + name.size());
  const auto most = topic.session->options().jute_maxbuffer;
  return std::min(options.max_bytes, std::max(least, most - std::min(most, writes)));
}

bool can_put(const topic_message& what) {
  return what.key.size() <= longest_key_of_put && what.key.size() + what.data.size() <= max_data_bytes;
}

}  // namespace

topic_producer_state::topic_producer_state(topic_frame_ptr topic, const std::string& name,
                                           topic_producer_options options)
    : inbox_producer(topic, &can_put),
      topic_(std::move(topic)),
      options_(options),
      sender_(std::make_shared<topic_sender>(topic_, name)),
      room_(topic_),
      overhead_(overhead_of_batch(*topic_)),
      max_bytes_(max_bytes_of(*topic_, name, options_)) {}

void topic_producer_state::last(handler whose) {
  launch(*get_scheduler(), std::move(whose), owning(sender_, &topic_sender::last));
}

void topic_producer_state::take_in(std::vector<waiting_put> arrived) {
  const auto due = get_scheduler()->deadline_of(options_.linger);
  const auto reach = std::make_shared<put_reach>(get_scheduler(), [weak = weak_from_this()] {
    const auto self = std::static_pointer_cast<topic_producer_state>(weak.lock());
    if (!self) return;
    begin_once(self->is_ending_late_, [&self] {
      asio::post(self->get_scheduler()->strand, [self] {
        self->is_ending_late_ = false;
        self->end_late();
      });
    });
  });
  for (auto& each : arrived) {
    each->due = due;
    each->reach = reach;
    count_in(*each, 0, each->messages.size());
    waiting_.push_back(std::move(each));
  }
  if (is_full()) record_change();
  if (!waiting_.empty()) begin_work();
}

void topic_producer_state::abandon() {
  waiting_messages_ = waiting_bytes_ = 0;
  let_go(waiting_);
}

bool topic_producer_state::is_full() const noexcept {
  return waiting_messages_ >= options_.max_batch || waiting_bytes_ >= max_bytes_;
}

awaitable<void> topic_producer_state::work(std::shared_ptr<put_abandonment> watch) {
  while (!waiting_.empty()) {
    if (sender_->is_idle()) {
      co_await fill();
      co_await send_next();
    } else if (can_send() && !sender_->has_answer()) {
      co_await send_next();
    } else {
      co_await wait_for_answer();
    }
  }
  end_work(*watch);
}

/// Waits for more messages until the transaction is full or its first message is due, unless the session is over.
awaitable<void> topic_producer_state::fill() {
  const auto& session = topic_->session;
  const forwarding session_changes(session->changed(), changed());
  const auto due = waiting_.front()->due;
  while (!is_full() && !session->over() && session->now() < due) co_await changed().wait(due);
}

awaitable<void> topic_producer_state::send_next() {
  co_await room_.look();
  const auto error = co_await sender_->prepare();  // ahead of `compose`: what waits for a connection is in none
  topic_transaction all(overhead_);
  compose(all);
  const auto count = all.count();
  if (count > 0 && !error) sender_->send(std::move(all));
  topic_sender::result none;
  if (error) none.failed = count;
  none.error = error;
  if (sender_->is_idle()) conclude(none);  // it could not be sent, or each message was refused
}

awaitable<void> topic_producer_state::wait_for_answer() {
  const forwarding answers(sender_->changed(), changed());
  while (!sender_->has_answer() && !can_send()) co_await changed().wait();
  if (!sender_->has_answer()) co_return;
  const auto settled = co_await sender_->settle(room_);
  conclude(settled);
}

void topic_producer_state::compose(topic_transaction& into) {
  while (composed_puts_ < waiting_.size() && compose(*waiting_[composed_puts_], into)) ++composed_puts_;
}

/// Adds messages as long as there is room in the transaction. Returns whether all of this call have been looked at.
bool topic_producer_state::compose(topic_put& each, topic_transaction& into) {
  const auto begin = each.composed;
  bool has_room = true;
  for (; has_room && each.composed < each.messages.size(); ++each.composed) {
    const auto& [key, data] = each.messages[each.composed];
    const auto shard = shard_of(key, topic_->options.shards);
    each.error = room_.refusal(shard);
    if (each.error) break;
    const bool is_first = into.count() == 0;
    const auto bytes = into.bytes() + into.more_bytes(shard, key, data);
    has_room = is_first || (into.count() < options_.max_batch && bytes <= max_bytes_);
    if (!has_room) break;
    into.add(shard, key, data);
  }
  count_out(each, begin, each.error ? each.messages.size() : each.composed);
  return has_room;
}

void topic_producer_state::conclude(const topic_sender::result& what) {
  on_put(what.put, what.before);
  fail(what.failed, what.error);
  if (sender_->is_idle()) begin_again();
  end_late();
}

/// Those that have had no connection for the limit are told so and forgotten, so nothing waits here without a bound.
/// The sender tells of those that are under way, also in part.
void topic_producer_state::end_late() {
  const auto is_late = [](const waiting_put& each) { return each->reach->is_over(); };
  const bool is_in_part =
      composed_puts_ < waiting_.size() && waiting_[composed_puts_]->composed > waiting_[composed_puts_]->put;
  const auto first = waiting_.begin() + static_cast<std::ptrdiff_t>(composed_puts_ + (is_in_part ? 1 : 0));
  const auto behind = std::find_if_not(first, waiting_.end(), is_late);
  for (auto each = first; each != behind; ++each) {
    auto& late = **each;
    count_out(late, late.composed, late.messages.size());
    results_.push_back({std::move(late.caller), backend::not_sent(), late.put});
  }
  waiting_.erase(first, behind);
  tell(results_);
}

/// So many messages are in the topic; the first of them has the number behind `number`.
void topic_producer_state::on_put(std::size_t count, std::uint64_t number) {
  composed_puts_ -= record_put(waiting_, count, number, results_);
}

/// So many messages can not be put, nor can those that follow them in the same call.
void topic_producer_state::fail(std::size_t count, const error_code& error) {
  while (count > 0) {
    auto& first = *waiting_.front();
    const auto some = std::min(count, first.composed - first.put);
    count -= some;
    if (!first.error) count_out(first, first.composed, first.messages.size());
    fail_first(waiting_, some > 0 ? error : first.error, results_);
    if (composed_puts_ > 0) --composed_puts_;
  }
}

/// Nothing is under way: what was not put is composed anew.
void topic_producer_state::begin_again() {
  const auto touched = std::min(composed_puts_ + 1, waiting_.size());
  for (std::size_t i = 0; i < touched; ++i) {
    auto& each = *waiting_[i];
    count_in(each, each.put, each.error ? each.messages.size() : each.composed);
    each.composed = each.put;
    each.error.clear();
  }
  composed_puts_ = 0;
}

void topic_producer_state::count_in(const topic_put& which, std::size_t from, std::size_t to) {
  waiting_messages_ += to - from;
  waiting_bytes_ += which.bytes(from, to);
}

void topic_producer_state::count_out(const topic_put& which, std::size_t from, std::size_t to) {
  waiting_messages_ -= to - from;
  waiting_bytes_ -= which.bytes(from, to);
}

}  // namespace zkrecipes::detail

namespace zkrecipes {

using namespace detail;

namespace {

void check(const topic_producer_options& options) {
  using namespace std::chrono_literals;
  const auto require = [](bool is_good, const char* option, const char* bounds) {
    if (!is_good)
      throw std::invalid_argument(std::string("topic_producer_options::") + option + ": it must be " + bounds);
  };
  require(options.max_batch >= 1 && options.max_batch <= 10'000, "max_batch", "1 to 10 000");
  require(options.max_bytes >= 1024 && options.max_bytes <= 512 * 1024, "max_bytes", "1 KiB to 512 KiB");
  require(options.linger >= 0ms && options.linger <= 60s, "linger", "0 to 60 s");
}

/// Checks the arguments.
std::shared_ptr<topic_producer_state> state_of(const topic& into, const std::string& name,
                                               topic_producer_options options) {
  require_name("producer name", name);
  check(options);
  if (!into.get_core()) throw std::invalid_argument("topic_producer: a topic that was made by default takes nothing");
  return std::make_shared<topic_producer_state>(frame_of<topic_frame>(into), name, options);
}

}  // namespace

topic_producer::topic_producer(const topic& into, std::string name, topic_producer_options options)
    : producer_base(into.get_session(), state_of(into, name, options)) {}

const topic_producer_options& topic_producer::options() const noexcept {
  return options_of_producer<topic_producer_state>(*this);
}

}  // namespace zkrecipes
