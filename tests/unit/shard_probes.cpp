// Behind an outage: a shard that tries for all and is bad itself does not keep the others waiting.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "election/term_record.hpp"
#include "ensemble/hold_point.hpp"
#include "shards/shard_holding.hpp"
#include "unit/sharding.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A member with four shards that need a database. The last shard fails always.
struct probing : sharding {
  static constexpr std::uint32_t bad = 3;

  struct needy_career : leader_career {
    needy_career(probing& in, std::uint32_t which) : in_(in), which_(which) {}
    asio::awaitable<void> inaugurate(term) override { co_return; }
    asio::awaitable<void> execute(term) override {
      in_.tries.push_back(which_);
      const auto hold = std::make_shared<hold_point>(in_.io().get_executor());
      if (in_.is_away || which_ == bad) throw std::runtime_error("the database is away");
      in_.executing[which_] = hold;
      co_await hold->pass();
      if (in_.is_away) throw std::runtime_error("the database is away");
    }
    asio::awaitable<void> hand_over(term, term_end) override { co_return; }

   private:
    probing& in_;
    const std::uint32_t which_;
  };

  probing() : ended(zk.get_core()->get_scheduler()) {
    for (std::uint32_t each = 0; each < 4; ++each) {
      auto gone = std::make_shared<std::set<std::string, std::less<>>>();
      held.push_back(std::make_shared<detail::shard_holding>(group, member, each, make, std::move(gone), ended));
      held.back()->start(io().get_executor());
    }
    settle();
  }
  ~probing() {
    for (const auto& each : held) each->give_up(true);
    for (const auto& [which, hold] : executing) hold->open();
    pass(2s);
  }

  void begin_outage() {
    is_away = true;
    for (const auto& [which, hold] : std::exchange(executing, {})) hold->open();
  }
  /// Until all but the bad one execute. Says for how long.
  std::chrono::milliseconds recover() {
    is_away = false;
    const auto began = now();
    while (executing.size() < 3 && now() < began + 2min) pass(100ms);
    return std::chrono::duration_cast<std::chrono::milliseconds>(now() - began);
  }
  void pass(std::chrono::milliseconds time) {
    for (const auto until = now() + time; now() < until; advance(100ms)) {
      while (!last().pending.empty()) serve();
    }
  }
  void serve() {
    const auto asked = last().pending.front().first;
    auto& node = nodes[asked.path];
    backend::reply reply;
    if (asked.op == backend::opcode::multi) {
      reply.results.resize(asked.operations.size());
      for (std::size_t i = 0; i < asked.operations.size(); ++i) {
        const auto& each = asked.operations[i];
        if (each.type == operation::kind::set) reply.results[i].stat.version = nodes[each.path].write(each.data);
      }
    } else if (asked.op == backend::opcode::set) {
      reply.stat.version = node.write(asked.data);
    } else if (asked.op == backend::opcode::get) {
      reply.data = node.data;
      reply.stat.version = node.version;
    } else if (asked.op == backend::opcode::create) {
      reply.error = errc::node_exists;
    }
    answer(std::move(reply));
  }

  struct stored {
    std::string data{};
    std::int32_t version = 0;

    std::int32_t write(const std::string& next) {
      data = next;
      return ++version;
    }
  };
  std::map<std::string, stored> nodes;
  bool is_away = false;
  std::map<std::uint32_t, std::shared_ptr<hold_point>> executing;
  std::vector<std::uint32_t> tries;
  detail::career_factory make = [this](const shard& which) {
    return std::make_unique<needy_career>(*this, which.number);
  };
  detail::condition ended;
  std::vector<detail::shard_holding_ptr> held;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_probes, probing)

BOOST_AUTO_TEST_CASE(work_goes_on_within_seconds_whichever_shard_tries_for_all) {
  BOOST_TEST((recover() <= 5s));
  for (int outage = 0; outage < 12; ++outage) {
    pass(20s);
    begin_outage();
    tries.clear();
    pass(40s + outage * 700ms);
    BOOST_TEST(group->health.is_troubled());
    BOOST_TEST(tries.size() < 60u);  // one tries for all
    const auto took = recover();
    BOOST_TEST((took <= 5s), "after " << took.count() << " ms, outage " << outage);
  }
}

BOOST_AUTO_TEST_CASE(a_shard_in_quarantine_does_not_try_for_all) {
  detail::term_record deadly;
  deadly.epoch = 3;
  deadly.phase = term_phase::retired;
  deadly.leader_node = "gone";
  deadly.deaths = 100;
  nodes[group->where.record(bad)].data = serialize(deadly);
  pass(20s);
  BOOST_TEST(held[bad]->status().last_failure == "it was put in quarantine");
  begin_outage();
  for (int i = 0; i < 600; ++i) {
    pass(100ms);
    BOOST_TEST_REQUIRE(!group->health.probe().pass_on(bad), "it has the turn " << i);
  }
  BOOST_TEST(group->health.is_troubled());
  BOOST_TEST(std::ranges::count(tries, bad) == 0);
  BOOST_TEST((recover() <= 5s));
}

BOOST_AUTO_TEST_SUITE_END()
