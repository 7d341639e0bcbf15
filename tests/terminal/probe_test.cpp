// What servers answer, and what follows from it.
#include <random>
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include "cluster/live_readings.hpp"
#include "commands/contact.hpp"
#include "fake_server.hpp"
#include "problems/rules.hpp"
#include "samples.hpp"
#include "servers/prober.hpp"

using namespace zkadmin;
using namespace samples;
using namespace std::chrono_literals;
namespace asio = boost::asio;

// The parser of `srvr`, with answers of ZooKeeper 3.5 to 3.9 and with malformed ones.

namespace {

constexpr const char* of_3_5 =
    R"(Zookeeper version: 3.5.5-390fe37ea45dee01bf87dc1c042b5e3dcce88653, built on 05/03/2019 12:07 GMT
Latency min/avg/max: 0/4/231
Received: 1208
Sent: 1207
Connections: 3
Outstanding: 0
Zxid: 0x20000001c
Mode: follower
Node count: 127
)";

constexpr const char* of_3_6 =
    R"(Zookeeper version: 3.6.4--d65253dcf68e9097c6e95a126463fd5fdeb4521c, built on 12/18/2022 18:10 GMT
Latency min/avg/max: 0/0.75/4
Received: 5
Sent: 4
Connections: 1
Outstanding: 0
Zxid: 0x0
Mode: standalone
Node count: 5
)";

// Recorded from Debian's server.
constexpr const char* of_3_8 = R"(Zookeeper version: 3.8.0-${mvngit.commit.id}, built on 2024-12-29 17:54 UTC
Latency min/avg/max: 0/0.4909/7
Received: 171
Sent: 171
Connections: 2
Outstanding: 0
Zxid: 0x500000019
Mode: leader
Node count: 10
Proposal sizes last/min/max: 293/48/386
)";

constexpr const char* of_3_9 =
    "Zookeeper version: 3.9.2-e454e8c7283100c7caec6dcae2bc82aaecb63023, built on 2024-02-12 20:59 UTC\r\n"
    "Latency min/avg/max: 1/1.5/2\r\nReceived: 9\r\nSent: 8\r\nConnections: 1\r\nOutstanding: 7\r\n"
    "Zxid: 0xffffffff00000001\r\nMode: observer\r\nNode count: 6\r\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(srvr)

BOOST_AUTO_TEST_CASE(follower_3_5) {
  const auto server = parse_srvr("a:1", of_3_5);
  BOOST_TEST(server.server == "a:1");
  BOOST_TEST(server.reachable);
  BOOST_TEST((server.role == server_role::follower));
  BOOST_TEST(*server.zxid == 0x20000001cu);
  BOOST_TEST(*server.connections == 3);
  BOOST_TEST((server.latency == latency_ms{0, 4, 231}));
  BOOST_TEST(*server.outstanding == 0);
  BOOST_TEST(*server.nodes == 127);
  BOOST_TEST(server.version == "3.5.5");
  BOOST_TEST(server.error == "");
  BOOST_TEST(is_serving(server));
}

BOOST_AUTO_TEST_CASE(standalone_3_6_with_a_fraction) {
  const auto server = parse_srvr("a:1", of_3_6);
  BOOST_TEST((server.role == server_role::standalone));
  BOOST_TEST((server.latency == latency_ms{0, 0.75, 4}));
  BOOST_TEST(*server.zxid == 0u);
  BOOST_TEST(server.version == "3.6.4");
}

BOOST_AUTO_TEST_CASE(leader_3_8_with_proposal_sizes) {
  const auto server = parse_srvr("a:1", of_3_8);
  BOOST_TEST((server.role == server_role::leader));
  BOOST_TEST(*server.nodes == 10);
  BOOST_TEST(server.version == "3.8.0");
}

BOOST_AUTO_TEST_CASE(observer_3_9_with_other_line_ends) {
  const auto server = parse_srvr("a:1", of_3_9);
  BOOST_TEST((server.role == server_role::observer));
  BOOST_TEST(*server.zxid == 0xffffffff00000001u);
  BOOST_TEST(*server.outstanding == 7);
}

BOOST_AUTO_TEST_CASE(not_serving) {
  const auto server = parse_srvr("a:1", "This ZooKeeper instance is not currently serving requests\n");
  BOOST_TEST(server.reachable);
  BOOST_TEST((server.role == server_role::not_serving));
  BOOST_TEST(!is_serving(server));
  BOOST_TEST(server.error == "not serving requests: no quorum, or still starting");
}

BOOST_AUTO_TEST_CASE(read_only_is_not_serving) {
  const auto server = parse_srvr("a:1", "Zookeeper version: 3.8.0-x\nMode: read-only\nNode count: 4\n");
  BOOST_TEST((server.role == server_role::not_serving));
  BOOST_TEST(server.error.find("read-only") == 0u);
}

BOOST_AUTO_TEST_CASE(not_in_the_whitelist_tells_the_cure) {
  const auto server = parse_srvr("a:1", "srvr is not executed because it is not in the whitelist.\n");
  BOOST_TEST(server.reachable);
  BOOST_TEST(!server.role.has_value());
  BOOST_TEST(server.error.find("4lw.commands.whitelist=srvr") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(nothing_at_all) {
  const auto server = parse_srvr("a:1", "");
  BOOST_TEST(!server.reachable);
  BOOST_TEST(server.error.find("without an answer") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(another_service_is_quoted_and_made_harmless) {
  const auto server = parse_srvr("a:1", "HTTP/1.1 400 Bad Request\r\nServer: \x1b[31mx\r\n\r\n");
  BOOST_TEST(!server.reachable);
  BOOST_TEST(server.error.find("HTTP/1.1 400 Bad Request") != std::string::npos);
  BOOST_TEST(server.error.find('\x1b') == std::string::npos);
  BOOST_TEST(server.version == "");
}

BOOST_AUTO_TEST_CASE(too_long) {
  const auto server = parse_srvr("a:1", std::string(longest_answer + 1, 'x'));
  BOOST_TEST(!server.reachable);
  BOOST_TEST(server.error.find("too long") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(odd_values_are_left_out) {
  const auto server = parse_srvr("a:1",
                                 "Latency min/avg/max: 0/nan/inf\nConnections: 99999999999999999999\n"
                                 "Outstanding: 1x\nZxid: 12\nMode: leader\nNode count:\n");
  BOOST_TEST(server.reachable);
  BOOST_TEST(!server.latency.has_value());
  BOOST_TEST(!server.connections.has_value());
  BOOST_TEST(!server.outstanding.has_value());
  BOOST_TEST(!server.zxid.has_value());
  BOOST_TEST(!server.nodes.has_value());
}

BOOST_AUTO_TEST_CASE(unknown_mode_is_told) {
  const auto server = parse_srvr("a:1", "Mode: emperor\n");
  BOOST_TEST(server.reachable);
  BOOST_TEST(!server.role.has_value());
  BOOST_TEST(server.error.find("emperor") != std::string::npos);
}

// The parser gives a result for any truncation and any damage.
BOOST_AUTO_TEST_CASE(damaged_answers_do_no_harm) {
  std::mt19937 random(1);
  for (const std::string whole : {of_3_5, of_3_6, of_3_8, of_3_9}) {
    for (std::size_t length = 0; length < whole.size(); ++length)
      BOOST_REQUIRE_EQUAL(parse_srvr("a:1", whole.substr(0, length)).server, "a:1");
    for (int i = 0; i < 2000; ++i) {
      std::string damaged = whole;
      for (int j = 0; j < 5; ++j) damaged[random() % damaged.size()] = static_cast<char>(random());
      const auto server = parse_srvr("a:1", damaged);
      BOOST_REQUIRE(server.reachable || !server.error.empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

// The rules for what stands still, and for whoever comes again and again.

BOOST_AUTO_TEST_SUITE(standing_problems)

BOOST_AUTO_TEST_CASE(what_stands_still_and_who_stands_twice_in_an_election) {
  const auto found = problems_of(standing_election());
  BOOST_TEST_REQUIRE(found.size() == 2u, "candidates with one id may all live");
  BOOST_TEST(found[0].name == "stands-still");
  BOOST_TEST(found[0].text == "a message has been in process for longer than 45 s: qn-0000000007");
  BOOST_TEST(found[1].name == "same-session");
  BOOST_TEST(found[1].text == "a session has more than one place: twin");
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_in_process_need_not_have_a_known_name) {
  auto election = standing_election();
  election.still_message.clear();
  BOOST_TEST(problems_of(election).at(0).text == "a message has been in process for longer than 45 s");
  auto group = failing_group();
  group.still_message.clear();
  BOOST_TEST(problems_of(group).at(2).text == "a message has been in process for longer than 45 s: shards 3-4,9");
}

BOOST_AUTO_TEST_CASE(a_member_that_came_again_and_works_is_healthy) {
  auto group = failing_group();
  const auto comes_again = [&] {
    return std::ranges::count(problems_of(group), std::string("comes-again"), &problem::name);
  };
  BOOST_TEST(comes_again() == 1);
  group.members[2].owned = {5};
  BOOST_TEST(comes_again() == 0);
}

BOOST_AUTO_TEST_CASE(in_a_lock_an_id_that_comes_again_is_told_and_a_session_with_many_places_is_not) {
  recipe_status lock;
  lock.path = "/lock";
  lock.kinds = {recipe::lock};
  for (std::int64_t i = 0; i < 6; ++i) {
    participant_status who{"waiter", i < 2 ? "zkrecipes" : "job", "n" + std::to_string(i)};
    who.position = i;
    who.session = i < 2 ? 7 : 70 + i % 2;
    who.age = 50s;
    lock.participants.push_back(who);
  }
  BOOST_TEST(problems_of(lock).empty());
  lock.participants.back().session = 99;
  BOOST_TEST(problems_of(lock).at(0).name == "comes-again");
  BOOST_TEST(
      problems_of(lock).at(0).text ==
      "several sessions with one id have entered within a minute, the dead ones stay until they expire: job (3)");
  lock.participants.back().age = 2min;
  BOOST_TEST(problems_of(lock).empty(), "it lives");
}

BOOST_AUTO_TEST_CASE(members_that_fail_or_come_again_and_shards_that_stand_still) {
  const auto found = problems_of(failing_group());
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].name == "failing-member");
  BOOST_TEST(found[0].text == "members at which most shards fail, so that others own them: b (no disk)");
  BOOST_TEST(found[1].name == "comes-again");
  BOOST_TEST(found[1].text == "members that end soon after each start: c");
  BOOST_TEST(found[2].name == "stands-still");
  BOOST_TEST(found[2].text ==
             "a message has been in process for longer than 45 s: shards 3-4,9; that of shard 3 is m-1");
}

BOOST_AUTO_TEST_CASE(the_first_of_a_line_that_does_not_act) {
  auto barrier = full_round();
  BOOST_TEST(text_of(problems_of(barrier)) == "2 are present of 2, and nobody has begun the round");
  barrier.participants[1].age = 1s;
  BOOST_TEST(problems_of(barrier).empty());
  queue_status queue{"/jobs", 3, 0, 2, 0, 40s};
  BOOST_TEST(problems_of(queue).empty());
  queue.taker_waits = 31s;
  BOOST_TEST(text_of(problems_of(queue)) == "the first of 2 takers takes no item, for 31 s: 3 wait");
  queue.oldest = 29s;
  BOOST_TEST(problems_of(queue).empty());
}

// A taker waits for as long as the queue has been idle, and can not take an item that is not due.
BOOST_AUTO_TEST_CASE(an_item_that_is_not_due_does_not_age) {
  queue_status queue{"/jobs", 1, 0, 1, 0, -1h};
  queue.taker_waits = 2h;
  auto recipe = recipe_status_of(queue);
  BOOST_TEST((recipe.age == 0ms));
  grow_older(recipe, 59min);
  BOOST_TEST((recipe.age == 0ms));
  BOOST_TEST(problems_of(recipe).empty());
  grow_older(recipe, 80s);
  BOOST_TEST((recipe.age == 20s));
  BOOST_TEST(problems_of(recipe).empty());
  grow_older(recipe, 10s);
  BOOST_TEST(text_of(problems_of(recipe)) == "the first of 1 takers takes no item, for 30 s: 1 wait");
}

BOOST_AUTO_TEST_CASE(a_taker_that_hangs_is_found_without_another_reading) {
  queue_status queue{"/jobs", 1, 0, 1, 0, 5s};
  queue.taker_waits = 5s;
  grow_older(queue, 25s);
  BOOST_TEST(has_problem(problems_of(queue), "first-does-not-act"));
}

BOOST_AUTO_TEST_SUITE_END()

// The prober with servers of all kinds, over real connections.

namespace {

std::vector<server_status> ask(asio::io_context& io, const std::vector<endpoint>& servers,
                               std::chrono::milliseconds limit) {
  const auto asking = std::make_shared<prober>(io.get_executor(), servers, limit);
  const auto found = std::make_shared<std::vector<server_status>>(not_asked(servers));
  const auto keep = [found](std::size_t which, server_status seen) { (*found)[which] = std::move(seen); };
  bool done = false;
  asio::co_spawn(io, asking->ask_all(keep), [&](std::exception_ptr error) {
    if (error) std::rethrow_exception(error);
    done = true;
  });
  while (!done) io.run_one();
  return *found;
}

server_status ask_one(conversation talk, std::chrono::milliseconds limit = 5s) {
  asio::io_context io;
  fake_server server(io, std::move(talk));
  return ask(io, {server.where()}, limit).at(0);
}

/// A port that refuses connections: it is bound, so that no other program can listen on it.
struct unused_port {
  explicit unused_port(asio::io_context& io) : socket(io, asio::ip::tcp::v4()) {
    socket.bind({asio::ip::make_address("127.0.0.1"), 0});
  }
  endpoint where() const {
    const auto port = socket.local_endpoint().port();
    return {"127.0.0.1", port, "127.0.0.1:" + std::to_string(port)};
  }
  asio::ip::tcp::socket socket;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(probe)

BOOST_AUTO_TEST_CASE(a_server_that_answers) {
  const auto server = ask_one(fake_server::answering(leader_text));
  BOOST_TEST(server.reachable);
  BOOST_TEST((server.role == server_role::leader));
}

BOOST_AUTO_TEST_CASE(one_that_refuses_does_not_hide_the_others) {
  asio::io_context io;
  fake_server first(io, fake_server::answering(leader_text));
  fake_server last(io, fake_server::answering(leader_text));
  const unused_port down(io);
  const auto servers = ask(io, {first.where(), down.where(), last.where()}, 5s);
  BOOST_TEST(servers.size() == 3u);
  BOOST_TEST(servers[0].server == first.where().name);
  BOOST_TEST(servers[0].reachable);
  BOOST_TEST(servers[1].server == down.where().name);
  BOOST_TEST(!servers[1].reachable);
  BOOST_TEST(servers[1].error == "Connection refused");
  BOOST_TEST(servers[2].reachable);
}

BOOST_AUTO_TEST_CASE(silence_is_bounded) {
  const auto begin = std::chrono::steady_clock::now();
  const auto server = ask_one(fake_server::silent(), 200ms);
  BOOST_TEST((std::chrono::steady_clock::now() - begin >= 200ms));
  BOOST_TEST(!server.reachable);
  BOOST_TEST(server.error == "no answer within 200 ms");
}

BOOST_AUTO_TEST_CASE(silence_of_many_takes_the_time_of_one) {
  asio::io_context io;
  fake_server silent(io, fake_server::silent());
  const auto begin = std::chrono::steady_clock::now();
  const auto servers = ask(io, std::vector<endpoint>(20, silent.where()), 500ms);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 5s));
  BOOST_TEST(servers.size() == 20u);
}

BOOST_AUTO_TEST_CASE(endless_garbage_is_bounded) {
  const auto server = ask_one(fake_server::endless());
  BOOST_TEST(!server.reachable);
  BOOST_TEST(server.error.find("too long") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_answer_byte_by_byte_is_bounded) {
  for (const auto* text : {"", "Zookeeper version: 3.8.0", leader_text}) {
    const auto server = ask_one(fake_server::dripping(text), 300ms);
    BOOST_TEST(!server.reachable);
    BOOST_TEST(server.error == "no answer within 300 ms");
  }
}

BOOST_AUTO_TEST_CASE(closing_is_told) {
  const auto server = ask_one(fake_server::closing());
  BOOST_TEST(!server.reachable);
  BOOST_TEST(!server.error.empty());
}

BOOST_AUTO_TEST_CASE(a_name_that_does_not_exist) {
  asio::io_context io;
  const auto servers = ask(io, {{"no-such-host.invalid", 2181, "no-such-host.invalid:2181"}}, 5s);
  BOOST_TEST(!servers.at(0).reachable);
  BOOST_TEST(!servers.at(0).error.empty());
}

BOOST_AUTO_TEST_CASE(names_are_looked_up) {
  asio::io_context io;
  fake_server server(io, fake_server::answering(leader_text));
  auto where = server.where();
  where.host = "localhost";
  BOOST_TEST(ask(io, {where}, 5s).at(0).reachable);
}

BOOST_AUTO_TEST_CASE(one_that_is_silent_costs_little_more_than_the_others_took) {
  asio::io_context io;
  fake_server quick(io, fake_server::answering(leader_text));
  fake_server silent(io, fake_server::silent());
  const auto begin = std::chrono::steady_clock::now();
  const auto servers = ask(io, {quick.where(), silent.where()}, 60s);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 30s));
  BOOST_TEST(servers[0].reachable);
  BOOST_TEST(servers[1].silent);
  BOOST_TEST(servers[1].error.starts_with("no answer within "));
}

BOOST_AUTO_TEST_CASE(where_all_are_slow_none_is_said_to_be_silent) {
  asio::io_context io;
  fake_server slow(io, fake_server::answering_after(1s, leader_text));
  std::size_t told = 0;
  const auto asking = std::make_shared<prober>(io.get_executor(), std::vector<endpoint>(3, slow.where()), 60s);
  std::vector<server_status> seen;
  const auto keep = [&](std::size_t, server_status each) {
    ++told;
    BOOST_TEST(each.reachable, each.error);
  };
  asio::co_spawn(io, asking->ask_all(keep), asio::detached);
  while (told < 3) io.run_one();
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_overdue_is_told_all_the_same) {
  asio::io_context io;
  fake_server quick(io, fake_server::answering(leader_text));
  fake_server slow(io, fake_server::answering_after(1s, leader_text));
  const auto asking = std::make_shared<prober>(io.get_executor(), std::vector{quick.where(), slow.where()}, 5s);
  std::vector<server_status> seen;
  const auto keep = [&](std::size_t which, server_status each) {
    if (which == 1) seen.push_back(std::move(each));
  };
  asio::co_spawn(io, asking->ask_all(keep), asio::detached);
  while (seen.empty() || !seen.back().reachable) io.run_one();
  BOOST_TEST_REQUIRE(seen.size() == 2u);
  BOOST_TEST(seen.front().silent);
  BOOST_TEST(seen.front().error == "no answer within 500 ms");
  // The prober has learned how long this server takes, so the next answer is not overdue.
  seen.clear();
  asio::co_spawn(io, asking->ask(1, keep), asio::detached);
  while (seen.empty()) io.run_one();
  BOOST_TEST(seen.front().reachable);
}

BOOST_AUTO_TEST_CASE(a_server_that_an_earlier_round_waits_for_is_not_asked_again) {
  asio::io_context io;
  fake_server quick(io, fake_server::answering(leader_text));
  fake_server silent(io, fake_server::silent());
  const auto asking = std::make_shared<prober>(io.get_executor(), std::vector{quick.where(), silent.where()}, 2s);
  int rounds = 0;
  int silences = 0;
  const auto keep = [&](std::size_t which, const server_status&) { silences += which == 1 ? 1 : 0; };
  const auto one_more = [&](std::exception_ptr) { ++rounds; };
  for (int i = 1; i <= 5; ++i) {
    asio::co_spawn(io, asking->ask_all(keep), one_more);
    while (rounds < i) io.run_one();
  }
  BOOST_TEST(silences == 1, "all rounds go by the first one");
  while (silences < 2) io.run_one();  // at its limit
  asio::co_spawn(io, asking->ask_all(keep), one_more);
  while (rounds < 6) io.run_one();
  BOOST_TEST(silences == 3, "asked again");
}

BOOST_AUTO_TEST_SUITE_END()

// How far the contact with the servers came, as told when the time is over.

BOOST_AUTO_TEST_SUITE(contact_suite)

BOOST_AUTO_TEST_CASE(the_end_of_the_time_tells_how_far_the_contact_came) {
  settings wanted;
  wanted.servers = {{"a", 2181, "a:2181"}, {"b", 2181, "b:2181"}};
  wanted.timeout = 1s;
  contact with(wanted);
  BOOST_TEST(std::string(out_of_time(with).what()) == "no server has answered within 1.0 s");
  with.servers.back().reachable = true;
  BOOST_TEST(std::string(out_of_time(with).what()) == "the servers answer, but gave no session within 1.0 s");
}

BOOST_AUTO_TEST_SUITE_END()
