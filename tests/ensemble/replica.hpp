// One of several coordinators of an election, and the fixture that holds them.
#pragma once

#include <algorithm>
#include <deque>
#include <source_location>
#include <string>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/election.hpp>

#include "ensemble/career.hpp"
#include "ensemble/ensemble_case.hpp"
#include "ensemble/hold_point.hpp"

namespace zkrecipes::test {

struct replica {
  replica(session over, floor_space& floor, std::string id)
      : zk(std::move(over)), does(floor), coordinator(zk, "/e", {.id = std::move(id)}), ended(zk.get_executor()) {}

  void start() {
    coordinator.async_run(does, ended.token());
    started = true;
  }
  void restart() {
    ended = recorder<>(zk.get_executor());
    start();
  }
  bool executes(std::int64_t epoch) const { return does.has("execute " + std::to_string(epoch)); }
  std::int64_t session_id() const { return zk.status().session_id; }

  session zk;
  career does;
  consumer_coordinator coordinator;
  recorder<> ended;
  bool started = false;
};

class term_case : public ensemble_case {
 public:
  term_case() { create("/e"); }
  void teardown() {
    for (auto& each : replicas_) each.coordinator.stop();
    run_until([&] { return all_ended(); }, 10s);  // careers must outlive their runs, even if the case failed
    replicas_.clear();
    run_until([&] { return in_line() == 0; }, 10s);
    remove("/e");  // this removes the record, too; throws, which fails the case, if somebody is left in line
    ensemble_case::teardown();
  }

  /// Starts one more coordinator, behind the others.
  replica& add(session over) {
    return add(std::move(over), [](career&) {});
  }
  replica& add(const std::function<void(career&)>& prepare) { return add(connect(), prepare); }
  replica& add() { return add(connect()); }
  replica& add(session over, const std::function<void(career&)>& prepare) {
    auto& last = make(std::move(over), prepare);
    last.start();
    wait([&] { return last.ended.done() || !last.does.log.empty() || stands_in_line(last.session_id()); });
    return last;
  }
  replica& make(session over, const std::function<void(career&)>& prepare) {
    auto& last =
        replicas_.emplace_back(std::move(over), floor, std::string(1, static_cast<char>('a' + replicas_.size())));
    last.does.with.hand_over_deadline = 20s;
    prepare(last.does);
    return last;
  }

  std::size_t in_line() { return children("/e").size(); }
  election_view view() {
    settle(zk());
    return must(run(observer().async_view(tuple)));
  }

  bool stands_in_line(std::int64_t session_id) {
    const auto all = view().candidates;
    return std::any_of(all.begin(), all.end(), [&](const candidate& each) { return each.session_id == session_id; });
  }

  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    BOOST_TEST_REQUIRE(run_until(condition), "in vain from line " << where.line());
  }
  void wait_executing(replica& who, std::int64_t epoch, std::source_location where = std::source_location::current()) {
    wait([&] { return who.executes(epoch); }, where);
  }
  /// A coordinator that resigned gets in line again, behind those that wait. It has to be there before the next one
  /// resigns.
  void wait_in_line(replica& who, std::source_location where = std::source_location::current()) {
    wait([&] { return stands_in_line(who.session_id()); }, where);
  }
  void wait_ended(replica& who, error_code expected = {},
                  std::source_location where = std::source_location::current()) {
    wait([&] { return who.ended.done(); }, where);
    BOOST_TEST(who.ended.error() == expected, "line " << where.line() << ": " << who.ended.error().message());
  }
  /// Ends all runs.
  void stop_all() {
    for (auto& each : replicas_) each.coordinator.stop();
    wait([&] { return all_ended(); });
    wait([&] { return in_line() == 0; });
  }
  election observer() { return election(zk(), "/e", {.id = "observer"}); }
  bool record_says(const std::string& what) { return get("/e").data.find(what) != std::string::npos; }

  floor_space floor;

 private:
  bool all_ended() const {
    return std::all_of(replicas_.begin(), replicas_.end(),
                       [](const replica& r) { return r.ended.done() || !r.started; });
  }

  std::deque<replica> replicas_;
};

}  // namespace zkrecipes::test
