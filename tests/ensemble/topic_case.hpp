// A case with a topic, and consumers of one of its shards.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

struct running_reader {
  running_reader(session over, const topic& from, std::string group, queue_consumer_options options,
                 career_traits traits, processor does)
      : zk(std::move(over)),
        does(topic(zk, from.path(), from.options()).feed(0, group), std::move(options), traits, std::move(does)),
        coordinator(zk, "/e-" + group, {.id = "reader"}),
        ended(zk.get_executor()) {
    coordinator.async_run(this->does, ended.token());
  }

  session zk;
  acting_consumer does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

/// The topic has one shard. Each group has an election of its own.
class topics : public ensemble_case {
 public:
  topics() {
    create("/results");
    with.shards = 1;
    with.retention.groups = {"g"};
    options.window = 64;
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
  }
  void teardown() {
    end_runs(all);
    for (const auto* each : {"/e-g", "/e-h"}) {
      if (exists(each)) remove(each);
    }
    for (const auto& each : children("/results")) remove("/results/" + each);
    remove("/results");
    if (exists("/t")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
    ensemble_case::teardown();
  }

  topic over(session which) { return topic(std::move(which), "/t", with); }
  running_reader& consume(processor does, const std::string& group = "g", career_traits traits = {}) {
    return consume(connect(), std::move(does), group, traits);
  }
  running_reader& consume(session by, processor does, const std::string& group = "g", career_traits traits = {}) {
    create_election(group);
    return all.emplace_back(std::move(by), over(zk()), group, options, traits, std::move(does));
  }
  void create_election(const std::string& group) {
    if (!exists("/e-" + group)) create("/e-" + group);
  }
  /// Puts all messages at once, with their data as keys; each of `batches` is a batch.
  void put_all(const std::vector<std::string>& data) { put_with_keys(data, data); }
  void put_with_keys(const std::vector<std::string>& keys, const std::vector<std::string>& data) {
    topic_producer by(over(zk()), "p");
    std::deque<recorder<std::uint64_t>> puts;
    for (std::size_t i = 0; i < data.size(); ++i) {
      puts.emplace_back(executor());
      by.async_put(keys[i], data[i], puts.back().token());
    }
    for (auto& each : puts) {
      BOOST_TEST_REQUIRE(run_until([&] { return each.done(); }));
      BOOST_TEST_REQUIRE(!each.error(), each.error().message());
    }
  }
  std::vector<std::string> batches() {
    auto names = children("/t/0000");
    std::erase_if(names, [](const std::string& each) { return !each.starts_with("b-"); });
    return names;
  }
  bool has_results(std::size_t count) {
    return run_until([&] { return children("/results").size() >= count; }, 30s);
  }
  std::string position(const std::string& group = "g") { return get("/t/0000/_at/" + group).data; }

  std::vector<source_lag> lag(const std::string& group = "g") {
    settle(zk());
    return must(run(over(zk()).async_lag(group, tuple)));
  }
  error_code seek(source_position where, const std::string& group = "g") {
    return std::get<0>(run(over(zk()).async_seek(0, group, where, tuple)));
  }
  std::vector<dead_letter> letters(const std::string& group = "g") {
    settle(zk());
    return must(run(over(zk()).async_dead_letters(group, tuple)));
  }
  /// Waits until a group has consumed everything.
  bool is_consumed(const std::string& group = "g") {
    return run_until([&] { return lag(group).front().messages == 0; }, 30s);
  }
  void put_raw(const std::string& name, const std::string& data) {
    const auto path = "/t/0000/" + name;
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_create(path, data, create_mode::persistent_sequential, tuple))));
  }

  topic_options with;
  queue_consumer_options options;
  std::deque<running_reader> all;
};

}  // namespace zkrecipes::test
