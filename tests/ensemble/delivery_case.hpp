// A case with a queue, and consumers of it that do as they are told.
#pragma once

#include <deque>
#include <functional>
#include <map>

#include <zkrecipes/consumer/queue_consumer.hpp>

#include "ensemble/hold_point.hpp"
#include "ensemble/queue_case.hpp"
#include "ensemble/replica.hpp"

namespace zkrecipes::test {

using processor = std::function<asio::awaitable<message_outcome>(term, const message&)>;

class acting_consumer final : public queue_consumer {
 public:
  /// `from`: a queue, or a feed.
  template <class Source>
  acting_consumer(const Source& from, queue_consumer_options options, career_traits traits, processor does)
      : queue_consumer(from, std::move(options)), traits_(traits), does_(std::move(does)) {}

  career_traits traits() const override { return traits_; }
  asio::awaitable<message_outcome> process(term present, const message& item) override {
    attempts[item.data].push_back(item.attempts);
    return does_(std::move(present), item);
  }
  asio::awaitable<void> ended(term, term_end reason) override {
    ends.push_back(reason);
    co_return;
  }

  std::map<std::string, std::vector<std::int32_t>> attempts;  // by message
  std::vector<term_end> ends;

 private:
  career_traits traits_;
  processor does_;
};

/// The effect of each message is a node whose number tells the order.
inline transaction effect_of(const message& item) {
  return transaction().create("/results/r-", item.data, create_mode::persistent_sequential);
}

inline asio::awaitable<message_outcome> succeed(term, const message& item) { co_return effect_of(item); }

struct running_consumer {
  running_consumer(session over, queue_consumer_options options, career_traits traits, processor does)
      : zk(std::move(over)),
        does(queue(zk, "/q"), std::move(options), traits, std::move(does)),
        coordinator(zk, "/e", {.id = "consumer"}),
        ended(zk.get_executor()) {
    coordinator.async_run(this->does, ended.token());
  }

  session zk;
  acting_consumer does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

class deliveries : public queue_case {
 public:
  deliveries() {
    create("/e");
    create("/results");
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
  }
  void teardown() {
    end_runs(all);
    for (const auto& each : children("/results")) remove("/results/" + each);
    for (const auto& each : dead_letters(over(zk()))) {
      BOOST_TEST(!std::get<0>(run(over(zk()).async_discard(each, tuple))));
    }
    remove("/results");
    remove("/e");
    queue_case::teardown();
  }

  running_consumer& consume(processor does, career_traits traits = {}) {
    return all.emplace_back(connect(), options, traits, std::move(does));
  }
  void put_all(const std::vector<std::string>& data) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(over(zk()).async_put_many(data, tuple))));
  }
  bool is_done() {
    return run_until([&] { return size() == 0; }, 30s);
  }

  queue_consumer_options options;
  std::deque<running_consumer> all;
};

}  // namespace zkrecipes::test
