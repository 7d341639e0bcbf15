// zkadmin at a server that sends byte by byte, without end: to a session, and to a four-letter word.
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include "fake_server.hpp"
#include "live/running_program.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

constexpr auto outcome = asio::as_tuple(asio::use_awaitable);

/// A session's acceptance, with a timeout of ten seconds, and without its password.
const std::string most_of_acceptance("\0\0\0\x25\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\0\x77\0\0\0\x10", 24);
/// The whole, and the length of an answer.
const std::string start_of_answer = most_of_acceptance + std::string(16, 'p') + std::string("\0\0\0\x20\x20", 5);

/// Answers `srvr`, and drips to a session.
asio::awaitable<void> drip_to_sessions(asio::ip::tcp::socket socket, std::string text) {
  std::array<char, 4> begin{};
  const std::string answer = leader_text;
  auto read = co_await asio::async_read(socket, asio::buffer(begin), outcome);
  if (std::get<0>(read)) co_return;
  if (std::string(begin.data(), begin.size()) == "srvr") {
    co_await asio::async_write(socket, asio::buffer(answer), outcome);
  } else {
    const auto talk = fake_server::dripping(text);
    co_await talk(std::move(socket));
  }
}

struct slow_case {
  asio::io_context io;

  void check_end(const std::string& text, std::vector<std::string> words, int code, const std::string& why) {
    fake_server server(io, [text](asio::ip::tcp::socket socket) { return drip_to_sessions(std::move(socket), text); });
    const auto begin = std::chrono::steady_clock::now();
    words.insert(words.begin(), {"--timeout", "1s"});
    const auto result = run_zkadmin(io, words, {{"ZKADMIN_HOSTS", server.where().name}});
    BOOST_TEST_CONTEXT(words[2] << ": " << result.out << result.err) {
      BOOST_TEST((std::chrono::steady_clock::now() - begin < 25s), "far more than any bound, for a loaded machine");
      BOOST_TEST(result.code == code);
      BOOST_TEST((result.out + result.err).find(why) != std::string::npos);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slow_suite, slow_case)

BOOST_AUTO_TEST_CASE(each_command_ends_within_its_timeout) {
  const std::map<std::string, std::string> reasons{
      {"", "gave no session within 1.0 s"},
      {most_of_acceptance, "gave no session within 1.0 s"},
      {start_of_answer, "gave a session, but no answer to all requests within 1.0 s"}};
  for (const auto& [text, why] : reasons) {
    check_end(text, {"status"}, 1, why);
    check_end(text, {"ls", "/"}, 1, why);
    check_end(text, {"check"}, 3, why);
    check_end(text, {"set", "/a", "--data", "x", "--rw"}, 1, why);
  }
}

BOOST_AUTO_TEST_CASE(a_lock_is_not_waited_for_without_end) {
  check_end(most_of_acceptance, {"lock", "--for", "2s", "/l", "--", "true"}, 125, "no session within 1.0 s");
  check_end(start_of_answer, {"lock", "--for", "2s", "/l", "--", "true"}, 124, "it was not free in time");
  check_end(start_of_answer, {"lock", "--try", "/l", "--", "true"}, 125, "reading the ACL of /l");
}

BOOST_AUTO_TEST_SUITE_END()
