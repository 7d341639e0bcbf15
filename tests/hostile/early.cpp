// Servers that speak before they are asked. The C client would take what it reads then for an answer, and abort.
#include <limits>
#include <thread>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include <testcluster/op_code.hpp>

#include "hostile/frame.hpp"
#include "hostile/lying_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::test::frame;

namespace {

struct early_case : lying_case {
  const std::string acceptance = granted(0x55, 5000);

  /// Sends `before` as soon as there is a connection, and `after` when the session has been asked for.
  static script speaking(std::string before, std::string after) {
    return [before, after](scripted_connection& client) -> asio::awaitable<void> {
      co_await client.write(before);
      co_await client.read_connect();
      co_await client.write(after);
      co_await answer_all(client);
    };
  }
  void check_early_lie(const char* name, const std::string& before, const std::string& after = {}) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.check_breach(speaking(before, after));
    }
  }
  void check_early(const char* name, const std::string& before, const std::string& after = {}) {
    BOOST_TEST_CONTEXT(name) {
      lying_case server;
      server.read_behind(speaking(before, after));
      BOOST_TEST(server.connections == 1);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(early, early_case)

BOOST_AUTO_TEST_CASE(whole_frames_that_are_no_acceptance) {
  check_early_lie("an answer", framed(head(1) + text("") + stat()));
  check_early_lie("a ping", framed(head(-2)));
  check_early_lie("an answer to credentials", framed(head(-4)));
  check_early_lie("credentials refused", framed(head(-4, -115)));
  check_early_lie("an event", event(3, 3, "/a"));
  check_early_lie("an event as long as an acceptance", event(3, 3, "/12345678"));
  check_early_lie("a negative length", int32(-1));
  check_early_lie("a huge length", int32(std::numeric_limits<std::int32_t>::max()));
}

BOOST_AUTO_TEST_CASE(parts_of_frames_that_are_no_acceptance) {
  const auto ping = framed(head(-2)), like = event(3, 3, "/12345678");
  check_early_lie("a half length", ping.substr(0, 2), ping.substr(2));
  check_early_lie("a length", ping.substr(0, 4), ping.substr(4));
  check_early_lie("half of a frame as long as an acceptance", like.substr(0, 20), like.substr(20));
  check_early_lie("all but a byte", like.substr(0, like.size() - 1), like.substr(like.size() - 1));
}

BOOST_AUTO_TEST_CASE(an_acceptance_and_a_lie_behind_it) {
  const auto answer = framed(head(1) + text("") + stat());
  check_early_lie("an answer to nothing", acceptance + answer);
  check_early_lie("the start of one", acceptance + answer.substr(0, 9), answer.substr(9));
  check_early_lie("another acceptance", acceptance + acceptance);
  check_early_lie("credentials that we have not", acceptance + framed(head(-4, -115)));
}

// It is the one that would be sent when the session has been asked for.
BOOST_AUTO_TEST_CASE(an_acceptance_does_no_harm) {
  check_early("whole", acceptance);
  for (const std::size_t part : {1, 4, 20, 40}) {
    check_early(std::to_string(part).c_str(), acceptance.substr(0, part), acceptance.substr(part));
  }
  check_early("with a ping behind it", acceptance + framed(head(-2)));
  check_early("with an event behind it", acceptance + event(3, 3, "/a"));
}

// The own process pauses at each step of the connect for longer than the C client waits, and the server speaks
// meanwhile.
BOOST_AUTO_TEST_CASE(while_the_own_process_pauses) {
  for (int steps = 0; steps < 12; ++steps) {
    asio::io_context apart;  // the server's: it runs while the session's does not
    int spoken = 0;
    scripted_server server(apart, [&](scripted_connection client) -> asio::awaitable<void> {
      const bool is_first = ++spoken == 1;
      const auto begin = is_first ? framed(head(1) + text("")) : std::string();
      co_await client.write(begin);
      co_await behave(client);
    });
    auto options = options_for(server_address(server));
    options.timeout = 300ms;
    session zk(io.get_executor(), options);
    for (int i = 0; i < steps; ++i) io.poll_one();
    run_until(
        apart, [&] { return spoken > 0; }, 20ms);  // if there is a connection yet
    std::this_thread::sleep_for(250ms);            // the pause is what is tested
    BOOST_TEST_REQUIRE(run_until(io, [&] {
      apart.restart();
      apart.poll();
      return zk.status().state == session_state::connected;
    }));
    BOOST_TEST(spoken > 1, "the first connection was of no use");
    server.stop();
    apart.poll();
  }
}

BOOST_AUTO_TEST_SUITE_END()
