// A session in the fake world, where the test decides each step.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "support/fake_world.hpp"
#include "support/recorded.hpp"

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
  /// Completion tokens: the operation returns its recorder; `begun` runs what is ready, too.
  recorded_on recorded() { return {io().get_executor()}; }
  recorded_on begun() {
    return {io().get_executor(), [this] { settle(); }};
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
  backend::request fail(errc why) { return answer_with({.error = why}); }
  /// The server throttles the oldest request.
  backend::request throttle() { return answer_with({.error = errc::server_error, .throttled = true}); }
  /// Answers the oldest request, a `getChildren`, with these names.
  void list(std::vector<std::string> names) {
    BOOST_TEST_REQUIRE(!last().pending.empty());
    BOOST_TEST_REQUIRE((last().pending.front().first.op == backend::opcode::children));
    answer_with({.children = std::move(names)});
  }

  session zk;
};

struct connected_session : fake_session {
  connected_session() { connect(); }
};

using strings = std::vector<std::string>;

#define CHECK_PENDING_OF(it, ...) BOOST_TEST((it).pending() == (strings{__VA_ARGS__}), boost::test_tools::per_element())
#define CHECK_PENDING(...) CHECK_PENDING_OF(*this, __VA_ARGS__)

}  // namespace zkrecipes::test
