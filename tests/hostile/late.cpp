// Answers that come late because the own process has paused: the server is not to blame.
#include <functional>
#include <optional>
#include <thread>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/frame.hpp"
#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::test::frame;

namespace op = testcluster::op;

namespace {

constexpr std::int32_t session_timeout_ms = 900;
constexpr auto pause_length = 700ms;  // more than two thirds of it

/// The server's context runs while the session's does not: to the session that is a pause of its process.
struct late_case : lying_case {
  asio::io_context apart;
  bool has_spoken = false;
  bool may_answer = false;
  bool has_ended = false;

  asio::awaitable<void> until_it_may_answer() {
    asio::steady_timer nap(apart);
    while (!may_answer) {
      nap.expires_after(1ms);
      co_await nap.async_wait(asio::use_awaitable);
    }
  }

  /// Answers everything but the second read. For that it sends `first`, and the answer only when it may.
  asio::awaitable<void> serve(scripted_connection& client, std::string first) {
    co_await client.read_connect();
    const auto begin = granted(0x55, session_timeout_ms);
    co_await client.write(begin);
    auto asked = co_await client.read_request();
    for (int reads = 0;; asked = co_await client.read_request()) {
      reads += asked.op == op::get_data;
      if (reads == 2) break;
      co_await client.answer(asked.xid);
    }
    const auto answer = framed(head(asked.xid) + text("late") + stat());
    const bool is_half = first == "half";
    const auto before = is_half ? answer.substr(0, 30) : first;
    const auto rest = is_half ? answer.substr(30) : answer;
    co_await client.write(before);
    has_spoken = true;
    co_await until_it_may_answer();
    co_await client.write(rest);
    co_await answer_all(client);
  }

  bool run_both(const std::function<bool()>& condition, std::chrono::milliseconds limit = time_limit) {
    const auto step = [&] {
      if (apart.stopped()) apart.restart();
      apart.poll();
      return condition();
    };
    return run_until(io, step, limit);
  }

  /// `first` is what lies in the socket when the process goes on.
  void check_pause(const std::string& first) {
    scripted_server server(apart, [this, first](scripted_connection client) -> asio::awaitable<void> {
      ++connections;
      co_await serve(client, first);
    });
    auto options = options_for(server_address(server));
    options.timeout = std::chrono::milliseconds(session_timeout_ms);
    session zk(io.get_executor(), options);
    recorder<node_data> first_reading(io.get_executor()), reading(io.get_executor());
    zk.async_get("/a", first_reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return first_reading.done(); }));  // no other answer is on its way then
    zk.async_get("/a", reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return has_spoken; }));
    std::this_thread::sleep_for(pause_length);  // the pause is what is tested
    BOOST_TEST(!run_both([&] { return !lost->empty(); }, 100ms), "the server has had no time to answer");
    may_answer = true;
    BOOST_TEST_REQUIRE(run_both([&] { return reading.done(); }));
    BOOST_TEST(!reading.error(), reading.error().message());
    BOOST_TEST(reading.result<0>().data == "late");
    BOOST_TEST(connections == 1);
    recorder<> closing(io.get_executor());
    zk.async_close(closing.token());
    BOOST_TEST(run_both([&] { return closing.done(); }));
    server.stop();
    apart.poll();
  }

  /// The session is closed, and so many turns of the event loop later the server ends the connection.
  void check_reset(int turns) {
    scripted_server server(apart, [&](scripted_connection client) -> asio::awaitable<void> {
      co_await client.read_connect();
      co_await client.accept(0x55, session_timeout_ms);
      co_await client.await_input();
      has_spoken = true;
      co_await until_it_may_answer();
      client.end_sending();
      has_ended = true;
    });
    session zk(io.get_executor(), options_for(server_address(server)));
    recorder<node_data> reading(io.get_executor());
    zk.async_get("/a", reading.token());
    BOOST_TEST_REQUIRE(run_both([&] { return has_spoken; }));
    may_answer = true;
    recorder<> closing(io.get_executor());
    asio::post(io, [&] { zk.async_close(closing.token()); });
    const std::function<void()> next = [&] {
      if (turns-- > 0) return asio::post(io, next);
      const auto begin = std::chrono::steady_clock::now();
      while (!has_ended && std::chrono::steady_clock::now() - begin < time_limit) apart.poll();
      apart.poll();
    };
    asio::post(io, next);
    BOOST_TEST_REQUIRE(run_until(io, [&] { return has_ended && reading.done() && closing.done(); }));
    BOOST_TEST((reading.error() == errc::closed || reading.error() == errc::connection_loss),
               reading.error().message());
    server.stop();
    apart.poll();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(late, late_case)

BOOST_AUTO_TEST_CASE(behind_an_event) { check_pause(event(3, 3, "/other")); }
BOOST_AUTO_TEST_CASE(behind_a_ping) { check_pause(framed(head(-2))); }
BOOST_AUTO_TEST_CASE(in_two_parts) { check_pause("half"); }
BOOST_AUTO_TEST_CASE(behind_nothing) { check_pause(""); }

// A server that ends a connection with a request unread sends the end of its stream, and then a reset. A write behind
// both of them raises SIGPIPE. They come at each place between the call and the close request.
BOOST_AUTO_TEST_CASE(a_close_behind_a_reset) {
  for (int turns = 0; turns < 10; ++turns) {
    BOOST_TEST_CONTEXT(turns << " turns") {
      late_case each;
      each.check_reset(turns);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
