// Members of a shard group, and the fixture that holds them.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include <zkrecipes/consumer/shard_group.hpp>

#include "ensemble/career.hpp"
#include "ensemble/ensemble_case.hpp"

namespace zkrecipes::test {

/// What all members of a case have in common: at most one of them may execute a shard at a time.
struct shard_floor {
  std::map<std::uint32_t, floor_space> of;

  int most() const {
    int all = 0;
    for (const auto& each : of) all = std::max(all, each.second.most);
    return all;
  }
};

/// A member, and the careers that its shards have had.
struct shard_owner {
  using prepare = std::function<void(const shard&, career&)>;

  shard_owner(session over, shard_floor& on, shard_group_options with)
      : zk(std::move(over)), floor(on), group(zk, "/g", std::move(with)), ended(zk.get_executor()) {}

  void start() {
    started = true;
    group.async_run([this](const shard& which) { return make(which); }, ended.token());
  }
  void restart() {
    ended = recorder<>(zk.get_executor());
    start();
  }

  std::unique_ptr<leader_career> make(const shard& which) {
    struct own : career {
      own(shard_owner& of, std::uint32_t number) : career(of.floor.of[number]), owner(of), number_of(number) {}
      asio::awaitable<void> execute(term present) override {
        owner.executing.insert(number_of);
        owner.epochs[number_of] = present.epoch();
        owner.tokens[number_of] = present.token();
        struct leaving {  // also by an exception, and with the context
          std::shared_ptr<std::set<std::uint32_t>> whose;
          std::uint32_t number;
          ~leaving() { whose->erase(number); }
        } at_the_end{owner.all_executing, number_of};
        co_await career::execute(std::move(present));
      }
      asio::awaitable<void> hand_over(term present, term_end reason) override {
        owner.hand_overs.push_back(std::to_string(number_of) + ' ' + to_string(reason));
        co_await career::hand_over(std::move(present), reason);
      }
      shard_owner& owner;
      std::uint32_t number_of;
    };
    auto made = std::make_unique<own>(*this, which.number);
    made->with.hand_over_deadline = std::chrono::milliseconds(0);
    if (on_make) on_make(which, *made);
    return made;
  }

  session zk;
  shard_floor& floor;
  prepare on_make;
  const std::shared_ptr<std::set<std::uint32_t>> all_executing = std::make_shared<std::set<std::uint32_t>>();
  std::set<std::uint32_t>& executing = *all_executing;
  std::map<std::uint32_t, std::int64_t> epochs;
  std::map<std::uint32_t, std::int64_t> tokens;
  std::vector<std::string> hand_overs;
  shard_group group;
  recorder<> ended;
  bool started = false;
};

class shard_case : public ensemble_case {
 public:
  void teardown() {
    for (auto& each : members_) each.group.stop();
    run_until([&] { return all_ended(); }, 10s);  // careers must outlive their runs, even if the case failed
    BOOST_TEST(floor.most() <= 1);
    members_.clear();
    remove_group();
    ensemble_case::teardown();
  }

  shard_group_options with(std::string id) const {
    shard_group_options all;
    all.id = std::move(id);
    all.shards = shards;
    all.collect = 50ms;
    return all;
  }
  shard_owner& make(session over, shard_group_options how) {
    return members_.emplace_back(std::move(over), floor, std::move(how));
  }
  shard_owner& make(std::string id) { return make(connect(), with(std::move(id))); }
  shard_owner& add(std::string id) {
    auto& last = make(std::move(id));
    last.start();
    return last;
  }
  /// For a session that an operator ends, or a node that it removes: the heir hears of that some milliseconds before
  /// the owner, and waits.
  shard_owner& add_with_deadline(std::string id) {
    auto& last = make(std::move(id));
    last.on_make = [](const shard&, career& does) { does.with.hand_over_deadline = 2s; };
    last.start();
    return last;
  }

  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    BOOST_TEST_REQUIRE(run_until(condition), "in vain from line " << where.line());
  }
  void wait_ended(shard_owner& who, error_code expected = {},
                  std::source_location where = std::source_location::current()) {
    wait([&] { return who.ended.done(); }, where);
    BOOST_TEST(who.ended.error() == expected, "line " << where.line() << ": " << who.ended.error().message());
  }
  /// Waits until each shard is executed by somebody, and these members have so many each.
  void wait_shares(const std::vector<std::pair<shard_owner*, std::size_t>>& shares,
                   std::source_location where = std::source_location::current()) {
    wait(
        [&] {
          return std::ranges::all_of(shares,
                                     [](const auto& each) { return each.first->executing.size() == each.second; });
        },
        where);
  }
  shard_group_view view() {
    settle(zk());
    shard_group watcher(zk(), "/g", with("watcher"));
    return must(run(watcher.async_view(tuple)));
  }
  void overwrite(const std::string& path, const std::string& data) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set(path, data, any_version, tuple))));
  }
  /// For cases in which pauses are waited for.
  shard_group_options impatient(std::string id) const {
    auto all = with(std::move(id));
    all.calm = 1s;
    return all;
  }
  /// Makes a group, and one of whose shards owners have failed so often.
  void make_struck(std::uint32_t number, int times) {
    if (!exists("/g")) create("/g", "{\"zkrecipes\":\"shards\",\"count\":12,\"hash\":\"crc32\"}");
    if (!exists("/g/shard")) create("/g/shard");
    create("/g/shard/" + shard{number, shards}.name(),
           "{\"zkrecipes\":\"term\",\"epoch\":1,\"phase\":\"retired\",\"how\":\"first\",\"hand_over_deadline_ms\":0,"
           "\"leader\":{\"id\":\"x\",\"node\":\"x#1\",\"token\":1},\"deaths\":" +
               std::to_string(times) + ",\"struck\":{\"by\":[\"x\"],\"at_ms\":1}}");
  }
  std::string record(std::uint32_t number) { return get("/g/shard/" + shard{number, shards}.name()).data; }
  void stop_all() {
    for (auto& each : members_) each.group.stop();
    wait([&] { return all_ended(); });
  }

  std::uint32_t shards = 12;
  shard_floor floor;

 private:
  bool all_ended() const {
    return std::ranges::all_of(members_, [](const shard_owner& each) { return each.ended.done() || !each.started; });
  }
  /// Persistent nodes are the group's state, and stay. Throws, which fails the case, if a member is left.
  void remove_group() {
    if (!exists("/g")) return;
    run_until([&] { return !exists("/g/member") || children("/g/member").empty(); }, 10s);
    run_until([&] { return !exists("/g/_planner") || children("/g/_planner").empty(); }, 10s);
    auto removed = run(zk().async_remove_with_children("/g", tuple));
    BOOST_TEST(!std::get<0>(removed), std::get<0>(removed).message());
  }

  std::deque<shard_owner> members_;
};

}  // namespace zkrecipes::test
