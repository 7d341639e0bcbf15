#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "delivery/delivery_run.hpp"
#include "delivery/message_source.hpp"
#include "limit/arrival_rule.hpp"
#include "queue/queue_core.hpp"
#include "queue/queue_layout.hpp"
#include "queue/queue_listing.hpp"
#include "session/background.hpp"
#include "session/outcomes.hpp"

namespace zkrecipes::detail {

// The messages of a queue in ZooKeeper, read in order without claims.

class queue_source final : public message_source {
 public:
  explicit queue_source(shared_frame frame) : frame_(std::move(frame)), list_(frame_) {}

  std::string name() const override { return "queue " + frame_->where.items; }
  awaitable<error_code> open() override;
  awaitable<outcome<std::vector<message>>> receive(std::size_t most) override;
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) override;
  bool can_read_again() const noexcept override { return true; }
  awaitable<outcome<std::set<std::string>>> parked_keys() override;
  awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) override;
  void put_back(const std::vector<std::string>& names) override;
  std::string place_of_marks() const override;
  awaitable<error_code> prepare(settlement::kind what, bool parks_key) override;
  transaction settling(const settlement& each) const override;
  transaction moving_on(const std::vector<settlement>&) override { return {}; }
  awaitable<void> settled(std::vector<settlement> batch) override;
  awaitable<void> close() override;

 private:
  awaitable<outcome<std::vector<backend::reply>>> ask(std::vector<backend::request> what);

  shared_frame frame_;
  queue_listing list_;
  std::set<std::string> out_;  // handed out and not settled
};

using backend::opcode;

namespace {

using messages = std::vector<message>;
using known_messages = std::vector<std::optional<message>>;
using key_states = std::vector<key_state>;
using replies = std::vector<backend::reply>;

message to_message(std::string name, backend::reply& node) {
  const auto attempts = attempts_of(node.stat) + 1;
  return {std::move(name), std::move(node.data), node.stat, attempts};
}

dead_letter letter_of(const settlement& each) {
  dead_letter letter;
  letter.item = each.what->name;
  letter.data = each.what->data;
  letter.reason = each.reason;
  letter.attempts = each.what->attempts - (each.is_behind ? 1 : 0);
  if (each.parks_key) letter.key = shown_key(each.key);
  letter.epoch = each.epoch;
  letter.first_failed = each.first_failed;
  letter.last_failed = each.last_failed;
  return letter;
}

std::string mark_path(const queue_frame& frame, const std::string& key) {
  return join(frame.where.on_side(parked_folder), mark_of(key));
}

}  // namespace

awaitable<error_code> queue_source::open() {
  out_.clear();
  list_.close();
  co_return error_code();
}

awaitable<void> queue_source::close() {
  out_.clear();
  list_.close();
  co_return;
}

awaitable<void> queue_source::settled(std::vector<settlement> batch) {
  for (const auto& each : batch) {
    if (each.how != settlement::kind::count_attempt) out_.erase(each.what->name);
  }
  co_return;
}

awaitable<outcome<messages>> queue_source::receive(std::size_t most) {
  while (most > 0) {
    if (list_.due() == 0 || list_.is_outdated()) {
      auto error = co_await list_.read(out_);
      if (error) co_return failed<messages>(error);
    }
    std::vector<std::string> names;
    const auto due = std::min(most, list_.due());
    while (names.size() < due) {
      names.push_back(list_.take_first().name);
      out_.insert(names.back());
    }
    auto read = co_await read_again(names);
    auto& [error, found] = read;
    if (error) {  // none of them was handed out
      for (const auto& each : names) out_.erase(each);
      list_.forget();
      co_return failed<messages>(error);
    }
    messages all;
    for (auto& each : found) {
      if (each) all.push_back(std::move(*each));
    }
    if (all.empty()) list_.forget();  // others have removed them: the list is old
    if (!all.empty()) co_return outcome<messages>(error_code(), std::move(all));
  }
  co_return outcome<messages>(error_code(), messages());
}

/// Lost connections and refusals are waited for.
awaitable<outcome<replies>> queue_source::ask(std::vector<backend::request> what) {
  for (;;) {
    auto nodes = co_await frame_->session->perform_all(what);
    const auto failed_one =
        std::ranges::find_if(nodes, [](const backend::reply& each) { return is_untold(each.error); });
    if (failed_one == nodes.end()) {
      list_.reset_pause();
      co_return outcome<replies>(error_code(), std::move(nodes));
    }
    auto error = failed_one->error;
    if (is_server_refusal(error)) {
      error = co_await list_.rest();
    } else if (may_have_happened(error)) {
      error = co_await frame_->session->wait_connected(nullptr, never);
    }
    if (error) co_return failed<replies>(error);
  }
}

awaitable<outcome<known_messages>> queue_source::read_again(std::vector<std::string> names) {
  std::vector<backend::request> asked;
  for (const auto& each : names) asked.push_back(list_.request_of(each));
  auto answered = co_await ask(std::move(asked));
  auto& [error, nodes] = answered;
  if (error) co_return failed<known_messages>(error);
  known_messages found(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (nodes[i].error) out_.erase(names[i]);
    if (nodes[i].error == errc::no_auth) list_.skip(names[i], nodes[i].error);
    if (!nodes[i].error) found[i] = to_message(std::move(names[i]), nodes[i]);
  }
  co_return outcome<known_messages>(error_code(), std::move(found));
}

awaitable<outcome<std::set<std::string>>> queue_source::parked_keys() {
  std::vector<backend::request> list{make_request(opcode::children, frame_->where.on_side(parked_folder))};
  auto answered = co_await ask(std::move(list));
  auto& [error, nodes] = answered;
  if (!error && nodes.front().error != errc::no_node) error = nodes.front().error;
  if (error) co_return failed<std::set<std::string>>(error);
  const auto& marks = nodes.front().children;
  co_return outcome<std::set<std::string>>(error_code(), std::set<std::string>(marks.begin(), marks.end()));
}

awaitable<outcome<key_states>> queue_source::look_at_keys(std::vector<std::string> keys) {
  std::vector<backend::request> looks;
  for (const auto& each : keys) looks.push_back(make_request(opcode::exists, mark_path(*frame_, each)));
  auto answered = co_await ask(std::move(looks));
  auto& [error, marks] = answered;
  if (error) co_return failed<key_states>(error);
  key_states states;
  for (const auto& each : marks) {
    auto state = each.stat.version == mark_of_parking ? key_state::parked : key_state::held;
    states.push_back(each.error == errc::no_node ? key_state::free : state);
  }
  co_return outcome<key_states>(error_code(), std::move(states));
}

void queue_source::put_back(const std::vector<std::string>& names) {
  for (const auto& each : names) out_.erase(each);
  list_.forget();
}

std::string queue_source::place_of_marks() const {
  return frame_->where.kind == queue_kind::fifo ? frame_->where.on_side(marks_name) : std::string();
}

awaitable<error_code> queue_source::prepare(settlement::kind what, bool parks_key) {
  if (what != settlement::kind::park) co_return error_code();
  auto error = co_await frame_->session->ensure_path(frame_->where.on_side(dead_folder));
  if (!error && parks_key) error = co_await frame_->session->ensure_path(frame_->where.on_side(parked_folder));
  co_return error;
}

transaction queue_source::settling(const settlement& each) const {
  const auto& what = *each.what;
  const auto path = frame_->where.item(what.name);
  transaction all;
  if (each.how == settlement::kind::count_attempt) {
    // The write from a known version can not succeed twice. The server's count of attempts is lowered by it.
    all.set(path, what.data, what.stat.version);
    count_attempts(all, path, 2);
    return all;
  }
  all.remove(path, what.stat.version);  // data that somebody has changed meanwhile is not thrown away
  if (each.how == settlement::kind::remove) return all;
  const auto name = each.parks_key ? letters_of(mark_of(each.key)) : std::string("letter-");
  all.create(join(frame_->where.on_side(dead_folder), name), write_letter(letter_of(each)),
             create_mode::persistent_sequential);
  if (!each.parks_key) return all;
  const auto mark = mark_path(*frame_, each.key);
  if (each.is_behind) return all.check(mark, mark_of_parking);
  return all.create(mark, write_mark(each.key)).create(join(mark, frame_->session->make_guid()));
}

}  // namespace zkrecipes::detail

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

handler_for<void(error_code)> without_cancellation(handler_for<void(error_code)> h) {
  return handler_for<void(error_code)>(asio::bind_cancellation_slot(asio::cancellation_slot(), std::move(h)));
}

/// The run ends in order also when it is cancelled, so its coroutine is only told.
void start_delivery(handler_for<void(error_code)> h, delivery_run_ptr run) {
  forward_stop(asio::get_associated_cancellation_slot(h), std::weak_ptr(run),
               [](delivery_run& self, asio::cancellation_type) { self.cut(); });
  launch_endless(without_cancellation(std::move(h)), std::move(run), &delivery_run::run);
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
