// The effects of a session on its process: no threads, no leaks, nothing that child processes inherit.
#include <fcntl.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/unit_test.hpp>

#include "session/core.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Descriptors of this process that are not in `before`.
std::vector<int> new_descriptors(const std::set<std::string>& before) {
  std::vector<int> added;
  for (const auto& each : open_descriptors()) {
    if (!before.contains(each)) added.push_back(std::stoi(each));
  }
  return added;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(process, fixture)

BOOST_AUTO_TEST_CASE(a_session_adds_no_thread_and_four_descriptors_that_children_do_not_inherit) {
  asio::steady_timer(io(), 0s).async_wait([](error_code) {});  // this opens the context's own descriptors
  const auto threads = thread_count();
  const auto before = open_descriptors();
  auto options = this->options();
  options.hosts = join_hosts(direct_hosts());  // not through a proxy, which has descriptors for every connection, too
  session one = connect(options);
  auto connected = run(one.async_connected(tuple));
  BOOST_TEST(!std::get<0>(connected));
  BOOST_TEST(thread_count() == threads);
  const auto added = new_descriptors(before);
  BOOST_TEST(added.size() == 4u, "the C client's socket, our duplicate, and a pair for frames that come in pieces");
  for (int each : added) BOOST_TEST((::fcntl(each, F_GETFD) & FD_CLOEXEC), "descriptor " << each);
}

BOOST_AUTO_TEST_CASE(a_hundred_connections_leave_no_descriptor) {
  session one = connect();
  for (int i = 0; i < 100; ++i) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(one.async_exists("/", tuple))));
    const int server = server_of(one);
    const auto changes = one.status().changes;
    cluster().proxy(server).cut();
    BOOST_TEST_REQUIRE(run_until([&] { return one.status().changes > changes; }));
  }
  BOOST_TEST(!std::get<0>(run(one.async_connected(tuple))));
  BOOST_TEST(one.status().incarnation == 1u);
}

BOOST_AUTO_TEST_CASE(names_are_resolved_by_asio) {
  const auto& direct = direct_hosts();
  auto options = this->options();
  options.hosts = "localhost:1,";  // this name resolves, and nobody listens there
  options.hosts += join_hosts(direct);
  session one = connect(options);
  BOOST_TEST(!std::get<0>(run(one.async_connected(tuple))));
  BOOST_TEST(server_at(one.status().server) > 0);
}

BOOST_AUTO_TEST_CASE(names_that_do_not_resolve_are_told_and_no_obstacle_to_closing) {
  auto options = this->options();
  options.hosts = "no-such-host.invalid:2181";
  session one = connect(options);
  session_status seen;
  while (seen.reason != errc::no_servers) {
    auto change = run(one.async_status_change(seen.changes, tuple));
    seen = std::get<1>(change);
  }
  BOOST_TEST((seen.state == session_state::connecting));
  auto closed = run(one.async_close(tuple), 10s);
  BOOST_TEST(!std::get<0>(closed));
}

BOOST_AUTO_TEST_SUITE_END()

// This case does not use the fixture: its checks need a context, which has ended here. The sanitizers' build looks for
// leaks.
BOOST_AUTO_TEST_SUITE(context_end)

BOOST_AUTO_TEST_CASE(a_context_can_end_with_everything_still_pending) {
  cluster();
  heal_proxies();
  const auto before = open_descriptors();
  std::weak_ptr<detail::core> real;
  {
    asio::io_context io;
    session_options options;
    options.hosts = proxy_hosts().front();
    session one(io.get_executor(), options);
    auto connected = run_coroutine(io, one.async_connected(tuple));
    BOOST_TEST(!std::get<0>(connected));
    cluster().proxy(1).freeze(true);
    auto reader = recorder<node_data>(io.get_executor());
    auto watcher = recorder<node_data>(io.get_executor());
    auto writer = recorder<node_stat>(io.get_executor());
    one.async_get("/", reader.token());
    one.async_data_change("/context-end", 0, watcher.token());
    one.async_set("/context-end", "", any_version, writer.token());
    run_until(io, [&] { return one.counters().requests >= 4; });
    real = one.get_core()->shared_from_this();
    BOOST_TEST(!reader.done());
  }
  heal_proxies();
  BOOST_TEST(real.expired(), "the session outlives its context");
  BOOST_TEST(wait_until([&] { return new_descriptors(before).empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()
