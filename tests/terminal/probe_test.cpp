// Servers of all kinds, asked over real connections.
#include "cluster/probe.hpp"

#include "fake_server.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

using namespace zkadmin;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

std::vector<server_status> ask(asio::io_context& io, const std::vector<endpoint>& servers,
                               std::chrono::milliseconds limit) {
  std::vector<server_status> found;
  bool done = false;
  asio::co_spawn(io, probe_ensemble(servers, limit),
                 [&](std::exception_ptr error, std::vector<server_status> result) {
                   if (error) std::rethrow_exception(error);
                   found = std::move(result);
                   done = true;
                 });
  while (!done) io.run_one();
  return found;
}

server_status ask_one(conversation talk, std::chrono::milliseconds limit = 5s) {
  asio::io_context io;
  fake_server server(io, std::move(talk));
  return ask(io, {server.where()}, limit).at(0);
}

/// A port where nobody listens: bound, so that nobody else can.
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

BOOST_AUTO_TEST_SUITE_END()
