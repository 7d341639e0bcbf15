// A fixture with holders and waiters of lines, for `zkadmin revoke` and `zkadmin evict`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/lock.hpp>

#include <testcluster/op_code.hpp>

#include "base/failure.hpp"
#include "change/intervention.hpp"
#include "live/admin_fixture.hpp"

class line_fixture : public admin_fixture {
 public:
  using words = std::vector<std::string>;

  words about(const char* command, const std::string& path, words more) const {
    more.insert(more.begin(), {command, root() + path});
    return more;
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  program_result revoke(const std::string& path, words more, const output_hook& told = {}) {
    return zkadmin(about("revoke", path, std::move(more)), {}, told);
  }
  program_result evict(const std::string& path, words more) { return zkadmin(about("evict", path, std::move(more))); }

  /// A node of another program in line; it belongs to no session.
  std::string put(const std::string& path, const std::string& name, const std::string& data = {}) {
    if (!contains(path)) create(path);
    create(path + "/" + name, data);
    return name;
  }
  void clear(const std::string& path) {
    const auto removed = run(zk().async_remove_with_children(path, zkrecipes::test::tuple));
    BOOST_TEST(!std::get<0>(removed), std::get<0>(removed).message());
  }

  /// The name of the node with this id.
  std::string node_of(const std::string& path, const std::string& id) {
    for (const auto& each : children(path)) {
      const auto data = get(path + "/" + each).data;
      if (data == id || data.find("\"id\":\"" + id + "\"") != std::string::npos) return each;
    }
    return {};
  }

  zkrecipes::ownership hold(const std::string& path, const std::string& id) {
    zkrecipes::lock line(zk(), path, {.id = id});
    auto held = run(line.async_acquire(zkrecipes::test::tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(held), std::get<0>(held).message());
    return std::move(std::get<1>(held));
  }
  /// Gets in line behind the others.
  zkrecipes::test::recorder<zkrecipes::ownership> wait_in_line(const std::string& path, const std::string& id) {
    const auto before = children(path).size();
    zkrecipes::test::recorder<zkrecipes::ownership> waiting(executor());
    zkrecipes::lock(zk(), path, {.id = id}).async_acquire(waiting.token());
    BOOST_TEST_REQUIRE(run_until([&] { return children(path).size() > before; }));
    return waiting;
  }

  static boost::asio::awaitable<bool> is_sent(zkrecipes::session over, zkadmin::intervention change) {
    co_await zkadmin::send(std::move(over), std::move(change));
    co_return true;
  }
  /// The message of the failure with which sending ends; empty: it was sent.
  std::string failure_of(zkadmin::intervention change) {
    try {
      run(is_sent(zk(), std::move(change)));
    } catch (const zkadmin::failure& error) {
      return error.what();
    }
    return {};
  }
};
