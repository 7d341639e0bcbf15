#include "rabbitmq/rabbit_producer_state.hpp"

#include <algorithm>
#include <utility>

#include <boost/asio/post.hpp>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "backend/begin_once.hpp"
#include "external/numbered_id.hpp"
#include "rabbitmq/queue_limits.hpp"
#include "session/forwarding.hpp"

namespace zkrecipes::detail {

namespace {

/// RabbitMQ 3.10 can forget a confirm when the leader of a queue changes.
constexpr std::chrono::seconds longest_confirm(30);

bool is_too_large_message(const topic_message& what) { return is_too_large_for_queue(what.key, what.data); }

}  // namespace

rabbit_producer_state::rabbit_producer_state(rabbit_frame_ptr frame, std::string name,
                                             std::unique_ptr<message_numbering> numbers)
    : frame_(std::move(frame)),
      name_(std::move(name)),
      numbering_(std::move(numbers)),
      broker_(frame_),
      confirms_(longest_confirm),
      declares_(longest_confirm),
      rejections_(frame_->options.timeout),
      changed_(get_scheduler()),
      inbox_(get_scheduler()) {}

std::shared_ptr<rabbit_producer_state> rabbit_producer_state::make(rabbit_frame_ptr frame, std::string name,
                                                                   std::unique_ptr<message_numbering> numbers) {
  const auto real = std::make_shared<rabbit_producer_state>(std::move(frame), std::move(name), std::move(numbers));
  return {real.get(),
          [real](rabbit_producer_state*) { asio::post(real->get_scheduler()->strand, [real] { real->leave(); }); }};
}

void rabbit_producer_state::put(topic_caller::handler whose, topic_message what) {
  std::vector<topic_message> one;
  one.push_back(std::move(what));
  accept(std::move(whose), std::move(one), false);
}

void rabbit_producer_state::put_all(topic_caller::handler whose, std::vector<topic_message> what) {
  accept(std::move(whose), std::move(what), true);
}

void rabbit_producer_state::accept(topic_caller::handler whose, std::vector<topic_message> what, bool is_many) {
  if (std::ranges::any_of(what, &is_too_large_message)) return inbox_.refuse(std::move(whose), errc::too_large);
  if (what.empty()) return inbox_.refuse(std::move(whose), error_code());
  inbox_.add(std::move(whose), std::move(what), is_many, [self = shared_from_this()](std::vector<waiting_put> arrived) {
    std::vector<progress_ptr> all;
    for (auto& each : arrived) all.push_back(std::make_shared<put_progress>(std::move(each)));
    self->take_in(std::move(all));
  });
}

void rabbit_producer_state::put_numbered(topic_caller::handler whose, std::vector<topic_message> what,
                                         const message_number& first) {
  auto call =
      std::make_shared<topic_put>(topic_put{std::move(what), true, topic_caller(*get_scheduler(), std::move(whose))});
  take_in({std::make_shared<put_progress>(std::move(call), first)});
}

std::string rabbit_producer_state::hindrance() const {
  const auto* link = broker_.link();
  if (!link) return "no broker of RabbitMQ can be reached: check the brokers and the network";
  return link->client().wants_pause() ? "the broker asks producers to stop: " + link->client().pause_reason()
                                      : std::string();
}

void rabbit_producer_state::take_in(std::vector<progress_ptr> arrived) {
  for (auto& each : arrived) waiting_.push_back(std::move(each));
  changed_.notify();
  if (waiting_.empty()) return;
  begin_once(is_working_, [this] {
    auto watch = std::make_shared<put_abandonment>([self = shared_from_this()] { self->let_go(); });
    launch_detached(frame_->broker.session->strand(),
                    owning(shared_from_this(), &rabbit_producer_state::work, std::move(watch)));
  });
}

void rabbit_producer_state::leave() {
  is_left_ = true;
  if (numbering_->are_lasting()) give_up_calls();
  changed_.notify();
}

/// Without a word: who waits for them has gone.
void rabbit_producer_state::give_up_calls() {
  publisher_.clear();
  const auto waiting = std::exchange(waiting_, {});
  const auto sent = std::exchange(messages_, {});
  const auto results = std::exchange(results_, {});
}

/// The callers may let go of the last handle.
void rabbit_producer_state::let_go() {
  broker_.close();
  give_up_calls();
}

awaitable<void> rabbit_producer_state::work(std::shared_ptr<put_abandonment> watch) {
  co_await wait_for_news();
  while (has_calls()) {
    const auto error = co_await prepare();
    if (error)
      fail_all(error);
    else
      send_all();
    co_await wait_for_news();
  }
  broker_.close();
  is_working_ = false;
  watch->dismiss();
}

/// Makes what sending needs. Errors end all puts.
awaitable<error_code> rabbit_producer_state::prepare() {
  const auto& session = frame_->broker.session;
  auto error = session->over();
  if (!error) give_up_if_late();
  if (!error) error = record_end();
  complete_results();  // not behind a pause
  if (!error && !numbering_->has_begun()) error = co_await numbering_->begin();
  if (!error) error = co_await broker_.ready();
  if (!error && broker_.number() != greeted_) greet();
  co_return error;
}

/// With calls: until something has happened that may let them go on. Else until there are some, or will be none.
awaitable<void> rabbit_producer_state::wait_for_news() {
  const auto& session = frame_->broker.session;
  const forwarding session_changes(session->changed(), changed_);
  const forwarding broker_changes(broker_.changed(), changed_);
  complete_results();
  if (has_calls() && broker_.is_up() && !session->over()) co_await changed_.wait(look_at_clock());
  complete_results();
  while (!has_calls() && !is_left_ && !session->over()) co_await changed_.wait();
}

void rabbit_producer_state::complete_results() {
  if (!results_.empty()) detail::complete_results(get_scheduler()->base, std::exchange(results_, {}));
}

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
  if (publisher_.is_rejected() && !messages_.empty()) rejected_until_ = messages_.rbegin()->first;
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
  fill();
  auto* link = broker_.link();
  if (!link) return;
  declare_next(*link);
  if (!is_asked_to_pause(*link)) send_next(*link);
}

void rabbit_producer_state::fill() {
  while (!waiting_.empty()) {
    const auto first = waiting_.front();
    const auto& [key, data] = first->at(first->taken());
    const auto bytes = key.size() + data.size();
    if (!publisher_.has_room(bytes)) return;
    const auto shard = shard_of(key, frame_->options.shards);
    const auto place = publisher_.add(shard, bytes);
    const auto number = numbering_->next(shard, first->given(first->taken()));
    messages_[place] = {first, first->taken(), shard, number};
    first->take();
    if (first->is_taken()) waiting_.pop_front();
  }
}

/// One at a time, so that it is known which of them the broker refuses.
void rabbit_producer_state::declare_next(rabbit_link& by) {
  if (declaring_ || (is_single() && publisher_.under_way() > 0)) return;
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
    changed_.notify();
  });
}

void rabbit_producer_state::send_next(rabbit_link& by) {
  for (;;) {
    const bool is_alone = is_single();
    const auto place = is_alone && declaring_ ? std::nullopt : publisher_.next(is_alone);
    if (!place) return;
    const auto& what = messages_.at(*place);
    const auto& [key, data] = what.of->at(what.index);
    const auto tag = by.publish(frame_->queue(what.shard), id_of(what), key, data, what.number.first);
    if (tag == 0) return;  // the connection has ended
    publisher_.on_sent(*place, tag);
  }
}

bool rabbit_producer_state::is_asked_to_pause(const rabbit_link& by) {
  const bool is_asked = by.client().wants_pause();
  const bool is_news = is_asked && !has_told_pause_;
  has_told_pause_ = is_asked;
  if (is_news)
    broker_.write_log(log_severity::warning, session_event::operation_failed, rabbit_errc::unavailable,
                      "the broker asks producers to stop: " + by.client().pause_reason());
  return is_asked;
}

/// `zkr:<name>:<shard>:<epoch>:<number>`: no two messages have the same id.
std::string rabbit_producer_state::id_of(const sent_message& which) const {
  return to_string(numbered_id{name_ + ':' + std::to_string(which.shard), which.number.epoch, which.number.number});
}

}  // namespace zkrecipes::detail

// What the broker says to a producer, and what its callers are told.
namespace zkrecipes::detail {

void rabbit_producer_state::on_confirm(const amqp_confirm& what) {
  for (const auto place : publisher_.confirm(what)) on_put(place);
  const bool is_past_rejections = messages_.empty() || messages_.begin()->first > rejected_until_;
  if (what.is_taken && is_past_rejections) broker_.on_success();
  changed_.notify();
}

/// The number of the message stays unused.
void rabbit_producer_state::on_return(std::uint64_t tag) {
  changed_.notify();
  const auto place = publisher_.take_back(tag);
  if (!place) return;
  const auto which = messages_.at(*place);
  const bool is_news = gone_.insert(which.shard).second;
  if (is_news)
    broker_.write_log(log_severity::error, session_event::operation_failed, rabbit_errc::missing_queue,
                      "the queue " + frame_->queue(which.shard) + " was there, and is not any more");
  fail(which.of, which.index, rabbit_errc::missing_queue);
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
    if (!messages_.empty()) single_until_ = messages_.rbegin()->first;
    return {};
  }
  broker_.write_log(log_severity::error, session_event::operation_failed, why, words);
  if (why == rabbit_errc::refused_credentials || (!is_of_queue && !is_of_message)) return why;
  if (is_of_queue)
    fail_queue(*declaring_, why);
  else
    fail_lone(why);
  return {};
}

void rabbit_producer_state::forget_connection() {
  publisher_.begin_anew();
  declaring_.reset();
  declare_error_.clear();
  greeted_ = 0;
}

void rabbit_producer_state::on_put(std::uint64_t place) {
  const auto found = messages_.find(place);
  const auto which = std::move(found->second);
  messages_.erase(found);
  if (!gone_.empty()) gone_.erase(which.shard);
  which.of->on_put(which.index);
  if (which.of->is_complete()) results_.push_back(which.of->result());
}

/// A message can not be put. Those behind it in the same call are not sent, or not sent again.
void rabbit_producer_state::fail(progress_ptr which, std::size_t index, const error_code& why) {
  const bool is_waiting = !which->is_taken();
  which->fail(index, why);
  if (is_waiting && which->is_taken()) std::erase(waiting_, which);
  for (auto each = messages_.begin(); each != messages_.end();) {
    const auto now = each++;
    if (now->second.of != which || now->second.index < which->end()) continue;
    const bool may_be_put = publisher_.forget(now->first) && now->second.index > index;
    const auto gone = now->second;
    messages_.erase(now);
    skip(gone, may_be_put);
  }
  if (which->is_complete()) results_.push_back(which->result());
}

/// The next message of its queue says that this number is that of no message, or that nothing is known of it, so that
/// it is not missed.
void rabbit_producer_state::skip(const sent_message& which, bool may_be_put) {
  const auto& number = which.number;
  const bool is_unknown = may_be_put || number.first == number.number;
  const auto first = is_unknown ? 0 : number.first != 0 ? number.first : number.number;
  const auto is_next = [&which](const auto& each) {
    return each.second.shard == which.shard && each.second.number.number == which.number.number + 1;
  };
  const auto next = std::ranges::find_if(messages_, is_next);
  if (next == messages_.end())
    numbering_->skip(which.shard, number.number, first);
  else
    next->second.number.first = is_unknown ? next->second.number.number : first;
}

/// The only message that was under way.
void rabbit_producer_state::fail_lone(const error_code& why) {
  const auto place = publisher_.lone();
  if (!place) return;
  const auto which = messages_.at(*place);
  fail(which.of, which.index, why);
}

/// All messages for this queue. The messages of a call are next to each other.
void rabbit_producer_state::fail_queue(std::uint32_t shard, const error_code& why) {
  std::vector<progress_ptr> calls;
  for (const auto& [place, each] : messages_) {
    if (calls.empty() || calls.back() != each.of) calls.push_back(each.of);
  }
  for (const auto& each : waiting_) {
    if (calls.empty() || calls.back() != each) calls.push_back(each);
  }
  const auto is_for_it = [this, shard](const topic_message& what) {
    return shard_of(what.key, frame_->options.shards) == shard;
  };
  for (const auto& each : calls) {
    const auto& all = each->messages();
    const auto first = std::ranges::find_if(all, is_for_it);
    if (first != all.end()) fail(each, static_cast<std::size_t>(first - all.begin()), why);
  }
}

void rabbit_producer_state::fail_all(const error_code& why) {
  numbering_->fail();
  publisher_.clear();
  const auto sent = std::exchange(messages_, {});
  const auto waiting = std::exchange(waiting_, {});
  progress_ptr last;
  const auto fail_put = [this, &last, &why](const progress_ptr& which) {
    if (which == last) return;
    last = which;
    results_.push_back(which->result(why));
  };
  for (const auto& [place, each] : sent) fail_put(each.of);
  for (const auto& each : waiting) fail_put(each);
}

}  // namespace zkrecipes::detail
