// The life of a session (connecting, suspended, expired, closed), in which the test decides each step.
#include <algorithm>
#include <set>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/lock.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

session_options three_servers() {
  auto options = fake_session::usual();
  options.hosts = "127.0.0.1:1,127.0.0.1:2,127.0.0.1:3";
  return options;
}

}  // namespace

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
  auto change = record<session_status>();
  zk.async_status_change(0, change.token());
  settle();
  BOOST_TEST(!change.done());
  accept(0x77);
  BOOST_TEST_REQUIRE(change.done());
  BOOST_TEST((change.result<0>().state == session_state::connected));
  auto missed = record<session_status>();
  lose();
  zk.async_status_change(change.result<0>().changes, missed.token());
  settle();
  BOOST_TEST_REQUIRE(missed.done());
  BOOST_TEST((missed.result<0>().state == session_state::suspended));
}

BOOST_FIXTURE_TEST_CASE(after_the_end_there_is_no_change_to_wait_for, fake_session) {
  connect();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST(closing.done());
  BOOST_TEST((zk.status().state == session_state::closed));
  auto change = record<session_status>();
  zk.async_status_change(zk.status().changes, change.token());
  settle();
  BOOST_TEST_REQUIRE(change.done(), "it would wait for ever");
  BOOST_TEST((change.error() == errc::closed));
}

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
  it.advance(2500ms - 1ms);
  BOOST_TEST(it.state().connections.size() == 1u);
  it.advance(1ms);
  BOOST_TEST(it.state().connections.size() == 2u);
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

namespace {

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

}  // namespace

namespace {

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
  bench.state().resolved.emplace();
  auto zk = bench.make_session(options);
  bench.settle();
  BOOST_TEST((zk.status().state == session_state::connecting));
  BOOST_TEST((zk.status().reason == errc::no_servers));
  bench.state().resolved->push_back({"127.0.0.1", 1});
  bench.advance(1s);
  BOOST_TEST(bench.state().connections.size() == 1u);
  bench.state().resolved->clear();
  bench.lose();
  bench.advance(1s);
  BOOST_TEST(bench.last().options.server.address == "127.0.0.1", "what was known last is used");
  recorder<> closing(bench.io().get_executor());
  zk.async_close(closing.token());
  bench.settle();
  BOOST_TEST(closing.done());
}

BOOST_FIXTURE_TEST_CASE(refused_credentials_are_the_end, fake_session) {
  auto waiting = record<>();
  zk.async_connected(waiting.token());
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  lose(errc::auth_failed);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::auth_failed));
  BOOST_TEST_REQUIRE(waiting.done());
  BOOST_TEST((waiting.error() == errc::auth_failed));
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST(is_fatal(reading.error()));
  advance(1h);
  BOOST_TEST(state().connections.size() == 1u, "not tried again");
}

BOOST_FIXTURE_TEST_CASE(closing_asks_the_server_and_waits_no_longer_than_the_connect_timeout, fake_session) {
  connect();
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  advance(5s);
  BOOST_TEST(closing.done());
  BOOST_TEST(!closing.error());
  BOOST_TEST(!last().open);
  BOOST_TEST((zk.status().state == session_state::closed));
  BOOST_TEST((zk.status().reason == errc::closed));
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
BOOST_FIXTURE_TEST_CASE(a_resolver_that_does_not_answer_costs_no_session_that_knows_its_servers, fake_session) {
  connect();
  state().resolver_hangs = true;
  lose();
  BOOST_TEST(state().connections.size() == 1u);
  advance(50ms);
  BOOST_TEST_REQUIRE(state().connections.size() == 2u);
  connect();
  BOOST_TEST((zk.status().state == session_state::connected));
}

// The server may let the next owner in while its answer to the close request is still on its way.
BOOST_FIXTURE_TEST_CASE(whoever_closes_believes_in_nothing_any_more_before_the_server_hears_of_it, fake_session) {
  connect();
  zkrecipes::lock over(zk, "/l");
  auto acquired = record<ownership>();
  over.async_acquire(acquired.token());
  settle();
  const auto name = last().pending.front().first.path.substr(3) + "0000000001";
  backend::reply made;
  made.path = "/l/" + name;
  made.stat.czxid = 7;
  answer(made);
  list({name});
  while (!pending().empty()) answer();  // the read of our own node
  BOOST_TEST_REQUIRE(acquired.done());
  auto& held = acquired.result<0>();
  BOOST_TEST_REQUIRE(!held.error(), held.error().message());
  BOOST_TEST((held.valid_until() > now()));
  auto lost = record<>();
  held.async_lost(lost.token());
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  BOOST_TEST(last().closing);
  BOOST_TEST(!closing.done());
  BOOST_TEST((held.error() == errc::closed));
  BOOST_TEST((held.valid_until() <= now()));
  BOOST_TEST_REQUIRE(lost.done());
  BOOST_TEST((lost.error() == errc::closed));
  lose(errc::closed);
}

BOOST_AUTO_TEST_SUITE_END()
