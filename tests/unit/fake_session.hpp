// A session in the fake world, where the test decides each step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "support/coroutine.hpp"
#include "support/fake_world.hpp"

namespace zkrecipes::test {

struct fake_session : fake_bench {
  explicit fake_session(session_options with = usual()) : zk(make_session(std::move(with))) { settle(); }

  static session_options usual() {
    session_options options;
    options.hosts = "127.0.0.1:1";
    options.log = nullptr;  // with one, the root is looked at
    return options;
  }

  /// Accepts the session, and answers the library's own first request.
  void connect(std::int64_t id = 0x77) {
    accept(id);
    answer();  // the `sync` of a new session, or the catch-up of one that is taken up again
  }
  /// Loses the connection, and accepts the next one.
  void reconnect(std::int64_t id = 0x77) {
    lose();
    connect(id);
  }
  /// The server has let the session expire; the next session is accepted.
  void expire(std::int64_t next = 0x88) {
    lose();
    lose(errc::session_expired);
    connect(next);
  }

  template <class... Results>
  recorder<Results...> record() {
    return recorder<Results...>(io().get_executor());
  }

  /// The requests without an answer, as "get /a". The removal of a watch is not among them: see `forgotten`. A
  /// heartbeat is "exists /", also one that probes a node.
  std::vector<std::string> pending() {
    std::vector<std::string> all;
    for (const auto& [what, handler] : last().pending) {
      const bool is_heartbeat = what.probes && what.op == backend::opcode::exists;
      all.push_back(std::string(to_string(what.op)) + ' ' + (is_heartbeat ? "/" : what.path));
    }
    return all;
  }
  /// The watches that were removed over the present connection since the last call, as "forget_data /a".
  std::vector<std::string> forgotten() { return std::exchange(last().forgotten, {}); }
  /// Answers the oldest request with an error.
  backend::request fail(errc why) {
    backend::reply reply;
    reply.error = why;
    return answer(std::move(reply));
  }
  /// The server throttles the oldest request.
  backend::request throttle() {
    backend::reply reply;
    reply.error = errc::server_error;
    reply.throttled = true;
    return answer(std::move(reply));
  }
  /// Answers the oldest request, a `getChildren`, with these names.
  void list(std::vector<std::string> names) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    BOOST_TEST_REQUIRE((last().pending.front().first.op == backend::opcode::children));
    backend::reply listed;
    listed.children = std::move(names);
    answer(std::move(listed));
  }

  session zk;
};

using strings = std::vector<std::string>;

#define CHECK_PENDING_OF(it, ...) BOOST_TEST((it).pending() == (strings{__VA_ARGS__}), boost::test_tools::per_element())
#define CHECK_PENDING(...) CHECK_PENDING_OF(*this, __VA_ARGS__)

}  // namespace zkrecipes::test
