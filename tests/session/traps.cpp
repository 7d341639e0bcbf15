// Faults of the C client on a connection; the numbers T1, T2 ... are those of the table in docs/architecture.md.
#include <thread>

#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A pair of connected sockets that takes whatever descriptor numbers are free.
struct socket_pair {
  socket_pair() { BOOST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0); }
  socket_pair(const socket_pair&) = delete;
  ~socket_pair() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  /// One byte written at one end, and nothing else, comes out at the other.
  bool intact() const {
    char out[8] = {};
    return ::write(ends[0], "x", 1) == 1 && ::read(ends[1], out, sizeof out) == 1 && ::read(ends[1], out, 1) == -1 &&
           ::read(ends[0], out, 1) == -1;
  }
  int ends[2] = {-1, -1};
};

struct trap_case : fixture {
  /// One round trip.
  error_code look(session& which) {
    auto result = run(which.async_exists("/", tuple));
    return std::get<0>(result);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(traps, trap_case)

// T1: any call of the C client can close its socket, and the next descriptor that is opened gets the same number.
BOOST_AUTO_TEST_CASE(descriptors_opened_by_others_while_the_connection_breaks_are_left_alone) {
  session one = connect();
  std::vector<std::unique_ptr<socket_pair>> others;
  for (int i = 0; i < 30; ++i) {
    BOOST_TEST_REQUIRE(!look(one));
    const int server = server_of(one);
    const auto changes = one.status().changes;
    cluster().proxy(server).cut();
    // Send into the broken connection: the first attempt fails inside the C client, which closes its socket there.
    auto lost = recorder<node_stat>(executor());
    one.async_exists("/", lost.token());
    while (one.status().changes == changes) {
      if (others.size() < 200) others.push_back(std::make_unique<socket_pair>());
      io().poll_one();
    }
    BOOST_TEST_REQUIRE(run_until([&] { return lost.done(); }));
    BOOST_TEST(!lost.error());
  }
  for (const auto& each : others) BOOST_TEST_REQUIRE(each->intact());
  BOOST_TEST(one.status().incarnation == 1u);
}

// T2: with an even number of addresses the C client never tries every other one.
BOOST_AUTO_TEST_CASE(each_of_an_even_number_of_servers_is_found_when_it_is_the_only_one_that_lives) {
  const auto& proxies = proxy_hosts();
  for (int alive = 1; alive <= 2; ++alive) {
    auto options = this->options();
    options.hosts = proxies[0] + "," + proxies[1];
    options.retry.first_pause = 5ms;
    session one = connect(options);
    BOOST_TEST(!look(one));
    cluster().proxy(3 - alive).refuse(true);
    cluster().proxy(3 - alive).cut();
    cluster().proxy(alive).cut();
    for (int i = 0; i < 3; ++i) {
      BOOST_TEST(!look(one));
      BOOST_TEST(server_of(one) == alive);
      const auto changes = one.status().changes;
      cluster().proxy(alive).cut();
      BOOST_TEST(run_until([&] { return one.status().changes != changes; }));
    }
    heal_proxies();
  }
}

// T4: the C client continues half-sent requests on the next connection, so that replies do not match any more.
BOOST_AUTO_TEST_CASE(requests_in_flight_when_the_server_cuts_are_settled_and_the_next_connection_works) {
  create("/counter");
  session one = connect();
  BOOST_TEST_REQUIRE(!look(one));
  const std::string bulk(50'000, 'x');
  int written = 0;
  int lost = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<recorder<node_stat>> writes;
    std::vector<recorder<node_data>> reads;
    for (int k = 0; k < 5; ++k) {
      writes.emplace_back(executor());
      reads.emplace_back(executor());
      one.async_set("/counter", bulk, any_version, writes.back().token());
      one.async_get("/counter", reads.back().token());
    }
    // The connections are cut before anything is sent, in the middle, or when all has been answered.
    for (int steps = i % 40; steps > 0; --steps) io().poll_one();
    for (int id = 1; id <= server_count; ++id) cluster().proxy(id).cut();
    auto settled = [&] {
      return std::all_of(writes.begin(), writes.end(), [](auto& each) { return each.done(); }) &&
             std::all_of(reads.begin(), reads.end(), [](auto& each) { return each.done(); });
    };
    BOOST_TEST_REQUIRE(run_until(settled), "round " << i);
    for (auto& each : reads) BOOST_TEST(!each.error(), each.error().message());
    for (auto& each : writes) {
      BOOST_TEST((!each.error() || each.error() == errc::connection_loss), each.error().message());
      ++(each.error() ? lost : written);
    }
    BOOST_TEST_REQUIRE(!look(one));
  }
  BOOST_TEST(lost > 0);
  BOOST_TEST(get("/counter").stat.version >= written);
  BOOST_TEST(get("/counter").stat.version <= written + lost);
  BOOST_TEST(one.status().incarnation == 1u);
  remove("/counter");
}

// T6: a bad path in a transaction makes the C client free memory that it never allocated, and it can not decode a
// container in a transaction.
BOOST_AUTO_TEST_CASE(bad_operations_of_a_transaction_are_refused_here) {
  auto check_refused = [&](transaction operations) {
    auto result = run(zk().async_commit(std::move(operations), tuple));
    BOOST_TEST((std::get<0>(result) == errc::bad_arguments), std::get<0>(result).message());
  };
  auto check_all = [&] {
    for (std::string bad : {"", "a", "/a/", "/a//b", "/a/../b", "//"}) {
      check_refused(transaction().create("/fine").remove(bad).create("/fine"));
      check_refused(transaction().create(bad));
      check_refused(transaction().check("/").set(bad, ""));
    }
    check_refused(transaction().create("/fine").create("/box", "", create_mode::container));
    BOOST_TEST(!look(zk()));
  };
  check_all();
  cluster().expire(zk().status().session_id);
  BOOST_TEST(run_until([&] { return zk().status().incarnation == 2; }));
  check_all();
  BOOST_TEST(children("/").empty());
}

// T7: a request that can not be handed over must be answered all the same. The server's limit for a request is 1 MiB.
BOOST_AUTO_TEST_CASE(a_request_that_no_server_takes_is_answered) {
  create("/big");
  auto options = this->options();
  options.jute_maxbuffer = 8 << 20;  // more than the servers allow
  auto hopeful = connect(options);
  auto result = run(hopeful.async_set("/big", std::string(3 << 20, 'x'), any_version, tuple));
  BOOST_TEST((std::get<0>(result) == errc::connection_loss), std::get<0>(result).message());
  BOOST_TEST(!look(hopeful));
  BOOST_TEST(get("/big").data.empty());
  // Our limit is exact: the server takes what we send, and we do not send what it would not take.
  const auto connects = zk().counters().connects;
  const std::size_t limit = session_options().jute_maxbuffer;
  bool refused = false;
  for (std::size_t size = limit - 40; !refused && size < limit; ++size) {
    auto tried = run(zk().async_set("/big", std::string(size, 'x'), any_version, tuple));
    refused = std::get<0>(tried) == errc::too_large;
    BOOST_TEST((refused || !std::get<0>(tried)), std::get<0>(tried).message());
  }
  BOOST_TEST(refused);
  BOOST_TEST(zk().counters().connects == connects);
  remove("/big");
}

// T8: zookeeper_close blocks for up to 4.5 s.
BOOST_AUTO_TEST_CASE(closing_does_not_block_the_executor_while_the_server_is_frozen) {
  auto options = this->options();
  options.connect_timeout = 700ms;
  session one = connect(options);
  BOOST_TEST(!look(one));
  cluster().proxy(server_of(one)).freeze(true);
  auto closing = recorder<>(executor());
  one.async_close(closing.token());
  auto longest = 0ns;
  auto last = std::chrono::steady_clock::now();
  const auto begin = last;
  while (!closing.done()) {
    io().run_one_for(10ms);
    const auto present = std::chrono::steady_clock::now();
    longest = std::max<std::chrono::nanoseconds>(longest, present - last);
    last = present;
    BOOST_TEST_REQUIRE((present - begin < 10s));
  }
  BOOST_TEST(!closing.error());
  BOOST_TEST((longest < 500ms), "blocked for " << longest / 1ms << " ms");
  BOOST_TEST((last - begin >= 650ms), "it waits for the server's word");
}

// T9: after a stall the C client notices that time has passed before it reads what has arrived.
BOOST_AUTO_TEST_CASE(a_stall_of_the_executor_keeps_the_connection) {
  auto options = this->options();
  options.timeout = 1500ms;
  session one = connect(options);
  BOOST_TEST(!look(one));
  BOOST_TEST((one.status().timeout == 1500ms));
  const auto connects = one.counters().connects;
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(1100ms);  // the stall is what is tested: more than two thirds of the timeout
    BOOST_TEST(!look(one));
    BOOST_TEST(one.counters().connects == connects, "stall " << i);
    run_until([] { return false; }, std::chrono::milliseconds(100 * i));  // at other moments of the C client's rhythm
  }
}

// T9, with a request in flight.
BOOST_AUTO_TEST_CASE(a_stall_with_an_answer_waiting_in_the_socket_keeps_the_connection) {
  auto options = this->options();
  options.timeout = 1500ms;
  session one = connect(options);
  BOOST_TEST(!look(one));
  const auto connects = one.counters().connects;
  auto asked = recorder<node_stat>(executor());
  const auto sent = one.counters().requests;
  one.async_exists("/", asked.token());
  BOOST_TEST(run_until([&] { return one.counters().requests > sent; }));
  std::this_thread::sleep_for(1100ms);  // as above
  BOOST_TEST(!look(one));               // this request gets to the C client before anything has looked at the socket
  BOOST_TEST(asked.done());
  BOOST_TEST(!asked.error());
  BOOST_TEST(one.counters().connects == connects);
}

// T10: a server in the list that never answers costs the C client two thirds of the session timeout.
BOOST_AUTO_TEST_CASE(a_server_that_is_frozen_costs_the_connect_timeout) {
  auto options = this->options();
  options.timeout = 30s;
  options.connect_timeout = 300ms;
  session one = connect(options);
  for (int i = 0; i < 4; ++i) {
    BOOST_TEST(!look(one));
    const int server = server_of(one);
    const int other = server % server_count + 1;
    cluster().proxy(other).freeze(true);
    cluster().proxy(server).refuse(true);
    const auto begin = std::chrono::steady_clock::now();
    cluster().proxy(server).cut();
    BOOST_TEST(!look(one));
    BOOST_TEST(server_of(one) != other);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 3s), "two thirds of the timeout would be 20 s");
    heal_proxies();
  }
}

// T15: the C client sets all watches again in one packet, which the server refuses if it is too large.
BOOST_AUTO_TEST_CASE(twenty_thousand_watches_outlast_a_lost_connection) {
  constexpr int count = 20'000;
  // With such long names the 20 000 paths are more than the server takes in one packet.
  const std::string prefix = "/a-name-that-is-long-enough-to-make-the-packet-too-large-for-it-";
  session one = connect();
  BOOST_TEST(!look(one));
  int changed = 0;
  int failed = 0;
  for (int i = 0; i < count; ++i) {
    one.async_data_change(
        prefix + std::to_string(i), 0,
        asio::bind_executor(executor(), [&](error_code error, node_data) { ++(error ? failed : changed); }));
  }
  BOOST_TEST_REQUIRE(run_until([&] { return watches_on_servers() == count; }));
  cluster().proxy(server_of(one)).cut();
  const auto again = one.counters().connects + 1;
  BOOST_TEST(run_until([&] { return one.counters().connects == again && watches_on_servers() == count; }));
  create(prefix + "7");
  create(prefix + std::to_string(count - 1));
  BOOST_TEST(run_until([&] { return changed == 2; }));
  BOOST_TEST(failed == 0);
  BOOST_TEST(one.counters().connects == again, "one connection is enough");
  remove(prefix + "7");
  remove(prefix + std::to_string(count - 1));
  BOOST_TEST(!std::get<0>(run(one.async_close(tuple))));
  BOOST_TEST(run_until([&] { return changed + failed == count; }));
}

BOOST_AUTO_TEST_SUITE_END()
