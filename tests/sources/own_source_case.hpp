// A case with a log and a queue of one's own, and consumers of them.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>

#include "brokers/running_reader.hpp"
#include "ensemble/delivery_case.hpp"
#include "sources/own_log.hpp"
#include "sources/own_queue.hpp"

namespace zkrecipes::test {

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
