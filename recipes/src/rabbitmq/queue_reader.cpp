#include "rabbitmq/queue_reader.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "session/condition.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

using namespace std::chrono_literals;

namespace {

using queue_messages = std::vector<message>;

/// For the last acknowledgements of a term.
constexpr std::chrono::milliseconds longest_farewell = 500ms;

/// With keys the messages of those that rest are among them, and others have to get past them. In strict order nothing
/// gets past, and a message is acknowledged the later the more are in front of it.
constexpr std::uint32_t prefetch_by_key = 1'000;
constexpr std::uint32_t prefetch_in_strict_order = 200;

/// When a consumer that has everything in hand and settles nothing is told.
constexpr std::chrono::milliseconds standstill = 30s;

constexpr std::string_view broker_field = "broker";
constexpr std::string_view limit_field = "delivery_limit";

void set_attempts(message& of, const delivery_memory& by) {
  const auto attempts = by.failed(of.name);
  of.attempts = attempts.count + 1;
  if (attempts.count > 0) of.stat.mtime = attempts.since;  // the engine takes it for the first failed attempt
}

}  // namespace

/// What the broker was asked, and its answer.
struct queue_reader::question {
  const char* command;
  lease_clock::time_point answer_by;
  condition& changed;  // of the reader
  bool is_answered = false;
  amqp_answer answer{};

  static rabbit_link::answer_handler handler(question_ptr to) {
    return [to = std::move(to)](const amqp_answer& answer) {
      to->is_answered = true;
      to->answer = answer;
      to->changed.notify();
    };
  }
};

queue_reader::queue_reader(rabbit_frame_ptr frame, std::uint32_t shard, position_node& memory)
    : frame_(std::move(frame)),
      queue_(frame_->queue(shard)),
      prefetch_(frame_->options.prefetch.value_or(prefetch_by_key)),
      position_(memory),
      changed_(frame_->session->get_scheduler()),
      progress_(prefetch_),
      stalls_(frame_->options.stall_timeout),
      warnings_(connection_, queue_),
      connection_(frame_, broker_connection::retries::with_refusals) {}

void queue_reader::set_order(message_order order) {
  const auto by_itself = order == message_order::strict ? prefetch_in_strict_order : prefetch_by_key;
  prefetch_ = frame_->options.prefetch.value_or(by_itself);
  progress_.resize(prefetch_);
}

void queue_reader::open() {
  connection_.log_end();
  connection_.close();
  drop_lost();
  position_.reset();
  progress_.open({});
  held_.clear();
  warnings_.begin_term();
}

/// The broker answers behind the acknowledgements. If they are lost, messages that have an id are known when they come
/// again; the others are processed again.
awaitable<void> queue_reader::close() {
  acknowledge();
  if (is_consuming() && progress_.has_unproven()) {
    const auto asked = make_question("queue.declare");
    asked->answer_by = now() + std::min(longest_farewell, frame_->options.timeout);
    connection_.link()->look_at(queue_, question::handler(asked));
    auto why = wake::notified;
    while (!asked->is_answered && why == wake::notified) why = co_await changed_.wait(asked->answer_by);
  }
  open();
}

awaitable<outcome<queue_messages>> queue_reader::receive(std::size_t most) {
  const forwarding position_changes(position_.changed(), changed_);
  const forwarding connection_changes(connection_.changed(), changed_);
  for (;;) {
    auto error = co_await read_memory();
    if (!error && most == 0 && position_.wants_look()) error = co_await position_.look();
    connection_.log_end();
    if (error || is_outdated() || most == 0) co_return failed<queue_messages>(error);
    warnings_.log_losses(progress_.take_missing());
    drop_lost();
    acknowledge();
    if (!ready_.empty()) break;
    if (is_consuming()) {
      error = co_await await_more();
    } else {
      error = co_await get_consumer();
    }
    if (error) co_return failed<queue_messages>(error);
  }
  queue_messages some;
  some.reserve(std::min(most, ready_.size()));
  while (some.size() < most && !ready_.empty()) {
    auto& first = ready_.front();
    progress_.hand_out(first.what.name, first.is_named);
    held_.insert_or_assign(first.what.name, first.what);
    some.push_back(std::move(first.what));
    ready_.pop_front();
  }
  co_return outcome<queue_messages>(error_code(), std::move(some));
}

/// The first time.
awaitable<error_code> queue_reader::read_memory() {
  if (position_.is_known()) co_return error_code();
  auto begun = co_await position_.begin(serialize(delivery_memory()));
  auto& [error, seen] = begun;
  if (error) co_return error;
  auto stored = parse_delivery_memory(seen[0].data);
  if (!stored) co_return errc::foreign_data;
  progress_.open(std::move(*stored));
  position_.know(seen[0]);
  co_return error_code();
}

/// What the broker has delivered by a connection that has ended, and was not handed out, comes again.
void queue_reader::drop_lost() {
  if (is_consuming()) return;
  consumed_ = 0;
  ready_.clear();
  progress_.lose();
  looking_.reset();
}

awaitable<error_code> queue_reader::get_consumer() {
  const auto end = connection_.why();
  error_code error;
  if (end && !may_recover_rabbit(end)) error = judge_failure(connection_, end, queue_ + ": " + connection_.words());
  if (!error) error = co_await connection_.ready();
  if (!error) error = co_await find_queue();
  if (!error && connection_.is_up()) error = co_await consume();
  if (!error && is_consuming()) record_broker();
  // What was asked before is not to be asked twice by one connection.
  if (is_cancelled(error)) connection_.close();
  co_return error;
}

/// The queue is made if nothing was ever settled. Later its absence means that messages are lost.
awaitable<error_code> queue_reader::find_queue() {
  const auto asked = make_question("queue.declare");
  auto then = question::handler(asked);
  if (progress_.memory().is_new()) {
    connection_.link()->declare(queue_, limit_, std::move(then));
  } else {
    connection_.link()->look_at(queue_, std::move(then));
  }
  co_return co_await await_answer(asked);
}

awaitable<error_code> queue_reader::consume() {
  const auto asked = make_question("basic.consume");
  consumed_ = connection_.number();
  settled_at_ = now();
  stalls_.on_event(settled_at_);
  connection_.link()->consume(
      queue_, static_cast<std::uint16_t>(prefetch_), [this](amqp_delivery each) { take(std::move(each)); },
      question::handler(asked));
  co_return co_await await_answer(asked);
}

queue_reader::question_ptr queue_reader::make_question(const char* command) {
  return std::make_shared<question>(question{command, now() + frame_->options.timeout, changed_});
}

/// Without an error the answer is good, or the connection has ended, and the next one asks again.
awaitable<error_code> queue_reader::await_answer(question_ptr to) {
  while (!to->is_answered && connection_.is_up()) {
    const auto words = std::string("no answer to ") + to->command;
    const auto why = co_await connection_.wait_for_answer(changed_, to->answer_by, words);
    if (why == wake::cancelled) co_return asio::error::operation_aborted;
  }
  co_return judge(*to);
}

/// An error ends the run.
error_code queue_reader::judge(const question& answered) {
  const auto& answer = answered.answer;
  if (answer.standing) {  // the queue is there already, and was made with another limit
    const auto why = judge_declared(limit_, answer);
    if (!may_recover_rabbit(why)) return judge_failure(connection_, why, queue_ + ": " + answer.words);
    connection_.close();
    return {};
  }
  const bool is_lost = !connection_.is_up() && may_recover_rabbit(answer.error);  // told when the next one is made
  if (!answered.is_answered || !answer.error || is_lost) return {};
  return judge_failure(connection_, answer.error, queue_ + ": " + answer.words);
}

/// Waits for messages, or until something else is to be done.
awaitable<error_code> queue_reader::await_more() {
  if (position_.has_fired()) co_return co_await position_.look();  // our own commits bring us here, too
  if (looking_ && looking_->is_answered) {
    const auto answered = std::exchange(looking_, nullptr);
    if (auto error = judge(*answered)) co_return error;
    stalls_.on_look(now(), answered->answer.messages > 0);
  }
  if (is_consuming()) look_for_stall();
  if (!is_consuming()) co_return error_code();
  const bool is_full = progress_.is_full();
  if (!is_full) settled_at_ = now();
  if (is_full && now() >= settled_at_ + standstill) warnings_.log_standstill(prefetch_);
  const auto standstill_at = warnings_.has_told_standstill() ? never : settled_at_ + standstill;
  const auto until = looking_ ? connection_.due(looking_->answer_by) : is_full ? standstill_at : stalls_.next_look();
  const auto why = co_await changed_.wait(until);
  if (why == wake::cancelled) co_return asio::error::operation_aborted;
  const bool is_open = looking_ && !looking_->is_answered;
  const bool is_late = why == wake::timed_out && is_open && now() >= connection_.due(looking_->answer_by);
  if (is_late) connection_.give_up(rabbit_errc::unavailable, queue_ + ": no answer to queue.declare");
  co_return error_code();
}

void queue_reader::look_for_stall() {
  const bool is_full = progress_.is_full();
  if (stalls_.is_stalled() && !is_full) {
    connection_.give_up(rabbit_errc::unavailable, queue_ + ": it has messages, and the broker delivers none");
  } else if (progress_.is_far_behind()) {
    connection_.give_up(rabbit_errc::unavailable, queue_ + ": the broker has delivered too many messages twice");
  } else if (!looking_ && !is_full && now() >= stalls_.next_look()) {
    // A message may be on its way, and the answer is behind it. The link notices when nothing comes at all.
    looking_ = make_question("queue.declare");
    looking_->answer_by += 2 * frame_->options.heartbeat;
    connection_.link()->look_at(queue_, question::handler(looking_));
  }
}

/// Called by the link.
void queue_reader::take(amqp_delivery what) {
  changed_.notify();
  connection_.on_success();
  stalls_.on_event(now());
  warnings_.on_delivery(what);
  auto name = progress_.take(what);
  if (!name) return;
  const bool is_named = !what.id.empty();
  message made;
  made.name = std::move(*name);
  made.data = std::move(what.data);
  made.key = std::move(what.key);
  made.stat.ctime = made.stat.mtime = what.timestamp;
  set_attempts(made, progress_.memory());
  ready_.push_back({std::move(made), is_named});
}

std::vector<std::optional<message>> queue_reader::read_again(std::vector<std::string> names) const {
  std::vector<std::optional<message>> all;
  for (auto& each : names) {
    const auto found = held_.find(each);
    message one;
    if (found != held_.end()) one = found->second;
    one.name = std::move(each);
    set_attempts(one, progress_.memory());
    all.emplace_back(std::move(one));
  }
  return all;
}

void queue_reader::settle(const std::string& name) {
  drop_lost();
  held_.erase(name);
  progress_.settle(name);
}

void queue_reader::acknowledge() {
  if (!is_consuming()) return;
  const auto all = progress_.take_acknowledgements();
  auto* const link = connection_.link();
  for (const auto& each : all) link->acknowledge(each.tag, each.is_multiple);
  if (all.empty()) return;
  stalls_.on_event(now());
  settled_at_ = now();
  warnings_.on_settled();
  changed_.notify();  // `receive` may wait without a limit while all that may come is here
}

/// A queue that was made when nothing had been settled has told its limit. Later it is what the memory says.
void queue_reader::record_broker() {
  const auto& broker = connection_.link()->client();
  if (progress_.memory().is_new()) progress_.set_field(limit_field, limit_ ? std::to_string(*limit_) : std::string());
  progress_.set_field(broker_field, broker.version());
  if (progress_.memory().field_text(limit_field).empty()) warnings_.log_unknown_limit(broker);
}

void queue_warnings::log(log_severity severity, const std::string& words) {
  connection_.write_log(severity, session_event::operation_failed, {}, queue_ + ": " + words);
}

void queue_warnings::on_delivery(const amqp_delivery& what) {
  if (what.returns >= many_returns && !std::exchange(has_told_returns_, true))
    returned_ = what.id + " has come back " + std::to_string(what.returns);
}

void queue_warnings::log_unknown_limit(const amqp_client& broker) {
  if (!limits_by_itself(broker.major_version()) || std::exchange(has_told_limit_, true)) return;
  const auto name =
      broker.version().empty() ? std::string("a broker of an unknown version") : "RabbitMQ " + broker.version();
  log(log_severity::warning, "the queue may lack the argument x-delivery-limit: unless a policy says otherwise, " +
                                 name + " drops a message that has come back 20 times, as with each lost connection");
}

void queue_warnings::log_standstill(std::uint32_t prefetch) {
  if (std::exchange(has_told_standstill_, true)) return;
  log(log_severity::warning,
      "no message was settled for 30 s, and the prefetch of " + std::to_string(prefetch) +
          " messages is used up: while the keys of these rest, messages of other keys do not come");
}

void queue_warnings::log_losses(const std::vector<std::string>& missing) {
  const auto returned = std::exchange(returned_, {});
  if (!returned.empty())
    log(log_severity::warning,
        "the message " + returned + " times; a delivery limit, of the queue or of a policy, will drop it");
  for (const auto& each : missing)
    log(log_severity::error, "messages of a producer are missing (numbers, epoch, producer): " + each);
}

}  // namespace zkrecipes::detail
