// What fails everywhere, or at one member only, is not the fault of the shards.
#include <chrono>

#include <boost/asio/steady_timer.hpp>

#include "ensemble/shard_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// All careers of its members need the database.
struct outage_case : shard_case {
  shard_owner& add_client(const std::string& id) {
    auto& last = make(connect(), impatient(id));
    last.on_make = [this, id](const shard&, career& does) {
      does.on_execute = [this, id](term present) -> asio::awaitable<void> {
        while (!present.ending()) {
          if (is_away || refused == id) throw std::runtime_error("the database is away");
          asio::steady_timer pause(present.get_session().get_executor(), 5ms);
          co_await pause.async_wait(tuple);
        }
      };
    };
    last.start();
    return last;
  }
  std::size_t quarantines() { return exists("/g/quarantine") ? children("/g/quarantine").size() : 0; }

  bool is_away = false;
  std::string refused;  // the member whose credentials the database does not accept
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shard_outages, outage_case)

BOOST_AUTO_TEST_CASE(an_outage_of_what_all_need_puts_nothing_in_quarantine_and_work_goes_on_behind_it) {
  auto& a = add_client("a");
  auto& b = add_client("b");
  auto& c = add_client("c");
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  is_away = true;
  const auto has_told = [](const shard_owner& each) { return !each.group.status().failing.empty(); };
  wait([&] { return has_told(a) && has_told(b) && has_told(c); });
  BOOST_TEST(a.executing.size() + b.executing.size() + c.executing.size() == 0u);
  wait([&] { return view().members[0].failing == "the database is away"; });
  is_away = false;
  wait([&] { return a.executing.size() + b.executing.size() + c.executing.size() == 12; });
  BOOST_TEST(quarantines() == 0u);
  wait([&] { return !has_told(a) && !has_told(b) && !has_told(c); });
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_member_most_of_whose_shards_fail_asks_for_none_until_it_is_mended) {
  auto& a = add_client("a");
  auto& b = add_client("b");
  wait_shares({{&a, 6}, {&b, 6}});
  refused = "c";
  auto& c = add_client("c");
  wait([&] { return !c.group.status().failing.empty(); });
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(quarantines() == 0u);
  refused.clear();
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  BOOST_TEST(c.group.status().failing.empty());
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_factory_that_fails_for_all_shards_lowers_its_member_too) {
  auto& a = add_client("a");
  auto& b = add_client("b");
  auto& c = make(connect(), impatient("c"));
  c.on_make = [](const shard&, career&) { throw std::runtime_error("no memory"); };
  c.start();
  wait([&] { return c.group.status().failing == "no memory"; });
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(quarantines() == 0u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_quarantine_ends_by_itself_with_one_term_on_probation) {
  bool is_mended = false;
  make_struck(5, 2);
  auto how = with("a");
  how.calm = 20ms;  // a quarantine of a second
  auto& a = make(connect(), how);
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_inaugurate = [&](term) -> asio::awaitable<void> {
      if (!is_mended) throw std::runtime_error("poison");
      co_return;
    };
  };
  a.start();
  const auto is_second = [&] {
    const auto [error, found] = run(zk().async_get("/g/quarantine/0005", tuple));  // it ends between two looks
    return !error && found.data.find("\"before\":1") != std::string::npos;
  };
  wait(is_second);  // of one failure
  is_mended = true;
  wait_shares({{&a, 12}});
  wait([&] { return view().shards[5].deaths == 0; });
  BOOST_TEST(quarantines() == 0u);
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()
