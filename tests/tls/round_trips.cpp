// The round trips of operations are the same with TLS and without.
#include <map>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "ensemble/career.hpp"
#include "tls/captured_stream.hpp"
#include "tls/secure_server.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using counts = std::map<std::string, std::size_t>;

struct trips_case : secure_case {
  /// What a session with these options needs for each operation. `port` is one of the server.
  counts trips_of(session_options with, const std::string& port) {
    captured_stream wire(io, port);
    with.hosts = wire.address();
    with.timeout = 60s;  // no ping in between
    session zk(io.get_executor(), with);
    run(zk.async_ensure_path("/trips", tuple));
    counts seen;
    const auto count = [&](const std::string& name, auto&& operation) {
      run(zk.async_sync(tuple));  // an answer that is still on its way would make one round trip of two
      const auto before = wire.round_trips();
      operation();
      seen[name] = wire.round_trips() - before;
    };
    count("create", [&] { require(run(zk.async_create("/trips/n", "", create_mode::ephemeral, tuple))); });
    count("two at once", [&] { two_at_once(zk); });
    lock mutex(zk, "/trips/lock");
    ownership held;
    count("acquire", [&] {
      auto acquired = run(mutex.async_acquire(tuple));
      require(acquired);
      held = std::move(std::get<1>(acquired));
    });
    count("release", [&] { require(run(held.async_release(tuple))); });
    count_commit(zk, count);
    require(run(zk.async_close(tuple)));
    wire.stop();
    return seen;
  }

 private:
  template <class Result>
  static void require(const Result& result) {
    BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
  }
  void two_at_once(session& zk) {
    recorder<created_node> first(io.get_executor()), second(io.get_executor());
    zk.async_create("/trips/a", "", create_mode::ephemeral, first.token());
    zk.async_create("/trips/b", "", create_mode::ephemeral, second.token());
    BOOST_TEST_REQUIRE(run_until(io, [&] { return first.done() && second.done(); }));
  }
  template <class Count>
  void count_commit(session& zk, const Count& count) {
    floor_space floor;
    career does(floor);
    consumer_coordinator leader(zk, "/trips/election", {.id = "a"});
    recorder<> ended(io.get_executor());
    leader.async_run(does, ended.token());
    BOOST_TEST_REQUIRE(run_until(io, [&] { return does.has("execute " + std::to_string(epoch_ + 1)); }));
    ++epoch_;
    run(zk.async_sync(tuple));
    count("commit", [&] {
      require(run(does.terms.front().async_commit(transaction().create("/trips/c").remove("/trips/c"), tuple)));
    });
    leader.stop();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return ended.done(); }));
  }

  std::int64_t epoch_ = 0;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_costs, trips_case)

BOOST_AUTO_TEST_CASE(round_trips_are_those_of_plain_text) {
  auto secure = options();
  secure.tls->server_name = "localhost";
  auto plain = secure;
  plain.tls.reset();
  trips_of(plain, server.address);  // makes the paths, which costs round trips of its own
  const auto expected = trips_of(plain, server.address);
  const auto seen = trips_of(secure, server.secure);
  BOOST_TEST_REQUIRE(seen.size() == expected.size());
  for (const auto& [name, trips] : expected)
    BOOST_TEST(seen.at(name) == trips, name << ": " << seen.at(name) << ", without TLS " << trips);
  BOOST_TEST(expected.at("create") == 1u);
  BOOST_TEST(expected.at("commit") == 1u);
}

BOOST_AUTO_TEST_SUITE_END()
