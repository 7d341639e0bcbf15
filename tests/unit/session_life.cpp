// The life of a session (connecting, suspended, expired, closed), in which the test decides each step.
#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include <zkrecipes/lock.hpp>

#include "unit/fake_session.hpp"
#include "unit/poor_world.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(session_life)

BOOST_FIXTURE_TEST_CASE(states_reasons_and_incarnations, fake_session) {
  BOOST_TEST((zk.status().state == session_state::connecting));
  accept(0x77, 8s);
  answer();
  auto status = zk.status();
  BOOST_TEST((status.state == session_state::connected));
  BOOST_TEST(status.incarnation == 1u);
  BOOST_TEST(status.session_id == 0x77);
  BOOST_TEST((status.timeout == 8s));
  BOOST_TEST(status.server == "127.0.0.1:1");
  lose();
  status = zk.status();
  BOOST_TEST((status.state == session_state::suspended));
  BOOST_TEST((status.reason == errc::connection_loss));
  BOOST_TEST(status.session_id == 0x77);
  BOOST_TEST(status.server == "");
  connect();
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().incarnation == 1u);
  lose();
  lose(errc::session_expired);
  BOOST_TEST((zk.status().state == session_state::expired));
  BOOST_TEST((zk.status().reason == errc::session_expired));
  accept(0x88);
  BOOST_TEST((zk.status().state == session_state::connected));
  BOOST_TEST(zk.status().incarnation == 2u);
  BOOST_TEST(zk.status().session_id == 0x88);
  BOOST_TEST(zk.counters().connects == 3u);
  BOOST_TEST(zk.counters().incarnations == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_session_is_taken_up_again_with_its_key_and_begun_anew_after_it_expired, fake_session) {
  BOOST_TEST(last().options.key.id == 0);
  BOOST_TEST((last().options.key.timeout == 10s));
  accept(0x77, 8s);
  answer();
  lose();
  BOOST_TEST(last().options.key.id == 0x77);
  BOOST_TEST(last().options.key.password == "secret");
  BOOST_TEST((last().options.key.timeout == 8s));
  lose(errc::session_expired);
  BOOST_TEST(last().options.key.id == 0);
  BOOST_TEST((last().options.key.timeout == 10s), "as asked for, not as granted before");
}

BOOST_FIXTURE_TEST_CASE(every_change_of_state_is_told_to_who_waits_for_one, fake_session) {
  auto change = zk.async_status_change(0, begun());
  BOOST_TEST(!change.done());
  accept(0x77);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST((change.result<0>().state == session_state::connected));
  lose();
  auto missed = zk.async_status_change(change.result<0>().changes, begun());
  BOOST_TEST_REQUIRE(missed.done());
  BOOST_TEST((missed.result<0>().state == session_state::suspended));
}

BOOST_FIXTURE_TEST_CASE(after_the_end_there_is_no_change_to_wait_for, connected_session) {
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST(closing.done());
  BOOST_TEST((zk.status().state == session_state::closed));
  auto change = zk.async_status_change(zk.status().changes, begun());
  BOOST_TEST_REQUIRE(change.done(), "it would wait for ever");
  BOOST_TEST((change.error() == errc::closed));
}

BOOST_FIXTURE_TEST_CASE(to_wait_for_a_connection_can_have_a_limit, fake_session) {
  auto late = zk.async_connected_for(3s, recorded());
  auto soon = zk.async_connected_for(4s, recorded());
  advance(3s - 1ms);
  BOOST_TEST(!late.done());
  advance(1ms);
  BOOST_TEST_REQUIRE(ended_with(late, errc::timed_out));
  connect();
  BOOST_TEST_REQUIRE(succeeded(soon));
  lose();
  auto closed = zk.async_connected_for(std::chrono::hours::max(), recorded());
  auto closing = zk.async_close(begun());
  BOOST_TEST_REQUIRE(ended_with(closed, errc::closed));
}

BOOST_FIXTURE_TEST_CASE(refused_credentials_are_the_end, fake_session) {
  auto waiting = zk.async_connected(recorded());
  auto reading = zk.async_get("/a", begun());
  lose(errc::auth_failed);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::auth_failed));
  BOOST_TEST_REQUIRE(ended_with(waiting, errc::auth_failed));
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST(is_fatal(reading.error()));
  advance(1h);
  BOOST_TEST(state().connections.size() == 1u, "not tried again");
}

BOOST_FIXTURE_TEST_CASE(closing_asks_the_server_and_waits_no_longer_than_the_connect_timeout, connected_session) {
  auto closing = zk.async_close(begun());
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  advance(5s);
  BOOST_TEST(succeeded(closing));
  BOOST_TEST(!last().open);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_session_that_has_no_memory_for_its_end_has_ended_all_the_same) {
  fake_bench bench;
  poor_world* world = nullptr;
  const auto make_world = [&](asio::any_io_executor strand) {
    auto made = std::make_unique<poor_world>(bench.worlds()(std::move(strand)));
    world = made.get();
    return made;
  };
  session zk(detail::make_core(bench.io().get_executor(), fake_session::usual(), make_world));
  bench.settle();
  bench.accept(0x77);
  world->fails_at_end = true;
  recorder<> closing(bench.io().get_executor());
  zk.async_close(closing.token());
  bench.settle();
  bench.lose(errc::closed);
  bench.advance(1s);
  BOOST_TEST(!world->fails_at_end);
  BOOST_TEST(closing.done());
  BOOST_TEST((zk.status().state == session_state::closed));
}

BOOST_AUTO_TEST_CASE(the_last_copy_closes_the_session) {
  fake_session it;
  it.connect();
  auto copy = std::make_unique<session>(it.zk);
  it.zk = *copy;
  copy.reset();
  it.settle();
  BOOST_TEST(!it.last().closing);
  it.zk = it.make_session(fake_session::usual());
  it.settle();
  BOOST_TEST(it.state().connections.front()->closing);
}

// A resolver can take longer than a session lives. A session that knows its servers does not wait for it.
BOOST_FIXTURE_TEST_CASE(a_resolver_that_does_not_answer_costs_no_session_that_knows_its_servers, connected_session) {
  state().resolver_hangs = true;
  lose();
  BOOST_TEST(state().connections.size() == 1u);
  advance(50ms);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  connect();
  BOOST_TEST((zk.status().state == session_state::connected));
}

// The server may let the next owner in while its answer to the close request is still on its way.
BOOST_FIXTURE_TEST_CASE(whoever_closes_believes_in_nothing_any_more_before_the_server_hears_of_it, connected_session) {
  zkrecipes::lock over(zk, "/l");
  auto acquired = over.async_acquire(begun());
  const auto name = last().pending.front().first.path.substr(3) + "0000000001";
  answer_with({.path = "/l/" + name, .stat = {.czxid = 7}});
  list({name});
  while (!pending().empty()) answer();  // the read of our own node
  BOOST_TEST_REQUIRE(acquired.done());
  auto& held = acquired.result<0>();
  BOOST_TEST_REQUIRE(!held.error(), held.error().message());
  BOOST_TEST((held.valid_until() > now()));
  auto lost = held.async_lost(recorded());
  auto closing = zk.async_close(begun());
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  BOOST_TEST((held.error() == errc::closed));
  BOOST_TEST((held.valid_until() <= now()));
  BOOST_TEST_REQUIRE(ended_with(lost, errc::closed));
  lose(errc::closed);
}

BOOST_AUTO_TEST_SUITE_END()

// The life of a session: which servers it asks, in which order, and how long it waits for each.
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
  auto lost = it.zk.async_set("/a", "new", any_version, it.begun());
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
        auto lost = it.zk.async_get("/a", it.begun());
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
