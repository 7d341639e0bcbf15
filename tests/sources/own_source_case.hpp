// A case with a log and a queue of one's own, and consumers of them.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer/external_source.hpp>
#include <zkrecipes/error.hpp>

#include "brokers/running_reader.hpp"
#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

// What goes wrong in a source of one's own, as a case has planned it.

/// By the name of the function.
struct planned_faults {
  std::map<std::string, std::deque<error_code>> errors{};
  std::map<std::string, std::string> exceptions{};

  /// The error that this call completes with.
  error_code take(const std::string& function) {
    const auto thrown = exceptions.find(function);
    if (thrown != exceptions.end()) throw std::runtime_error(thrown->second);
    auto& planned = errors[function];
    if (planned.empty()) return {};
    const auto first = planned.front();
    planned.pop_front();
    return first;
  }
};

// Wakes coroutines of one thread when something in memory has changed.

class change_signal {
 public:
  /// Throws `operation_aborted` if the coroutine is cancelled.
  boost::asio::awaitable<void> wait() {
    const auto executor = co_await boost::asio::this_coro::executor;
    place here(*this, executor);
    boost::system::error_code error;
    co_await here.timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, error));
    const auto state = co_await boost::asio::this_coro::cancellation_state;
    const bool is_cut = state.cancelled() != boost::asio::cancellation_type::none;
    if (is_cut) throw boost::system::system_error(boost::asio::error::operation_aborted);
  }
  void notify() {
    for (auto* each : waiting_) each->cancel();
  }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  using timer_type = boost::asio::steady_timer;

  struct place {
    place(change_signal& of, const boost::asio::any_io_executor& executor)
        : whose(of), timer(executor, timer_type::time_point::max()) {
      whose.waiting_.insert(&timer);
    }
    ~place() { whose.waiting_.erase(&timer); }
    place(const place&) = delete;

    change_signal& whose;
    timer_type timer;
  };

  std::set<timer_type*> waiting_;
};

// A log of one's own: in memory, read through the public seam.

/// What all readers have in common.
struct log_in_memory {
  std::vector<external_message> all{};
  change_signal changed{};
  planned_faults faults{};
  std::vector<std::string> opened{};    ///< The places.
  std::vector<std::string> consumed{};  ///< The places.
  int closed = 0;
  int open_now = 0;
  int most_open = 0;  ///< At the same time.

  void put(const std::string& key, const std::string& data) {
    external_message one;
    one.id = "row " + std::to_string(all.size() + 1);
    one.key = key;
    one.data = data;
    one.timestamp = 1'700'000'000'000;
    all.push_back(std::move(one));
    changed.notify();
  }
  /// The index of the first message behind it.
  std::size_t behind(const std::string& place) const {
    if (place.empty()) return 0;
    const auto found = std::ranges::find(all, place, &external_message::id);
    if (found == all.end()) throw std::runtime_error("there was no such place: " + place);
    return static_cast<std::size_t>(found - all.begin()) + 1;
  }
};

class own_log final : public external_log {
 public:
  using kept = std::shared_ptr<log_in_memory>;

  explicit own_log(kept from) : from_(std::move(from)) {}

  std::string name() const override { return "log of our own"; }

  boost::asio::awaitable<error_code> open(std::string place) override {
    from_->opened.push_back(place);
    from_->most_open = std::max(from_->most_open, ++from_->open_now);
    const auto error = from_->faults.take("open");
    if (!error) next_ = from_->behind(place);
    co_return error;
  }
  boost::asio::awaitable<external_batch> receive(std::size_t most) override {
    external_batch some;
    for (;;) {
      some.error = from_->faults.take("receive");
      while (!some.error && next_ < from_->all.size() && some.messages.size() < most) {
        some.messages.push_back(from_->all[next_++]);
      }
      if (some.error || !some.messages.empty()) co_return some;
      co_await from_->changed.wait();
    }
  }
  boost::asio::awaitable<error_code> consumed(std::string place) override {
    from_->consumed.push_back(place);
    co_return from_->faults.take("consumed");
  }
  boost::asio::awaitable<void> close() override {
    ++from_->closed;
    --from_->open_now;
    from_->faults.take("close");
    co_return;
  }

 private:
  kept from_;
  std::size_t next_ = 0;
};

// A queue of one's own: in memory, read through the public seam.

/// What all readers have in common.
struct queue_in_memory {
  std::deque<external_message> all{};  ///< Messages that are not acknowledged.
  change_signal changed{};
  planned_faults faults{};
  std::map<std::string, int> acknowledged{};  ///< How often, by id, also where the queue did not note it.
  std::vector<std::string> forgotten{};
  std::size_t put_count = 0;
  int times = 1;                                               ///< Each message is delivered so often.
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< Messages of one call of `receive`.
  std::function<boost::asio::awaitable<void>()> read{};  ///< Called between the reading of messages and their receipt.
  int lost = 0;           ///< Acknowledgements that the queue will not note, although it reports no error.
  bool is_final = false;  ///< It tells the ids that can not come again.
  int opened = 0;
  int closed = 0;

  void put(const std::string& key, const std::string& data) {
    external_message one;
    one.id = "id " + std::to_string(++put_count);
    one.key = key;
    one.data = data;
    all.push_back(std::move(one));
    changed.notify();
  }
  void acknowledge(const std::vector<std::string>& ids) {
    for (const auto& each : ids) ++acknowledged[each];
    if (lost > 0) {
      --lost;
      return;
    }
    for (const auto& each : ids) {
      std::erase_if(all, [&each](const external_message& one) { return one.id == each; });
      if (is_final) forgotten.push_back(each);
    }
  }
};

class own_queue final : public external_queue {
 public:
  using kept = std::shared_ptr<queue_in_memory>;

  explicit own_queue(kept from) : from_(std::move(from)) {}

  std::string name() const override { return "queue of our own"; }

  boost::asio::awaitable<error_code> open() override {
    ++from_->opened;
    delivered_.clear();
    co_return from_->faults.take("open");
  }
  boost::asio::awaitable<external_batch> receive(std::size_t most) override {
    external_batch some;
    for (;;) {
      some.error = from_->faults.take("receive");
      if (!some.error) add_to(some.messages, most);
      const bool has_messages = !some.messages.empty();
      if (has_messages && from_->read) co_await from_->read();
      if (some.error || has_messages) co_return some;
      co_await from_->changed.wait();
    }
  }
  boost::asio::awaitable<error_code> acknowledge(std::vector<std::string> ids) override {
    const auto error = from_->faults.take("acknowledge");
    if (!error) from_->acknowledge(ids);
    co_return error;
  }
  std::vector<std::string> take_forgotten() override { return std::exchange(from_->forgotten, {}); }
  boost::asio::awaitable<void> close() override {
    ++from_->closed;
    from_->faults.take("close");
    co_return;
  }

 private:
  void add_to(std::vector<external_message>& some, std::size_t most) {
    for (const auto& each : from_->all) {
      auto& times = delivered_[each.id];
      for (; times < from_->times && some.size() < std::min(most, from_->most); ++times) some.push_back(each);
    }
  }

  kept from_;
  std::map<std::string, int> delivered_;  // since it was opened
};

/// Begin before the fixture, and end after it.
struct with_own_sources {
  own_log::kept log = std::make_shared<log_in_memory>();
  own_queue::kept queue = std::make_shared<queue_in_memory>();
};

class own_source_case : protected with_own_sources, public ensemble_case {
 public:
  own_source_case() {
    create("/results");
    with.source = "memory";
    with.retry = {.first_pause = 1ms, .max_pause = 5ms};
    options.window = 16;
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
  }
  void teardown() {
    end_runs(all);
    for (const auto& each : elections_) remove("/e-" + each);
    for (const auto& each : children("/results")) remove("/results/" + each);
    remove("/results");
    if (exists("/q")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/q", tuple))));
    ensemble_case::teardown();
  }

  running_reader& consume_log(processor does, const std::string& group = "g") {
    auto by = connect(logging());
    auto from = external_source(by, "/q", with).feed(std::make_shared<own_log>(log), 0, group);
    return consume(std::move(by), group, from, std::move(does));
  }
  running_reader& consume_queue(processor does) {
    auto by = connect(logging());
    auto from = external_source(by, "/q", with).feed(std::make_shared<own_queue>(queue), 0);
    return consume(std::move(by), "q", from, std::move(does));
  }
  running_reader& consume(session by, const std::string& group, const message_feed& from, processor does) {
    if (!exists("/e-" + group)) {
      create("/e-" + group);
      elections_.push_back(group);
    }
    return all.emplace_back(std::move(by), from, "/e-" + group, options, std::move(does));
  }

  /// Options of a session whose log is kept.
  session_options logging() {
    auto how = this->fixture::options();
    how.log = [lines = told](const log_event& each) { lines->push_back(to_string(each)); };
    return how;
  }
  std::size_t count_told(const std::string& part) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(*told, [&](const std::string& each) { return each.find(part) != each.npos; }));
  }

  void put_into_log(const std::vector<std::string>& data) {
    for (const auto& each : data) log->put(each, each);
  }
  void put_into_queue(const std::vector<std::string>& data) {
    for (const auto& each : data) queue->put(each, each);
  }
  bool has_results(std::size_t count) {
    return run_until([&] { return children("/results").size() >= count; }, 30s);
  }
  /// The run ends with `career_failed`. Take it off `all` then.
  bool has_failed(running_reader& who) {
    return run_until([&] { return who.ended.done(); }) && who.ended.error() == errc::career_failed;
  }
  std::string position(const std::string& group = "g") { return get("/q/0000/_at/" + group).data; }

  external_options with;
  queue_consumer_options options;
  std::deque<running_reader> all;
  std::shared_ptr<std::vector<std::string>> told = std::make_shared<std::vector<std::string>>();

 private:
  std::vector<std::string> elections_;
};

}  // namespace zkrecipes::test
