// What the cases that every source passes have in common.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/consumer_coordinator.hpp>

#include "ensemble/delivery_case.hpp"

namespace zkrecipes::test {

struct running_career {
  running_career(session over, std::unique_ptr<acting_consumer> what)
      : zk(std::move(over)),
        does(std::move(what)),
        coordinator(zk, "/e", {.id = "consumer"}),
        ended(zk.get_executor()) {
    coordinator.async_run(*does, ended.token());
  }

  session zk;
  std::unique_ptr<acting_consumer> does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

/// Is begun before the fixture counts the descriptors of the process.
template <class Source>
struct with_source {
  Source source{};
};

/// `Source` is the source under test: it puts messages, whose key is their first letter, and makes consumers of them.
template <class Source>
class source_case : protected with_source<Source>, public ensemble_case {
 public:
  source_case() {
    create("/e");
    create("/results");
    options.retry = {.first = 1ms, .longest = 10ms, .attempts = 3, .outage = 10ms};
    options.window = 16;
  }
  void teardown() {
    end_runs(all);
    this->source = Source();
    for (const auto* each : {"/e", "/results", "/q"}) {
      if (exists(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))));
    }
    ensemble_case::teardown();
  }

  void put_all(const std::vector<std::string>& data) {
    for (const auto& each : data) this->source.put(*this, each);
  }
  running_career& consume(session by, processor does) {
    auto how = options;
    if (how.order == message_order::by_key) Source::adapt(how);
    return all.emplace_back(by, this->source.consumer(by, std::move(how), std::move(does)));
  }
  running_career& consume(processor does) { return consume(connect(), std::move(does)); }
  bool has_results(std::size_t count) {
    return run_until([&] { return children("/results").size() >= count; }, 30s);
  }
  std::size_t count_letters() { return exists(Source::letters()) ? children(Source::letters()).size() : 0; }

  /// As it is stored.
  std::string only_letter() {
    const auto names = children(Source::letters());
    BOOST_TEST_REQUIRE(names.size() == 1u);
    return get(Source::letters() + "/" + names.front()).data;
  }

  queue_consumer_options options;
  std::deque<running_career> all;
};

}  // namespace zkrecipes::test
