// The prober with servers of all kinds, over real connections.
#include <string>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include "commands/contact.hpp"
#include "fake_server.hpp"
#include "servers/prober.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace asio = boost::asio;

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
