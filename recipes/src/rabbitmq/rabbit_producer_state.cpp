#include "rabbitmq/rabbit_producer_state.hpp"

#include <algorithm>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "external/delivery_memory.hpp"
#include "rabbitmq/rabbit_core.hpp"
#include "session/condition.hpp"

namespace zkrecipes::detail {

namespace {

/// RabbitMQ 3.10 can forget a confirm when the leader of a queue changes.
constexpr std::chrono::seconds longest_confirm(30);

bool can_put(const topic_message& what) { return !is_too_large_for_queue(what.key, what.data); }

/// `zkr:<name>:<shard>:<epoch>:<number>`: no two messages have the same id.
std::string id_of(const std::string& name, const queue_puts::message& which) {
  return to_string(numbered_id{name + ':' + std::to_string(which.shard), which.number.epoch, which.number.number});
}

}  // namespace

rabbit_producer_state::rabbit_producer_state(rabbit_frame_ptr frame, std::string name,
                                             std::unique_ptr<message_numbering> numbers)
    : inbox_producer(frame, &can_put),
      frame_(std::move(frame)),
      name_(std::move(name)),
      numbering_(std::move(numbers)),
      broker_(frame_),
      puts_(publisher_, *numbering_, frame_->options.shards),
      confirms_(longest_confirm),
      declares_(longest_confirm),
      rejections_(frame_->options.timeout) {}

void rabbit_producer_state::take_in(std::vector<waiting_put> arrived) {
  std::vector<queue_puts::progress_ptr> all;  // without memory, none of them
  for (auto& each : arrived) all.push_back(std::make_shared<put_progress>(std::move(each)));
  for (auto& each : all) puts_.add(std::move(each));
  begin();
}

void rabbit_producer_state::put_numbered(handler whose, std::vector<topic_message> what, const message_number& first) {
  auto call =
      std::make_shared<topic_put>(topic_put{std::move(what), true, topic_caller(*get_scheduler(), std::move(whose))});
  puts_.add(std::make_shared<put_progress>(std::move(call), first));
  begin();
}

std::string rabbit_producer_state::hindrance() const {
  const auto* link = broker_.link();
  if (!link) return "no broker of RabbitMQ can be reached: check the brokers and the network";
  return link->client().wants_pause() ? "the broker asks producers to stop: " + link->client().pause_reason()
                                      : std::string();
}

void rabbit_producer_state::begin() {
  record_change();
  if (!puts_.is_empty()) begin_work();
}

void rabbit_producer_state::abandon() {
  broker_.close();
  puts_.clear();
}

void rabbit_producer_state::leave() {
  if (numbering_->are_lasting()) puts_.clear();
  inbox_producer::leave();
}

awaitable<void> rabbit_producer_state::work(std::shared_ptr<put_abandonment> watch) {
  co_await wait_for_news();
  while (!puts_.is_empty()) {
    const auto error = co_await prepare();
    if (error)
      puts_.fail_all(error);
    else
      send_all();
    co_await wait_for_news();
  }
  broker_.close();
  end_work(*watch);
}

/// Makes what sending needs. Errors end all puts.
awaitable<error_code> rabbit_producer_state::prepare() {
  const auto& session = frame_->broker.session;
  auto error = session->over();
  if (!error) give_up_if_late();
  if (!error) error = record_end();
  tell_results();  // not behind a pause
  if (!error && !numbering_->has_begun()) error = co_await numbering_->begin();
  if (!error) error = co_await broker_.ready();
  if (!error && broker_.number() != greeted_) greet();
  co_return error;
}

/// With calls: until something has happened that may let them go on. Else until there are some, or will be none.
awaitable<void> rabbit_producer_state::wait_for_news() {
  const auto& session = frame_->broker.session;
  const forwarding session_changes(session->changed(), changed());
  const forwarding broker_changes(broker_.changed(), changed());
  tell_results();
  if (!puts_.is_empty() && broker_.is_up() && !session->over()) co_await changed().wait(look_at_clock());
  tell_results();
  while (puts_.is_empty() && !is_left() && !session->over()) co_await changed().wait();
}

void rabbit_producer_state::tell_results() { tell(puts_.results()); }

/// When the broker has been silent for too long. Once it has rejected a message, the rest is waited for a little: what
/// is sent again although it was taken takes room in the queue.
lease_clock::time_point rabbit_producer_state::look_at_clock() {
  const auto now = frame_->broker.session->now();
  const auto* link = broker_.link();
  const bool is_held_up = !link || link->client().wants_pause() || link->unsent() > 0;
  confirms_.look(publisher_.oldest_tag(), is_held_up, now);
  declares_.look(declaring_ ? std::uint64_t{*declaring_} + 1 : 0, is_held_up, now);
  rejections_.look(publisher_.is_rejected() ? 1 : 0, false, now);
  if (publisher_.is_rejected() && publisher_.under_way() == 0) return now;
  return std::min({confirms_.due(), declares_.due(), rejections_.due()});
}

void rabbit_producer_state::give_up_if_late() {
  const auto due = look_at_clock();
  if (!broker_.is_up() || due > frame_->broker.session->now()) return;
  const auto* words = publisher_.is_rejected()
                          ? "it has rejected messages of the producer; what is not confirmed is sent again"
                          : "no confirm for 30 s; what is not confirmed is sent again";
  if (publisher_.is_rejected() && puts_.last() != 0) rejected_until_ = puts_.last();
  broker_.give_up(rabbit_errc::unavailable, words);
}

void rabbit_producer_state::greet() {
  forget_connection();
  auto* link = broker_.link();
  if (!link) return;
  greeted_ = broker_.number();
  link->confirm([this](const amqp_confirm& what) { on_confirm(what); }, [this](std::uint64_t tag) { on_return(tag); },
                [](const amqp_answer&) {});
}

void rabbit_producer_state::send_all() {
  puts_.fill();
  auto* link = broker_.link();
  if (!link) return;
  declare_next(*link);
  const auto& client = link->client();
  const bool has_told = std::exchange(has_told_pause_, client.wants_pause());
  if (!client.wants_pause()) return send_next(*link);
  if (!has_told)
    broker_.write_log(log_severity::warning, session_event::operation_failed, rabbit_errc::unavailable,
                      "the broker asks producers to stop: " + client.pause_reason());
}

/// One at a time, so that it is known which of them the broker refuses.
void rabbit_producer_state::declare_next(rabbit_link& by) {
  if (declaring_ || (puts_.first() <= single_until_ && publisher_.under_way() > 0)) return;
  declaring_ = publisher_.undeclared();
  if (!declaring_) return;
  const auto shard = *declaring_;
  auto& limit = limits_.try_emplace(shard, unreachable_limit).first->second;
  by.declare(frame_->queue(shard), limit, [this, shard, &limit](const amqp_answer& answer) {
    declare_error_ = judge_declared(limit, answer);
    must_declare_again_ = answer.standing && may_recover_rabbit(declare_error_);
    if (answer.error) return;  // the connection ends, too
    publisher_.on_declared(shard);
    declaring_.reset();
    record_change();
  });
}

void rabbit_producer_state::send_next(rabbit_link& by) {
  for (;;) {
    const bool is_alone = puts_.first() <= single_until_;
    const auto place = is_alone && declaring_ ? std::nullopt : publisher_.next(is_alone);
    if (!place) return;
    const auto& which = puts_.at(*place);
    const auto& [key, data] = which.what();
    const auto tag = by.publish(frame_->queue(which.shard), id_of(name_, which), key, data, which.number.first);
    if (tag == 0) return;  // the connection has ended
    publisher_.on_sent(*place, tag);
  }
}

// What the broker says to a producer, and what its callers are told.

void rabbit_producer_state::on_confirm(const amqp_confirm& what) {
  for (const auto place : publisher_.confirm(what)) {
    gone_.erase(puts_.at(place).shard);
    puts_.on_put(place);
  }
  if (what.is_taken && puts_.first() > rejected_until_) broker_.on_success();
  record_change();
}

/// The number of the message stays unused.
void rabbit_producer_state::on_return(std::uint64_t tag) {
  record_change();
  const auto place = publisher_.take_back(tag);
  if (!place) return;
  const auto shard = puts_.at(*place).shard;
  const bool is_news = gone_.insert(shard).second;
  if (is_news)
    broker_.write_log(log_severity::error, session_event::operation_failed, rabbit_errc::missing_queue,
                      "the queue " + frame_->queue(shard) + " was there, and is not any more");
  puts_.fail(*place, rabbit_errc::missing_queue);
}

/// An error ends all puts. Without one, what is not confirmed is sent again on the next connection.
error_code rabbit_producer_state::record_end() {
  if (greeted_ == 0 || broker_.is_up()) return {};
  if (std::exchange(must_declare_again_, false)) broker_.close();
  const auto why = broker_.why();
  const bool is_refused = why && !may_recover_rabbit(why);
  const auto error = is_refused ? judge_refusal(why) : error_code();
  forget_connection();
  return error;
}

/// The broker has closed the connection because of something that it was sent. If that can be one of several messages,
/// for example one that is larger than it accepts, they are sent one by one to find out which.
error_code rabbit_producer_state::judge_refusal(const error_code& why) {
  if (!declaring_ && publisher_.under_way() == 0) return {};  // the next connection tells whether it persists
  const auto words = broker_.words();
  const bool is_of_queue = declaring_ && (declare_error_ == why || publisher_.under_way() == 0);
  const bool is_of_message = why == rabbit_errc::refused && publisher_.under_way() > 0;
  if (!is_of_queue && is_of_message && (declaring_ || publisher_.under_way() > 1)) {
    if (puts_.last() != 0) single_until_ = puts_.last();
    return {};
  }
  broker_.write_log(log_severity::error, session_event::operation_failed, why, words);
  if (why == rabbit_errc::refused_credentials || (!is_of_queue && !is_of_message)) return why;
  const auto lone = publisher_.lone();
  if (is_of_queue)
    puts_.fail_queue(*declaring_, why);
  else if (lone)
    puts_.fail(*lone, why);
  return {};
}

void rabbit_producer_state::forget_connection() {
  publisher_.begin_anew();
  declaring_.reset();
  declare_error_.clear();
  greeted_ = 0;
}

}  // namespace zkrecipes::detail
