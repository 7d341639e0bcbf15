// What goes wrong in a shard group: careers that fail, nodes that others delete or edit, members that vanish.
#include <chrono>

#include <boost/asio/steady_timer.hpp>

#include "ensemble/hold_point.hpp"
#include "ensemble/shard_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(shard_faults, shard_case)

BOOST_AUTO_TEST_CASE(another_number_of_shards_is_refused) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  auto how = with("b");
  how.shards = 13;
  auto& b = make(connect(), how);
  b.start();
  wait_ended(b, errc::size_mismatch);
  stop_all();
}

BOOST_AUTO_TEST_CASE(another_recipes_node_is_left_alone) {
  create("/g", "something else");
  auto& a = add("a");
  wait_ended(a, errc::foreign_data);
  BOOST_TEST(get("/g").data == "something else");
}

BOOST_AUTO_TEST_CASE(a_node_without_data_is_taken_over) {
  create("/g");
  auto& a = add("a");
  wait_shares({{&a, 12}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_career_that_fails_is_tried_again_and_the_others_go_on) {
  int failures = 0;
  auto& a = make(connect(), impatient("a"));
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_inaugurate = [&](term) -> asio::awaitable<void> {
      if (++failures < 3) throw std::runtime_error("no database");
      co_return;
    };
  };
  a.start();
  wait_shares({{&a, 12}});
  const auto status = a.group.status();
  BOOST_TEST_REQUIRE(status.shards.size() == 12u);
  BOOST_TEST(status.shards[5].failures == 2u);
  BOOST_TEST(status.shards[5].last_failure == "no database");
  BOOST_TEST(status.shards[4].failures == 0u);
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_factory_that_fails_is_asked_again) {
  int failures = 0;
  auto& a = make(connect(), impatient("a"));
  a.on_make = [&](const shard& which, career&) {
    if (which.number == 5 && ++failures < 3) throw std::runtime_error("no memory");
  };
  a.start();
  wait_shares({{&a, 12}});
  BOOST_TEST(a.group.status().shards[5].last_failure == "no memory");
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_shard_that_fails_again_and_again_is_put_in_quarantine_until_it_is_released) {
  bool is_mended = false;
  auto prepare = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_inaugurate = [&](term) -> asio::awaitable<void> {
      if (!is_mended) throw std::runtime_error("no database");
      co_return;
    };
  };
  make_struck(5, 2);
  auto& a = make("a");
  a.on_make = prepare;
  a.start();
  auto& b = make("b");
  b.on_make = prepare;
  b.start();
  wait([&] { return exists("/g/quarantine/0005"); });
  wait([&] { return a.executing.size() + b.executing.size() == 11; });
  wait([&] { return view().shards[5].assigned_to.empty(); });
  BOOST_TEST(view().shards[5].is_in_quarantine);
  BOOST_TEST(get("/g/quarantine/0005").data.find("\"deaths\":3") != std::string::npos);
  BOOST_TEST(view().shards[5].epoch == 3);  // the quarantine is a term, too, which fences the last owner
  is_mended = true;
  BOOST_TEST(std::get<0>(run(a.group.async_release(12, tuple))) == errc::bad_arguments);
  BOOST_TEST(!std::get<0>(run(a.group.async_release(5, tuple))));
  BOOST_TEST(std::get<0>(run(a.group.async_release(5, tuple))) == errc::no_node);
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(view().shards[5].deaths == 0);
  stop_all();
}

BOOST_AUTO_TEST_CASE(deaths_are_forgotten_with_a_commit) {
  int calls = 0;
  make_struck(5, 2);
  create("/g/count");
  auto& a = make(connect(), impatient("a"));
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      const bool is_first = ++calls == 1;
      if (is_first) co_await present.async_commit(transaction().set("/g/count", "x"), asio::use_awaitable);
      if (is_first) throw std::runtime_error("again");
      co_await present.async_ending(tuple);
    };
  };
  a.start();
  wait([&] { return calls == 2; });
  BOOST_TEST(view().shards[5].deaths <= 1);  // calm may have come
  wait_shares({{&a, 12}});
  BOOST_TEST(!exists("/g/quarantine/0005"));
  stop_all();
}

/// The next death would put them in quarantine, and a process that dies would take both along.
BOOST_AUTO_TEST_CASE(shards_that_the_next_death_would_put_in_quarantine_begin_one_after_the_other) {
  auto how = with("a");
  how.calm = 1h;
  std::map<std::uint32_t, int> calls;
  std::vector<std::uint32_t> at_risk;
  auto& a = make(connect(), how);
  hold_point commits(a.zk.get_executor());
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 3 && which.number != 5) return;
    does.on_execute = [&, number = which.number](term present) -> asio::awaitable<void> {
      ++calls[number];
      at_risk.push_back(number);
      co_await commits.pass();
      co_await present.async_commit(transaction().set("/g/count", "x"), asio::use_awaitable);
      co_await present.async_ending(tuple);
    };
  };
  make_struck(3, 2);
  make_struck(5, 2);
  create("/g/count");
  a.start();
  wait([&] { return at_risk.size() == 1 && a.executing.size() == 11; });
  const auto other = at_risk[0] == 3 ? 5u : 3u;
  const auto phase_of_other = [&] {
    for (const auto& each : a.group.status().shards) {
      if (each.number == other) return each.phase;
    }
    return coordinator_phase::idle;
  };
  wait([&] { return phase_of_other() == coordinator_phase::taking_over; });
  for (int i = 0; i < 10; ++i) view();  // many times what a take-over needs
  BOOST_TEST(at_risk.size() == 1u);
  BOOST_TEST((phase_of_other() == coordinator_phase::taking_over));
  BOOST_TEST(view().shards[other].deaths == 2);
  commits.open();
  wait([&] { return at_risk.size() == 2; });
  wait_shares({{&a, 12}});
  wait([&] { return view().shards[3].deaths + view().shards[5].deaths == 0; });
  BOOST_TEST(!exists("/g/quarantine/0003"));
  BOOST_TEST(!exists("/g/quarantine/0005"));
  stop_all();
}

BOOST_AUTO_TEST_CASE(a_shard_at_risk_that_hangs_while_it_begins_keeps_the_others_out_for_a_while_only) {
  auto how = with("a");
  how.calm = 100ms;
  std::set<std::uint32_t> at_risk;
  make_struck(3, 2);
  make_struck(5, 2);
  auto& a = make(connect(), how);
  hold_point both(a.zk.get_executor());
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 3 && which.number != 5) return;
    does.on_inaugurate = [&, number = which.number](term) -> asio::awaitable<void> {
      at_risk.insert(number);
      co_await both.pass();
    };
  };
  a.start();
  wait([&] { return at_risk.size() == 2; });
  both.open();
  wait_shares({{&a, 12}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(deaths_are_forgotten_after_a_calm_while) {
  auto how = with("a");
  how.calm = 50ms;
  int calls = 0;
  auto& a = make(connect(), how);
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      if (++calls <= 2) throw std::runtime_error("again");
      co_await present.async_ending(tuple);
    };
  };
  a.start();
  wait([&] { return calls == 3; });
  wait_shares({{&a, 12}});
  wait([&] { return view().shards[5].deaths == 0; });
  BOOST_TEST(view().shards[5].epoch == 3);
  stop_all();
}

BOOST_AUTO_TEST_CASE(nothing_moves_while_the_group_is_frozen) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  BOOST_TEST(!std::get<0>(run(a.group.async_freeze(true, tuple))));
  BOOST_TEST(!std::get<0>(run(a.group.async_freeze(true, tuple))));
  auto& b = add("b");
  wait([&] { return b.group.status().plan > 0; });
  BOOST_TEST(b.group.status().shards.empty());
  BOOST_TEST(!std::get<0>(run(b.group.async_freeze(false, tuple))));
  wait_shares({{&a, 6}, {&b, 6}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(deaths_with_an_orderly_end_in_between_are_not_in_a_row) {
  int calls = 0;
  auto& a = make(connect(), impatient("a"));
  a.on_make = [&](const shard& which, career& does) {
    if (which.number != 5) return;
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      if (++calls % 2 == 1) throw std::runtime_error("again");
      co_await present.async_ending(tuple);
    };
  };
  a.start();
  for (int times = 1; times <= 4; ++times) {
    wait([&] { return calls == 2 * times && a.executing.contains(5); });
    a.group.stop();
    wait_ended(a);
    a.restart();
  }
  wait_shares({{&a, 12}});
  BOOST_TEST(!exists("/g/quarantine/0005"));
  stop_all();
}

BOOST_AUTO_TEST_CASE(an_end_of_a_term_that_could_not_be_written_in_time_is_written_later) {
  shards = 4;
  auto& planner = add("p");
  wait_shares({{&planner, 4}});
  auto how = with("a");
  how.capacity = 3;
  auto faulty = far_options();
  faulty.timeout = 4s;
  auto& a = make(connect_far(faulty), how);
  a.start();
  wait_shares({{&planner, 1}, {&a, 3}});
  const auto lost = own().drops();
  own().drop_requests(testcluster::op::multi, "/g/shard/");
  how.id = "heir";
  how.capacity = 4;
  auto& heir = make(connect(), how);
  heir.start();
  wait_shares({{&heir, 2}});
  BOOST_TEST(own().drops() > lost + 2);
  BOOST_TEST(!a.group.status().member.empty());
  own().heal();
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_group_goes_on_after_the_loss_of_its_planner) {
  auto& a = add("a");
  wait_shares({{&a, 12}});
  BOOST_TEST(a.group.status().is_planner);
  auto& b = add("b");
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(!b.group.status().is_planner);
  a.group.stop();
  wait([&] { return b.group.status().is_planner; });
  auto& c = add("c");
  wait_shares({{&b, 4}, {&c, 2}});  // the shards of a wait for it
  a.restart();
  wait_shares({{&a, 4}, {&b, 4}, {&c, 4}});
  stop_all();
}

BOOST_AUTO_TEST_CASE(the_message_in_hand_is_finished_before_a_shard_moves) {
  hold_point message(executor());
  auto& a = make("a");
  a.on_make = [&](const shard&, career& does) {
    does.on_execute = [&](term present) -> asio::awaitable<void> {
      co_await message.pass();
      co_await present.async_ending(tuple);
    };
  };
  a.start();
  wait_shares({{&a, 12}});
  auto& b = add("b");
  wait([&] { return b.group.status().shards.size() == 1; });  // a tenth at a time
  settle(b.zk);
  BOOST_TEST(b.executing.empty());
  BOOST_TEST(a.executing.size() == 12u);
  message.open();
  wait_shares({{&a, 6}, {&b, 6}});
  BOOST_TEST(!message.was_cut());
  stop_all();
}

BOOST_AUTO_TEST_SUITE_END()

// What fails everywhere, or at one member only, is not the fault of the shards.

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
