#include <stdexcept>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/delivery_run.hpp"
#include "delivery/queue_source.hpp"
#include "limit/check_rate.hpp"
#include "queue/queue_core.hpp"

namespace zkrecipes {

using namespace detail;
using namespace std::chrono_literals;

namespace {

void require(bool is_good, const char* option, const char* what) {
  if (is_good) return;
  throw std::invalid_argument(std::string("queue_consumer_options::") + option + ": it must be " + what);
}

void check(const message_retry& retry) {
  require(retry.first >= 0ms && retry.first <= 24h, "retry.first", "0 to 24 h");
  require(retry.longest >= retry.first && retry.longest <= 24h, "retry.longest", "at least `first`, and at most 24 h");
  require(retry.factor >= 1 && retry.factor <= 100, "retry.factor", "1 to 100");
  require(retry.jitter >= 0 && retry.jitter <= 1, "retry.jitter", "0 to 1");
  require(retry.outage >= 0ms && retry.outage <= 24h, "retry.outage", "0 to 24 h");
  require(retry.attempts >= 1 && retry.attempts <= 100, "retry.attempts", "1 to 100");
}

void check_repeats(const queue_consumer_options& options) {
  require(static_cast<bool>(options.repeats->origin), "repeats.origin", "set");
  const auto most = options.repeats->most_producers;
  require(most >= 1 && most <= 1'000, "repeats.most_producers", "1 to 1 000");
  require(options.order != message_order::none, "repeats", "unset without an order");
  require(options.order != message_order::by_key || !options.key, "key",
          "unset with repeats, because the key is the name of the producer");
  require(!options.duplicates, "repeats", "unset with duplicates");
  require(options.delivery != delivery_guarantee::at_most_once, "repeats", "unset with at_most_once");
}

void check(const queue_consumer_options& options) {
  require(options.window >= 1 && options.window <= 10'000, "window", "1 to 10 000");
  require(options.parallel >= 1 && options.parallel <= options.window, "parallel", "1 to `window`");
  const bool is_strict = options.order == message_order::strict;
  require(!is_strict || options.parallel == 1, "parallel", "1 in strict order");
  require(options.order != message_order::by_key || options.repeats || options.key, "key", "set for order by key");
  const bool parks_key = options.spent == spent_message::park_key;
  require(!parks_key || options.order == message_order::by_key, "spent", "other than park_key unless order is by_key");
  require(!parks_key || options.delivery != delivery_guarantee::at_most_once, "spent",
          "other than park_key with at_most_once");
  check(options.retry);
  if (options.repeats) check_repeats(options);
  if (options.limit) check_rate("message_limit", *options.limit);
  require(!options.limit || options.delivery != delivery_guarantee::at_most_once, "limit", "unset with at_most_once");
  if (!options.duplicates) return;
  const lease_clock::duration safety = options.duplicates->safety;
  require(options.order == message_order::by_key, "duplicates", "unset unless order is by_key");
  require(options.delivery != delivery_guarantee::at_most_once, "duplicates", "unset with at_most_once");
  require(options.window >= 3, "window", "3 or more with duplicates");
  require(safety > 0ns, "duplicates.safety", "more than 0");
}

std::shared_ptr<delivery_frame> make_frame(const queue_base& from, queue_consumer_options options) {
  check(options);
  if (!from.get_queue()) throw std::invalid_argument("queue_consumer: a queue that was made by default has no items");
  auto frame = std::make_shared<delivery_frame>();
  frame->source = std::make_shared<queue_source>(from.get_queue()->frame());
  require(!options.repeats || !frame->source->place_of_marks().empty(), "repeats",
          "unset with a priority queue or a delay queue, whose order is not that of the puts");
  frame->options = std::move(options);
  return frame;
}

std::shared_ptr<delivery_frame> make_frame(const message_feed& from, queue_consumer_options options) {
  if (!from.get_source())
    throw std::invalid_argument("queue_consumer: a feed that was made by default has no messages");
  if (options.order == message_order::by_key && !options.repeats && !options.key) {
    options.key = [](const message& what) { return what.key; };
  }
  check(options);
  require(options.spent != spent_message::park_key || from.get_source()->get_traits().parks_keys, "spent",
          "other than park_key with a feed");
  auto frame = std::make_shared<delivery_frame>();
  if (from.get_source()->is_taken.exchange(true))
    throw std::invalid_argument("queue_consumer: another consumer has this feed; ask the source for one of its own");
  frame->source =
      source_ptr(from.get_source().get(), [source = from.get_source()](auto*) { source->is_taken = false; });
  frame->source->set_order(options.order);
  frame->options = std::move(options);
  return frame;
}

void start_delivery(handler_for<void(error_code)> h, delivery_run_ptr run) {
  const auto on = run->get_scheduler();
  auto slot = asio::get_associated_cancellation_slot(h);
  if (slot.is_connected()) {
    // The run ends in order also when it is cancelled, so its coroutine is only told.
    slot.assign([weak = std::weak_ptr(run)](asio::cancellation_type) {
      auto alive = weak.lock();
      if (alive) asio::post(alive->get_scheduler()->strand, [alive] { alive->cut(); });
    });
  }
  handler_for<void(error_code)> deaf(asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(h)));
  launch(*on, std::move(deaf), owning(std::move(run), &delivery_run::run), persistence::endless);
}

}  // namespace

queue_consumer::queue_consumer(const queue_base& from, queue_consumer_options options)
    : queue_session_(from.get_session()), frame_(make_frame(from, std::move(options))) {
  frame_->process = [this](term present, const message& item) { return process(std::move(present), item); };
}

queue_consumer::queue_consumer(const message_feed& from, queue_consumer_options options)
    : queue_session_(from.get_session()), frame_(make_frame(from, std::move(options))) {
  frame_->process = [this](term present, const message& item) { return process(std::move(present), item); };
}

queue_consumer::~queue_consumer() = default;

asio::awaitable<void> queue_consumer::inaugurate(term) { co_return; }

asio::awaitable<void> queue_consumer::hand_over(term, term_end) { co_return; }

asio::awaitable<void> queue_consumer::execute(term present) {
  auto executor = co_await asio::this_coro::executor;
  if (!present.get_state()) co_return;
  if (present.get_session().get_core() != queue_session_.get_core()) {
    throw std::invalid_argument("queue_consumer: " + frame_->source->name() +
                                ": the coordinator must be on the same session");
  }
  auto run = std::make_shared<delivery_run>(present.get_state(), frame_, executor);
  auto token = asio::as_tuple(asio::use_awaitable);
  auto ended = co_await initiate<void(error_code)>(token, &start_delivery, run);
  if (run->failure()) std::rethrow_exception(run->failure());
  const auto error = std::get<0>(ended);
  if (error == errc::career_failed) throw std::runtime_error(frame_->source->name() + ": " + frame_->source->failure());
  if (error && !is_fatal(error)) throw boost::system::system_error(error, frame_->source->name());
}

queue_consumer_status queue_consumer::status() const { return frame_->board.read(); }

const queue_consumer_options& queue_consumer::options() const noexcept { return frame_->options; }

}  // namespace zkrecipes
