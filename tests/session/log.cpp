// A program that has no session, or none that is of use, is told the reason by the log hook alone.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/log.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct log_case : fixture {
  struct noted {
    session_event event;
    std::string server;
    std::string operation;
    std::string path;
    error_code error;
  };
  using notes_ptr = std::shared_ptr<std::vector<noted>>;
  notes_ptr notes = std::make_shared<std::vector<noted>>();

  /// Options of a session at the first proxy alone, which tells this case everything.
  session_options logged() {
    auto with = options();
    with.hosts = proxy_hosts().front();
    with.log = [into = notes](const log_event& each) {
      into->push_back(
          {each.event, std::string(each.server), std::string(each.operation), std::string(each.path), each.error});
    };
    return with;
  }

  std::size_t count(session_event event) {
    return static_cast<std::size_t>(std::ranges::count(*notes, event, &noted::event));
  }
  /// Waits for an event of this kind, and returns the first one.
  noted wait_for(session_event event) {
    const bool is_told = run_until([&] { return count(event) > 0; });
    BOOST_TEST_REQUIRE(is_told, to_string(event));
    return *std::ranges::find(*notes, event, &noted::event);
  }

  session_options as(const std::string& password) {
    auto with = logged();
    with.digest.push_back({"owner", password});
    with.default_acl = creator_acl();
    return with;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(logs, log_case)

BOOST_AUTO_TEST_CASE(a_refused_port) {
  cluster().proxy(1).refuse(true);
  session one(executor(), logged());
  const auto told = wait_for(session_event::connect_failed);
  BOOST_TEST(told.server == proxy_hosts().front());
  BOOST_TEST((told.error == boost::system::errc::connection_refused), told.error.message());
  BOOST_TEST((one.status().failures.at(0).reason == failure_reason::refused));
  cluster().proxy(1).refuse(false);
  BOOST_TEST(!std::get<0>(run(one.async_connected(tuple))));
  BOOST_TEST(run_until([&] { return one.status().failures.empty(); }));
}

BOOST_AUTO_TEST_CASE(a_server_that_accepts_and_never_answers) {
  cluster().proxy(1).freeze(true);
  auto with = logged();
  with.connect_timeout = 3s;
  session one(executor(), with);
  BOOST_TEST(wait_for(session_event::waiting_for_answer).server == proxy_hosts().front());
  BOOST_TEST(count(session_event::connect_failed) == 0u, "it is told before the connect timeout");
  BOOST_TEST((wait_for(session_event::connect_failed).error == errc::timed_out));
  BOOST_TEST((one.status().failures.at(0).reason == failure_reason::silent));
}

BOOST_AUTO_TEST_CASE(a_session_timeout_shorter_than_the_connect_timeout_is_silence_too) {
  cluster().proxy(1).freeze(true);
  auto with = logged();
  with.timeout = 300ms;
  with.connect_timeout = 30s;
  session one(executor(), with);
  BOOST_TEST((wait_for(session_event::connect_failed).error == errc::timed_out));
}

BOOST_AUTO_TEST_CASE(a_wrong_digest) {
  session owner = connect(as("right"));
  must(run(owner.async_create("/closed", "", create_mode::persistent, tuple)));
  auto with = as("wrong");
  with.root += "/closed";
  with.create_root = false;
  notes->clear();
  session other = connect(with);
  const auto told = wait_for(session_event::root_closed);
  BOOST_TEST(told.path == root() + "/closed");
  BOOST_TEST((told.error == errc::no_auth));
  BOOST_TEST(std::get<0>(run(other.async_get("/", tuple))) == errc::no_auth);
  const auto failed = wait_for(session_event::operation_failed);
  BOOST_TEST(failed.operation == "get");
  BOOST_TEST(failed.path == root() + "/closed");
  notes->clear();
  with.digest.front().password = "right";
  session again = connect(with);
  BOOST_TEST(!std::get<0>(run(again.async_get("/", tuple))));
  BOOST_TEST(count(session_event::root_closed) == 0u);
  BOOST_TEST(!std::get<0>(run(owner.async_remove("/closed", any_version, tuple))));
}

BOOST_AUTO_TEST_CASE(a_root_that_does_not_exist) {
  auto with = logged();
  with.root = "/no/such/root";
  with.create_root = false;
  session one = connect(with);
  const auto told = wait_for(session_event::root_missing);
  BOOST_TEST(told.path == "/no/such/root");
  BOOST_TEST((told.error == errc::no_node));
}

BOOST_AUTO_TEST_CASE(a_root_that_the_session_creates_is_not_missing) {
  session one = connect(logged());
  BOOST_TEST(!std::get<0>(run(one.async_exists("/", tuple))));
  BOOST_TEST(count(session_event::root_missing) == 0u);
  BOOST_TEST(count(session_event::incarnation_begun) == 1u);
}

BOOST_AUTO_TEST_CASE(a_name_that_does_not_resolve) {
  auto with = logged();
  with.hosts = "no-such-host.invalid:2181";
  session one(executor(), with);
  BOOST_TEST(wait_for(session_event::name_not_resolved).server == "no-such-host.invalid:2181");
  BOOST_TEST((one.status().failures.at(0).reason == failure_reason::unresolved));
}

BOOST_AUTO_TEST_CASE(a_session_that_expires_and_ends) {
  session one = connect(logged());
  BOOST_TEST_REQUIRE(!std::get<0>(run(one.async_connected(tuple))));
  cluster().expire(one.status().session_id);
  BOOST_TEST((wait_for(session_event::incarnation_ended).error == errc::session_expired));
  BOOST_TEST(count(session_event::connection_lost) == 1u);
  BOOST_TEST(run_until([&] { return count(session_event::incarnation_begun) == 2; }));
  BOOST_TEST(!std::get<0>(run(one.async_close(tuple))));
  BOOST_TEST((wait_for(session_event::closed).error == errc::closed));
}

BOOST_AUTO_TEST_CASE(to_wait_for_a_connection_can_have_a_limit) {
  cluster().proxy(1).refuse(true);
  session one(executor(), logged());
  BOOST_TEST(std::get<0>(run(one.async_connected_for(200ms, tuple))) == errc::timed_out);
  cluster().proxy(1).refuse(false);
  BOOST_TEST(!std::get<0>(run(one.async_connected_for(time_limit, tuple))));
}

BOOST_AUTO_TEST_SUITE_END()
