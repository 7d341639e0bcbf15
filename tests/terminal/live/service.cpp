// `zkadmin service` against real servers, with registrations that live.
#include <zkrecipes/service_provider.hpp>

#include "change/node_change.hpp"
#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct service_fixture : line_fixture {
  service_fixture() {
    leaves("/s");
    leaves("/s/billing");
  }

  static service_instance described(const std::string& id) {
    return {.name = "billing", .id = id, .address = "10.0.0.7", .port = 8080};
  }
  service_registration enlist(const session& over, service_instance what) {
    service_discovery at(over, "/s");
    auto result = run(at.async_register(std::move(what), tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
    return std::move(std::get<1>(result));
  }
  void unregister(service_registration& which) { BOOST_TEST(!std::get<0>(run(which.async_unregister(tuple)))); }
  bool is_enabled(const std::string& id) { return parse_service_instance(get("/s/billing/" + id).data)->enabled; }

  program_result service(const char* what, const std::string& id, words more = {"--rw"}) {
    more.insert(more.begin(), {"service", what, root() + "/s/billing", id});
    return zkadmin(std::move(more));
  }
  void drain(const std::string& id) {
    const auto result = service("drain", id);
    BOOST_TEST(result.code == 0, result.err);
    BOOST_TEST(result.out == "drained " + root() + "/s/billing/" + id + "\n");
  }
  void undrain(const std::string& id) {
    const auto result = service("undrain", id);
    BOOST_TEST(result.code == 0, result.err);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(service_suite, service_fixture)

BOOST_AUTO_TEST_CASE(a_drained_instance_is_chosen_no_more_until_the_drain_ends) {
  auto one = enlist(zk(), described("1")), two = enlist(zk(), described("2"));
  const auto before = get("/s/billing/1");
  const auto shown = service("drain", "1", {});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(has(shown.out, "set " + root() + "/s/billing/1 version=0 data={"), shown.out);
  BOOST_TEST(has(shown.out, R"("enabled":false,"ownerEnabled":true})"), shown.out);
  BOOST_TEST(get("/s/billing/1").stat.mzxid == before.stat.mzxid);
  drain("1");
  service_provider provider(service_discovery(zk(), "/s"), "billing");
  BOOST_TEST(run_until([&] { return std::get<1>(run(provider.async_pick(tuple))).id == "2"; }));
  for (int i = 0; i < 4; ++i) BOOST_TEST(std::get<1>(run(provider.async_pick(tuple))).id == "2");
  BOOST_TEST(fails(service("drain", "1"), 1, "/s/billing/1 is drained already: nothing was sent"));
  undrain("1");
  BOOST_TEST(get("/s/billing/1").data == before.data);
  BOOST_TEST(run_until([&] { return std::get<1>(run(provider.async_pick(tuple))).id == "1"; }));
  BOOST_TEST(fails(service("undrain", "1"), 1, "is not drained by an operator"));
  unregister(one);
  unregister(two);
}

BOOST_AUTO_TEST_CASE(the_owner_keeps_the_mark_when_it_writes) {
  auto one = enlist(zk(), described("1"));
  drain("1");
  auto moved = described("1");
  moved.address = "10.0.0.8";
  BOOST_TEST(!std::get<0>(run(one.async_update(moved, tuple))));
  BOOST_TEST(parse_service_instance(get("/s/billing/1").data)->address == "10.0.0.8");
  BOOST_TEST(!is_enabled("1"));
  // What the owner itself says counts again at the end of the drain.
  BOOST_TEST(!std::get<0>(run(one.async_set_enabled(false, tuple))));
  undrain("1");
  BOOST_TEST(!is_enabled("1"));
  BOOST_TEST(!std::get<0>(run(one.async_set_enabled(true, tuple))));
  BOOST_TEST(is_enabled("1"));
  unregister(one);
}

BOOST_AUTO_TEST_CASE(the_owner_keeps_the_mark_when_it_registers_anew) {
  session owner = connect();
  auto one = enlist(owner, described("1"));
  drain("1");
  const auto marked = get("/s/billing/1");
  settle(owner);
  cluster().expire(owner.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return one.status().created == 2; }));
  BOOST_TEST(get("/s/billing/1").data == marked.data);
  BOOST_TEST(get("/s/billing/1").stat.czxid != marked.stat.czxid);
  remove("/s/billing/1");
  BOOST_TEST_REQUIRE(run_until([&] { return one.status().created == 3; }));
  BOOST_TEST(!is_enabled("1"));
  undrain("1");
  settle(owner);
  cluster().expire(owner.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return one.status().created == 4; }));
  BOOST_TEST(is_enabled("1"), "the end of the drain is kept as well");
  unregister(one);
}

BOOST_AUTO_TEST_CASE(a_static_instance_that_starts_again_is_still_drained) {
  auto fixed = described("1");
  fixed.type = service_type::static_node;
  session owner = connect();
  auto one = enlist(owner, fixed);
  drain("1");
  run(owner.async_close(tuple));
  auto again = enlist(zk(), fixed);
  BOOST_TEST(!is_enabled("1"));
  undrain("1");
  BOOST_TEST(is_enabled("1"));
  unregister(again);
}

BOOST_AUTO_TEST_CASE(what_is_no_instance) {
  auto one = enlist(zk(), described("1"));
  BOOST_TEST(fails(service("drain", "2"), 4, root() + "/s/billing has no instance 2\n"));
  create("/s/billing/notes", "any text");
  for (const char* what : {"drain", "undrain"}) {
    BOOST_TEST(fails(service(what, "notes"), 1, "/s/billing/notes is no instance of a service: nothing was sent"));
  }
  BOOST_TEST(get("/s/billing/notes").stat.version == 0);
  BOOST_TEST(service("drain", "a/b").code == 2);
  remove("/s/billing/notes");
  unregister(one);
}

BOOST_AUTO_TEST_CASE(an_instance_that_changes_meanwhile) {
  auto one = enlist(zk(), described("1"));
  auto change = run(zkadmin::prepare_instance_drain(zk(), "/s/billing", "1"));
  BOOST_TEST(!std::get<0>(run(one.async_set_enabled(false, tuple))));
  BOOST_TEST(failure_of(change) == "the instance has just been described anew: nothing was written, try again");
  change = run(zkadmin::prepare_instance_drain(zk(), "/s/billing", "1"));
  unregister(one);
  BOOST_TEST(failure_of(change) == "the instance has just been unregistered: nothing was written");
  auto two = enlist(zk(), described("1"));
  BOOST_TEST(failure_of(change) == "the instance has just been described anew: nothing was written, try again");
  unregister(two);
}

BOOST_AUTO_TEST_CASE(what_is_not_allowed_and_a_lost_answer) {
  auto one = enlist(zk(), described("1"));
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(fails(service("drain", "1", {"--rw", "--hosts", own().address()}), 1,
                   "/s/billing/1 holds what was to be written\n"));
  BOOST_TEST(!is_enabled("1"));
  const acl readable{{perm_read | perm_admin, "world", "anyone"}};
  forbid_writing("/s/billing/1", readable);
  BOOST_TEST(fails(service("undrain", "1"), 5, "sending the request: not allowed"));
  unregister(one);
}

BOOST_AUTO_TEST_SUITE_END()
