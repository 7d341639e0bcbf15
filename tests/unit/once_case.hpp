// A server with a clock for the fake session, and claims on it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/flow/once_per.hpp>

#include "once/once_per.hpp"
#include "session/paths.hpp"
#include "unit/fake_session.hpp"

namespace zkrecipes::test {

/// Persistent nodes, whose writes are stamped by a clock that the test sets.
class stamping_server {
 public:
  struct node {
    std::string data;
    std::int32_t version = 0;
    std::int64_t mtime = 0;
    std::int64_t czxid = 0;
  };

  backend::reply execute(const backend::request& what) {
    backend::reply reply;
    reply.path = what.path;
    reply.error = what.op == backend::opcode::create ? create(what) : change(what, reply);
    const auto there = nodes.find(what.path);
    if (!reply.error && there != nodes.end()) reply.stat = stat_of(there->second);
    return reply;
  }
  std::size_t below(const std::string& path) const {
    const auto prefix = path + "/";
    std::size_t count = 0;
    for (auto each = nodes.lower_bound(prefix); each != nodes.end() && each->first.starts_with(prefix); ++each) ++count;
    return count;
  }

  std::map<std::string, node> nodes;
  std::int64_t clock = 1'000'000'000'000;
  int writes = 0;

 private:
  error_code create(const backend::request& what) {
    const std::string parent(detail::parent_of(what.path));
    if (parent != "/" && !nodes.contains(parent)) return errc::no_node;
    if (nodes.contains(what.path)) return errc::node_exists;
    nodes[what.path] = {what.data, 0, clock, ++writes};
    return {};
  }
  error_code change(const backend::request& what, backend::reply& reply) {
    if (what.op == backend::opcode::multi) return errc::no_node;  // a catch-up
    const auto there = nodes.find(what.path);
    if (there == nodes.end()) return errc::no_node;
    auto& held = there->second;
    if (what.op == backend::opcode::get) reply.data = held.data;
    if (what.op == backend::opcode::children) reply.children = children(what.path);
    if (what.op == backend::opcode::set) {
      if (what.version != any_version && what.version != held.version) return errc::bad_version;
      held.data = what.data;
      held.mtime = clock;
      ++held.version;
      ++writes;
    }
    if (what.op == backend::opcode::remove) {
      if (below(what.path) > 0) return errc::not_empty;
      nodes.erase(there);
      ++writes;
    }
    return {};
  }
  std::vector<std::string> children(const std::string& path) const {
    std::vector<std::string> names;
    for (const auto& [name, held] : nodes) {
      if (detail::parent_of(name) == path) names.emplace_back(detail::name_of(name));
    }
    return names;
  }
  static node_stat stat_of(const node& of) {
    node_stat stat;
    stat.version = of.version;
    stat.mtime = of.mtime;
    stat.czxid = stat.mzxid = of.czxid;
    return stat;
  }
};

struct once_case : fake_session {
  using claim = recorder<once_intent>;
  static constexpr std::int64_t minute = 60'000;

  once_case() { connect(); }

  once_per make(std::string id, std::chrono::milliseconds keep = 1h) {
    return once_per(zk, "/once", {.id = std::move(id), .per = 1min, .keep = keep});
  }
  /// Answers everything that is pending, and what follows from that.
  void serve() {
    settle();
    while (!last().pending.empty()) serve_one();
  }
  backend::request serve_one() { return answer(server.execute(last().pending.front().first)); }
  /// The server executes the oldest requests, and the connection breaks before the answers.
  void lose_replies(std::size_t executed) {
    for (std::size_t i = 0; i < executed; ++i) server.execute(last().pending[i].first);
    reconnect();
  }
  claim& begin(once_per& by, const std::string& key = "smith", const std::string& note = "") {
    auto& mine = claims.emplace_back(io().get_executor());
    by.async_claim(key, note, mine.token());
    settle();
    return mine;
  }
  once_intent claim_by(once_per& by, const std::string& key = "smith", const std::string& note = "") {
    auto& mine = begin(by, key, note);
    serve();
    BOOST_TEST_REQUIRE(succeeded(mine));
    return mine.result<0>();
  }
  error_code refused(once_per& by, const std::string& key = "smith", const std::string& note = "") {
    auto& mine = begin(by, key, note);
    serve();
    BOOST_TEST_REQUIRE(mine.done());
    return mine.error();
  }
  error_code withdraw(once_per& by, const once_intent& what) {
    auto ended = by.async_withdraw(what, recorded());
    serve();
    BOOST_TEST_REQUIRE(ended.done());
    return ended.error();
  }
  std::int64_t period() const { return server.clock / minute; }
  std::string path_of(const std::string& key, std::int64_t number) const {
    return detail::once_place{"/once", 1min}.intent(number, key);
  }
  /// Moves all clocks on.
  void pass(std::chrono::milliseconds time) {
    server.clock += time.count();
    advance(time);
  }

  stamping_server server;
  std::deque<claim> claims;
};

}  // namespace zkrecipes::test
