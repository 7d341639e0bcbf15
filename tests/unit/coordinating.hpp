// Careers, and a coordinator that leads, in the fake world.
#pragma once

#include <string>
#include <utility>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "unit/fake_session.hpp"

namespace zkrecipes::test {

struct quiet_career : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term) override { co_return; }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

struct copying : queue_consumer {
  using queue_consumer::queue_consumer;
  asio::awaitable<message_outcome> process(term, const message& item) override {
    co_return transaction().set("/result", item.data);
  }
};

/// A coordinator that is alone in line, and a queue with one message.
struct working : fake_session {
  explicit working(session_options options = usual())
      : fake_session(std::move(options)), career(queue(zk, "/q")), coordinator(zk, "/e", {"me"}), running(record<>()) {
    connect();
    coordinator.async_run(career, running.token());
    settle();
  }

  std::string next_request() { return last().pending.empty() ? "" : pending().front(); }
  /// Answers requests until the next one is this, or nothing is pending.
  void serve_until(const std::string& asked) {
    while (!last().pending.empty() && next_request() != asked) serve();
  }
  /// Refuses this request. It must be sent again, after a pause.
  void refuse(const std::string& asked) {
    serve_until(asked);
    BOOST_TEST_REQUIRE(next_request() == asked);
    fail(errc::server_error);
    settle();
    serve_until(asked);
    BOOST_TEST(next_request() == "", "not at once");
    advance(1s);
    serve_until(asked);
    BOOST_TEST(next_request() == asked);
    BOOST_TEST(!running.done());
  }

  void serve() {
    const auto asked = last().pending.front().first;
    backend::reply reply;
    if (asked.op == backend::opcode::create) {
      ++entries;
      own = asked.path.substr(3) + "0000000007";
      reply.path = "/e/" + own;
      reply.stat.ephemeral_owner = 0x77;
    } else if (asked.op == backend::opcode::children) {
      reply.children = {asked.path == "/e" ? own : item};
    } else if (asked.op == backend::opcode::multi) {
      reply.results.resize(asked.operations.size());
    } else if (asked.path == "/e") {
      reply.data = data;
    }
    answer(std::move(reply));
  }

  const std::string item = "qn-0000000001";
  std::string own;
  std::string data;  ///< The data of the election node.
  int entries = 0;
  copying career;
  consumer_coordinator coordinator;
  recorder<> running;
};

}  // namespace zkrecipes::test
