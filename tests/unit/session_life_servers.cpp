// The life of a session: which servers it asks, in which order, and how long it waits for each.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

session_options three_servers() {
  auto options = fake_session::usual();
  options.hosts = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
  return options;
}

/// The ports of the servers that are asked in the next whole round; none of them answers.
std::vector<int> round_of(fake_session& it) {
  const auto asks_another = [&] {
    const auto before = it.state().connections.size();
    it.lose();
    return it.state().connections.size() > before;
  };
  while (asks_another()) {
  }
  while (!it.last().open) it.advance(50ms);
  std::vector<int> asked;
  do {
    asked.push_back(it.last().options.server.port);
  } while (asks_another());
  return asked;
}

/// The connection ends before a write has been answered; returns the port of that server.
int lose_a_write(fake_session& it, error_code how = errc::connection_loss) {
  const int server = it.last().options.server.port;
  auto lost = it.record<node_stat>();
  it.zk.async_set("/a", "new", any_version, lost.token());
  it.settle();
  it.lose(how);
  return server;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(session_life)

BOOST_AUTO_TEST_CASE(a_server_that_does_not_answer_costs_the_connect_timeout) {
  auto options = three_servers();
  options.connect_timeout = 200ms;
  fake_session it(options);
  for (int i = 1; i <= 3; ++i) {
    BOOST_TEST(it.state().connections.size() == static_cast<std::size_t>(i));
    BOOST_TEST(it.last().open);
    it.advance(199ms);
    BOOST_TEST(it.last().open);
    it.advance(1ms);
  }
  std::set<int> tried;
  for (const auto& each : it.state().connections) tried.insert(each->options.server.port);
  BOOST_TEST(tried.size() == 3u, "each server once in a round");
  for (const auto& each : it.state().connections) BOOST_TEST(!each->open);
}

BOOST_AUTO_TEST_CASE(the_connect_timeout_is_by_default_a_fair_part_of_the_session_timeout) {
  fake_session it(three_servers());
  it.advance(2s - 1ms);
  BOOST_TEST(it.state().connections.size() == 1u);
  it.advance(1ms);
  BOOST_TEST(it.state().connections.size() == 2u);
}

// Two thirds of the timeout have passed when a server is taken for silent, and the lease ends at nine tenths.
BOOST_AUTO_TEST_CASE(as_many_silent_servers_as_an_ensemble_can_do_without_cost_no_lease) {
  for (const int servers : {3, 4, 5, 7, 9}) {
    auto options = fake_session::usual();
    options.hosts.clear();
    for (int i = 1; i <= servers; ++i) options.hosts += (i == 1 ? "10.0.0.1:" : ",10.0.0.1:") + std::to_string(i);
    fake_session it(options);
    const auto begin = it.now();
    for (int silent = 1; silent <= (servers - 1) / 2; ++silent) {
      const auto asked = it.state().connections.size();
      while (it.state().connections.size() == asked && it.last().open) it.advance(1ms);
    }
    BOOST_TEST((it.now() - begin <= 10s / 5), servers);
  }
}

// It would cost a connect timeout again.
BOOST_AUTO_TEST_CASE(a_server_that_was_silent_is_asked_last) {
  for (const bool was_connected : {true, false}) {
    for (int draw = 0; draw < 12; ++draw) {
      fake_session it(three_servers());
      it.state().random = static_cast<std::uint64_t>(draw);
      const int silent = it.last().options.server.port;
      if (was_connected) {
        it.connect();
        it.lose(errc::timed_out);
      } else {
        it.advance(2s);
        it.connect();
        it.lose();
      }
      BOOST_TEST(it.last().options.server.port != silent);
      for (int i = 0; i < 3; ++i) BOOST_TEST(round_of(it).back() == silent);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_was_silent_for_as_long_as_the_link_waits_is_asked_last) {
  for (int draw = 0; draw < 12; ++draw) {
    fake_session it(three_servers());
    it.state().random = static_cast<std::uint64_t>(draw);
    const int silent = it.last().options.server.port;
    it.lose(errc::timed_out);
    it.connect();
    it.lose();
    for (int i = 0; i < 3; ++i) BOOST_TEST(round_of(it).back() == silent);
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_was_silent_and_serves_again_is_asked_in_any_order) {
  std::set<bool> is_last;
  for (int draw = 0; draw < 12; ++draw) {
    fake_session it(three_servers());
    it.connect();
    const int server = it.last().options.server.port;
    it.lose(errc::timed_out);
    while (it.last().options.server.port != server) it.lose();
    it.connect();
    it.lose();
    it.state().random = static_cast<std::uint64_t>(draw);
    is_last.insert(round_of(it).back() == server);
  }
  BOOST_TEST(is_last.contains(false));
}

BOOST_AUTO_TEST_CASE(pauses_between_rounds_double_up_to_the_greatest) {
  auto options = fake_session::usual();
  options.retry.first_pause = 100ms;
  options.retry.max_pause = 400ms;
  fake_session it(options);
  for (auto pause : {100ms, 200ms, 400ms, 400ms}) {
    const auto before = it.state().connections.size();
    it.state().random = static_cast<std::uint64_t>(pause.count());  // the largest jitter: half of the pause on top
    it.lose();
    BOOST_TEST(it.state().connections.size() == before);
    it.advance(pause * 3 / 2 - 1ms);
    BOOST_TEST(it.state().connections.size() == before, pause.count());
    it.advance(1ms);
    BOOST_TEST(it.state().connections.size() == before + 1, pause.count());
  }
}

BOOST_AUTO_TEST_CASE(a_lost_connection_is_replaced_at_once) {
  fake_session it;
  it.connect();
  it.lose();
  BOOST_TEST(it.state().connections.size() == 2u);
}

// If that server was stopped, it would later read the write together with our request to take the session up there, and
// execute the write.
BOOST_AUTO_TEST_CASE(a_server_at_which_a_write_may_lie_unread_is_asked_last) {
  for (int draw = 0; draw < 12; ++draw) {
    fake_session it(three_servers());
    it.connect();
    const int server = lose_a_write(it);
    it.state().random = static_cast<std::uint64_t>(draw);
    for (int i = 0; i < 5; ++i) BOOST_TEST(round_of(it).back() == server);
  }
}

// Operations that waited for the connection send their writes before the session itself goes on.
BOOST_AUTO_TEST_CASE(a_write_that_was_lost_at_once_behind_the_begin_of_a_connection_may_lie_unread_too) {
  for (int draw = 0; draw < 12; ++draw) {
    auto options = three_servers();
    options.root = "/r";
    options.create_root = true;
    fake_session it(options);
    const int server = it.last().options.server.port;
    it.last().listener->up({0x77, "secret", 10s});
    it.lose();
    it.state().random = static_cast<std::uint64_t>(draw);
    for (int i = 0; i < 5; ++i) BOOST_TEST(round_of(it).back() == server);
  }
}

// The longer ago a write was lost at a server, the earlier this server is asked.
BOOST_AUTO_TEST_CASE(of_servers_at_which_writes_may_lie_unread_the_latest_is_asked_last) {
  for (int draw = 0; draw < 12; ++draw) {
    fake_session it(three_servers());
    it.state().random = static_cast<std::uint64_t>(draw);
    std::vector<int> order;
    for (int i = 0; i < 3; ++i) {
      it.connect();
      order.push_back(lose_a_write(it));
      while (!it.last().open) it.advance(50ms);
    }
    BOOST_TEST(std::set<int>(order.begin(), order.end()).size() == 3u);
    BOOST_TEST(round_of(it) == order, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_fell_silent_over_a_write_is_not_asked_for_ten_timeouts_if_there_are_two_others) {
  for (const auto* hosts : {"127.0.0.1:1,127.0.0.1:2,127.0.0.1:3", "127.0.0.1:1,127.0.0.1:2", "127.0.0.1:1"}) {
    const bool is_left_out = std::ranges::count(std::string_view(hosts), ',') == 2;
    auto options = fake_session::usual();
    options.hosts = hosts;
    fake_session it(std::move(options));
    it.connect();
    const int server = lose_a_write(it, errc::timed_out);
    BOOST_TEST((it.zk.status().reason == errc::connection_loss));
    const auto begin = it.now();
    while (it.now() < begin + 95s) {
      const auto asked = round_of(it);
      BOOST_TEST(std::ranges::count(asked, server) == (is_left_out ? 0 : 1));
      BOOST_TEST((is_left_out || asked.back() == server));
    }
    it.advance(10s);
    round_of(it);
    BOOST_TEST(round_of(it).back() == server);
  }
}

// A follower falls silent, too, when its leader is stopped, and so may the next server. So only the latest is left out.
BOOST_AUTO_TEST_CASE(of_servers_that_fell_silent_only_the_latest_is_not_asked) {
  fake_session it(three_servers());
  it.connect();
  const int first = lose_a_write(it, errc::timed_out);
  it.connect();
  const int second = lose_a_write(it, errc::timed_out);
  for (int i = 0; i < 5; ++i) {
    const auto asked = round_of(it);
    BOOST_TEST(asked.size() == 2u);
    BOOST_TEST(asked.back() == first);
    BOOST_TEST(std::ranges::count(asked, second) == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_has_answered_all_writes_or_serves_again_or_another_session_is_asked_in_any_order) {
  for (const auto* what : {"a read", "serves again", "another session"}) {
    std::set<bool> is_last;
    for (int draw = 0; draw < 12; ++draw) {
      fake_session it(three_servers());
      it.connect();
      const int server = it.last().options.server.port;
      if (what == std::string_view("a read")) {
        auto lost = it.record<node_data>();
        it.zk.async_get("/a", lost.token());
        it.settle();
        it.lose();
      } else {
        lose_a_write(it);
      }
      if (what == std::string_view("serves again")) {
        while (it.last().options.server.port != server) it.lose();
        it.connect();
        it.lose();
      }
      if (what == std::string_view("another session")) it.lose(errc::session_expired);
      it.state().random = static_cast<std::uint64_t>(draw);
      is_last.insert(round_of(it).back() == server);
    }
    BOOST_TEST(is_last.contains(false), what);
  }
}

// For example a server that does not understand what it is sent, or that is cut off from its leader.
BOOST_AUTO_TEST_CASE(a_server_that_accepts_and_ends_every_connection_is_not_asked_without_a_pause) {
  fake_session it;
  it.accept(0x77);
  it.lose();
  BOOST_TEST(it.state().connections.size() == 1u);
  it.advance(1s);
  BOOST_TEST(it.state().connections.size() == 2u);
  BOOST_TEST(it.last().options.key.id == 0x77);
}

BOOST_AUTO_TEST_CASE(names_that_can_not_be_resolved_are_told_tried_again_and_no_obstacle_to_closing) {
  auto options = fake_session::usual();
  options.hosts = "nowhere:1";
  fake_session it(options);  // in the fake world names resolve to themselves, so this one has a connection
  BOOST_TEST(it.state().connections.size() == 1u);
  fake_bench bench;
  bench.state().resolved["nowhere"];
  auto zk = bench.make_session(options);
  bench.settle();
  BOOST_TEST((zk.status().state == session_state::connecting));
  BOOST_TEST((zk.status().reason == errc::no_servers));
  bench.state().resolved["nowhere"] = {{"127.0.0.1", 1}};
  bench.advance(1s);
  BOOST_TEST(bench.state().connections.size() == 1u);
  bench.state().resolved["nowhere"].clear();
  bench.lose();
  bench.advance(1s);
  BOOST_TEST(bench.last().options.server.address == "127.0.0.1", "what was known last is used");
  recorder<> closing(bench.io().get_executor());
  zk.async_close(closing.token());
  bench.settle();
  BOOST_TEST(closing.done());
}

BOOST_AUTO_TEST_CASE(a_name_whose_lookup_hangs_does_not_hold_up_the_first_connection) {
  auto options = fake_session::usual();
  options.hosts = "a:1,slow:2,c:3";
  fake_bench bench;
  bench.state().slow_names = {"slow"};
  auto zk = bench.make_session(options);
  bench.settle();
  BOOST_TEST(bench.state().connections.empty(), "the others may come as well");
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(bench.state().connections.size() == 1u);
  bench.lose();
  BOOST_TEST_REQUIRE(bench.state().connections.size() == 2u);
  bench.resolve("slow", {{"10.0.0.2", 2}});
  bench.lose();
  BOOST_TEST_REQUIRE(bench.state().connections.size() == 3u);
  BOOST_TEST(bench.last().options.server.address == "10.0.0.2", "in the round that is under way");
}

BOOST_AUTO_TEST_CASE(the_first_name_that_is_known_is_used_at_once_when_none_was_known_in_time) {
  auto options = fake_session::usual();
  options.hosts = "slow:1,slower:2";
  fake_bench bench;
  bench.state().slow_names = {"slow", "slower"};
  auto zk = bench.make_session(options);
  bench.advance(1s);
  BOOST_TEST(bench.state().connections.empty());
  bench.resolve("slow", {{"10.0.0.1", 1}});
  BOOST_TEST(bench.state().connections.size() == 1u);
}

// The old addresses of pods that were started anew may be silent.
BOOST_AUTO_TEST_CASE(servers_that_have_moved_are_asked_as_soon_as_their_new_addresses_are_known) {
  auto options = fake_session::usual();
  options.hosts = "a:1,b:2,c:3";
  fake_bench bench;
  bench.state().resolved = {{"a", {{"10.0.0.1", 1}}}, {"b", {{"10.0.0.2", 2}}}, {"c", {{"10.0.0.3", 3}}}};
  auto zk = bench.make_session(options);
  bench.settle();
  bench.accept(0x77);
  bench.answer();
  bench.state().slow_names = {"a", "b", "c"};
  bench.lose();
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(bench.state().connections.size() == 2u);
  BOOST_TEST(bench.last().options.server.address.starts_with("10.0.0."));
  int moved = 0;
  for (const auto* name : {"a", "b", "c"}) bench.resolve(name, {{"10.0.1." + std::to_string(++moved), 1}});
  BOOST_TEST(!bench.state().connections[1]->open, "nobody waits for an address to which no name leads");
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(bench.last().open);
    BOOST_TEST(bench.last().options.server.address.starts_with("10.0.1."));
    bench.lose();
  }
}

BOOST_AUTO_TEST_CASE(a_silent_address_that_is_still_the_servers_has_its_time) {
  auto options = fake_session::usual();
  options.hosts = "a:1,b:2,c:3";
  fake_bench bench;
  bench.state().slow_names = {"c"};
  auto zk = bench.make_session(options);
  bench.advance(50ms);
  BOOST_TEST_REQUIRE(bench.state().connections.size() == 1u);
  bench.resolve("c", {{"10.0.0.3", 3}});
  BOOST_TEST(bench.last().open);
  BOOST_TEST(bench.state().connections.size() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
