// Sessions as servers of all kinds tell them, over real connections.
#include "sessions/session_reader.hpp"

#include <array>
#include <map>
#include <tuple>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include "base/tasks.hpp"
#include "fake_server.hpp"
#include "session_samples.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace asio = boost::asio;

namespace {

/// A server that answers each four-letter word, and each path of HTTP, with one text; others by closing.
using answers = std::map<std::string, std::string>;

std::string http_ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// "cons" or "/commands/dump".
std::string subject_of(const std::string& request) {
  if (!request.starts_with("GET ")) return request;
  return request.substr(4, request.find(' ', 4) - 4);
}

asio::awaitable<void> converse_with_client(asio::ip::tcp::socket socket, answers all) {
  std::array<char, 4096> buffer{};
  auto read = co_await socket.async_read_some(asio::buffer(buffer), as_result);
  if (std::get<0>(read)) co_return;
  const auto found = all.find(subject_of(std::string(buffer.data(), std::get<1>(read))));
  if (found == all.end()) co_return;
  co_await asio::async_write(socket, asio::buffer(found->second), as_result);
}

conversation answering_each(answers all) {
  return [all](asio::ip::tcp::socket socket) { return converse_with_client(std::move(socket), all); };
}

server_answers ask_it(asio::io_context& io, const endpoint& server, std::uint16_t admin_port,
                      std::chrono::milliseconds limit = 20s) {
  server_answers told;
  bool is_over = false;
  asio::co_spawn(io, ask_about_sessions(server, admin_port, nullptr, std::chrono::steady_clock::now() + limit),
                 [&](std::exception_ptr error, server_answers result) {
                   if (error) std::rethrow_exception(error);
                   told = std::move(result);
                   is_over = true;
                 });
  while (!is_over) io.run_one();
  return told;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(session_reading)

BOOST_AUTO_TEST_CASE(the_admin_server_comes_first) {
  asio::io_context io;
  fake_server server(io, answering_each({{"cons", cons_text}, {"dump", dump_text}}));
  const auto admin_of = [](std::uint16_t port) {
    return answering_each({{"/commands/configuration", http_ok(admin_configuration_text(port))},
                           {"/commands/connections", http_ok(admin_connections_text)},
                           {"/commands/dump", http_ok(admin_dump_text)}});
  };
  fake_server admin(io, admin_of(server.where().port)), others(io, admin_of(1));
  const auto told = ask_it(io, server.where(), admin.where().port);
  BOOST_TEST((told.asked.source == session_source::admin_server && told.asked.why.empty()), told.asked.why);
  BOOST_TEST((told.connections.sessions.size() == 2u && told.owners.sessions.size() == 3u));
  BOOST_TEST(told.owners_told_by == "admin_server of " + server.where().name);
  const auto without = ask_it(io, server.where(), 0);
  BOOST_TEST((without.asked.source == session_source::four_letter && without.asked.why.empty()));
  BOOST_TEST(without.owners_told_by == "dump of " + server.where().name);
  const auto wrong = ask_it(io, server.where(), others.where().port);
  BOOST_TEST((wrong.asked.source == session_source::four_letter));
  BOOST_TEST(wrong.asked.why.ends_with("it is that of the server with the client port 1"), wrong.asked.why);
}

BOOST_AUTO_TEST_CASE(an_admin_server_that_is_something_else) {
  const auto ask_with = [](conversation talk, std::chrono::milliseconds limit = 20s) {
    asio::io_context io;
    fake_server admin(io, std::move(talk)), server(io, answering_each({{"cons", cons_text}, {"dump", dump_text}}));
    auto told = ask_it(io, server.where(), admin.where().port, limit);
    BOOST_TEST((told.asked.source == session_source::four_letter), told.asked.why);
    BOOST_TEST(told.connections.sessions.size() == 2u);
    BOOST_TEST(told.owners.is_answer);
    BOOST_TEST(told.asked.why.starts_with("AdminServer at 127.0.0.1:"), told.asked.why);
    return told.asked.why;
  };
  const auto answering = [](std::string text) {
    return answering_each({{"/commands/configuration", std::move(text)}});
  };
  BOOST_TEST(ask_with(answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")).ends_with("the status 404"));
  BOOST_TEST(ask_with(answering(http_ok("hello"))).ends_with("is not that of an AdminServer, or is cut off"));
  BOOST_TEST(!ask_with(answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"conn")).empty());
  BOOST_TEST(!ask_with(answering("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{\"conn")).empty());
  BOOST_TEST(!ask_with(fake_server::endless()).empty());
  BOOST_TEST(!ask_with(fake_server::closing()).empty());
  BOOST_TEST(ask_with(fake_server::silent(), 2s).ends_with("no answer in time"));
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const auto& text : {head + "Server: ", head + "Content-Length: 1000000\r\n\r\n{\"conn",
                           head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;"})
    BOOST_TEST_CONTEXT(text) {
      const auto why = ask_with(fake_server::dripping(text), 2s);
      BOOST_TEST(why.ends_with("no answer in time"), why);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_tells_nothing) {
  asio::io_context io;
  fake_server server(io, answering_each({{"cons", not_allowed_text}, {"dump", not_allowed_text}}));
  const auto told = ask_it(io, server.where(), 0);
  BOOST_TEST((told.asked.source == session_source::tree && !told.connections.is_answer && !told.owners.is_answer));
  BOOST_TEST(told.asked.why ==
             "cons: it does not allow cons; add to its zoo.cfg: 4lw.commands.whitelist=srvr,cons,dump");
  fake_server silent(io, fake_server::silent());
  BOOST_TEST(ask_it(io, silent.where(), 0, 300ms).asked.why == "cons: no answer in time");
  fake_server slow(io, fake_server::dripping(cons_text));
  BOOST_TEST(ask_it(io, slow.where(), 0, 300ms).asked.why == "cons: no answer in time");
  fake_server endless(io, fake_server::endless());
  BOOST_TEST(ask_it(io, endless.where(), 0).asked.why == "cons: its answer is too long");
}

BOOST_AUTO_TEST_SUITE_END()
