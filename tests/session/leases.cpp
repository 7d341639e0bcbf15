// The lease: a session is never believed in for longer than the servers keep it.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/election.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr auto timeout = 5s;  // a busy machine may keep this process from its heartbeats for some seconds

struct lease_case : fixture {
  session_options in(lease_mode mode, std::size_t server = 1) {
    auto with = options();
    with.hosts = proxy_hosts()[server - 1];
    with.lease = mode;
    with.timeout = timeout;
    return with;
  }

  /// The owner's belief must end before the server lets the next one in. The test itself sends nothing meanwhile.
  void ends_in_time(lease_mode mode) {
    create("/e");
    session first = connect(in(mode, 1));
    session second = connect(in(mode, 2));
    election holds(first, "/e", {.id = "holds"});
    election waits(second, "/e", {.id = "waits"});
    auto [error, held] = run(holds.async_campaign(tuple));
    BOOST_TEST_REQUIRE(!error);
    auto next = recorder<ownership>(executor());
    waits.async_campaign(next.token());
    BOOST_TEST(run_until([&] { return children("/e").size() == 2; }));

    // The session is idle for longer than its timeout, and heartbeats keep the lease.
    const auto grown = held.valid_until() + timeout;
    BOOST_TEST(run_until([&, &won = held] { return won.valid_until() > grown; }));
    BOOST_TEST(!held.error());

    cluster().proxy(1).freeze(true);
    BOOST_TEST(run_until([&] { return next.done(); }));
    BOOST_TEST(!next.error());
    BOOST_TEST((held.valid_until() < lease_clock::now()), "two believe at the same time");
    BOOST_TEST(bool(held.error()));
    heal_proxies();
    BOOST_TEST(!std::get<0>(run(next.result<0>().async_release(tuple))));
    BOOST_TEST(run_until([&] { return children("/e").empty(); }));
    remove("/e");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(leases, lease_case)

BOOST_AUTO_TEST_CASE(a_belief_ends_before_the_successors_begins) { ends_in_time(lease_mode::standard); }
BOOST_AUTO_TEST_CASE(so_does_a_strict_one) { ends_in_time(lease_mode::strict); }

BOOST_AUTO_TEST_CASE(a_lease_counts_from_the_question_not_from_the_answer) {
  session one = connect(in(lease_mode::standard));
  const int server = server_of(one);
  cluster().proxy(server).freeze(true);
  auto late = recorder<node_data>(executor());
  one.async_get("/", late.token());
  const auto asked = lease_clock::now();
  BOOST_TEST(run_until([&] { return lease_clock::now() > asked + 300ms; }));
  cluster().proxy(server).freeze(false);
  BOOST_TEST(run_until([&] { return late.done(); }));
  BOOST_TEST(!late.error());
  BOOST_TEST((one.valid_until() <= asked + timeout - timeout / 10 + 50ms), "timeout less a tenth");
}

BOOST_AUTO_TEST_CASE(in_strict_mode_heartbeats_prolong_the_lease) {
  session one = connect(in(lease_mode::strict));
  BOOST_TEST(!std::get<0>(run(one.async_sync(tuple))));
  const auto before = one.valid_until();
  const auto beats = one.counters().heartbeats;
  BOOST_TEST(run_until([&] { return one.valid_until() > before; }));
  BOOST_TEST(one.counters().heartbeats > beats);
}

BOOST_AUTO_TEST_SUITE_END()
