// A process that registers again while the node of its former life still stands, and one that describes itself anew.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/service_discovery.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct registering : fake_session {
  registering() : services(zk, "/s"), registered(record<service_registration>()) {
    connect();
    services.async_register(instance(80), registered.token());
    settle();
  }
  static service_instance instance(std::int32_t port) {
    return {.name = "b", .id = "1", .address = "here", .port = port};
  }
  /// The node that is to be made stands already: an instance at this port, of another session.
  void meet(std::int32_t port) {
    CHECK_PENDING("create /s/b/1", "get /s/b/1");
    fail(errc::node_exists);
    backend::reply there;
    there.data = *to_json(instance(port));
    there.stat.ephemeral_owner = 0x66;
    answer(there);
  }
  void live(std::chrono::nanoseconds span) {
    for (const auto until = now() + span; now() < until;) {
      advance(1s);
      while (!pending().empty() && pending().front() == "exists /") answer();
    }
  }

  service_discovery services;
  recorder<service_registration> registered;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registrations, registering)

BOOST_AUTO_TEST_CASE(who_comes_again_waits_for_the_end_of_its_former_session) {
  meet(80);
  live(19s);
  BOOST_TEST(!registered.done());
  fire(backend::change::deleted, "/s/b/1");
  CHECK_PENDING("create /s/b/1", "get /s/b/1");
  backend::reply made;
  made.stat.czxid = 5;
  answer(made);
  made.stat.ephemeral_owner = 0x77;
  answer(made);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST(!registered.error());
}

BOOST_AUTO_TEST_CASE(but_not_for_ever) {
  meet(80);
  live(19s);
  BOOST_TEST(!registered.done());
  live(1s);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST((registered.error() == errc::busy));
}

BOOST_AUTO_TEST_CASE(nor_for_a_namesake_at_another_address) {
  meet(81);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST((registered.error() == errc::busy));
}

BOOST_AUTO_TEST_CASE(nor_for_one_that_has_come_meanwhile) {
  meet(80);
  fire(backend::change::deleted, "/s/b/1");
  meet(81);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST((registered.error() == errc::busy));
}

BOOST_AUTO_TEST_CASE(an_update_keeps_the_id_and_the_time_of_registration) {
  CHECK_PENDING("create /s/b/1", "get /s/b/1");
  backend::reply made;
  made.stat.czxid = 5;
  const auto first = parse_service_instance(answer(made).data);
  made.stat.ephemeral_owner = 0x77;
  made.data = *to_json(*first);
  answer(made);
  BOOST_TEST_REQUIRE(registered.done());
  BOOST_TEST(first->registration_time > 0);
  auto updated = record<>();
  registered.result<0>().async_update({.name = "b", .address = "here", .port = 81}, updated.token());
  settle();
  CHECK_PENDING("multi /", "get /s/b/1");
  answer();
  answer(made);
  CHECK_PENDING("set /s/b/1");
  auto expected = *first;
  expected.port = 81;
  BOOST_TEST((parse_service_instance(answer(made).data) == expected));
  BOOST_TEST_REQUIRE(updated.done());
  BOOST_TEST(!updated.error());
}

BOOST_AUTO_TEST_CASE(a_refusal_names_the_field) {
  const auto why_not = [this](service_instance what) {
    auto refused = record<service_registration>();
    services.async_register(std::move(what), refused.token());
    settle();
    BOOST_TEST_REQUIRE(refused.done());
    BOOST_TEST((refused.error() == errc::bad_arguments), refused.error().message());
    return refused.error().message();
  };
  BOOST_TEST(why_not({.name = "b", .id = "../x"}) == "service_instance::id can not be a node's name");
  BOOST_TEST(why_not({.name = "a/b", .id = "1"}) == "service_instance::name can not be a node's name");
  BOOST_TEST(why_not({.name = "b", .id = "1", .type = service_type::permanent}) ==
             "service_instance::type is neither dynamic nor static_node");
  BOOST_TEST(why_not({.name = "b", .id = "1", .payload = "{"}) ==
             "service_instance: a text is not UTF-8, or payload or uri_spec not JSON");
}

BOOST_AUTO_TEST_SUITE_END()
