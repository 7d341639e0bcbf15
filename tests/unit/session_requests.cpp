// Requests: their order, which are sent again and until when, and which error the user gets.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/barrier.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

session_options with_root() {
  auto options = fake_session::usual();
  options.hosts += "/outer";
  options.root = "/a/b";
  options.create_root = true;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(session_requests)

BOOST_FIXTURE_TEST_CASE(a_mode_without_a_name_and_an_acl_with_a_nul_byte_are_not_sent, fake_session) {
  connect();
  const auto seventh = static_cast<create_mode>(77);
  const acl cut{{perm_all, "digest", std::string("a\0b", 3)}};
  const auto is_refused = [this](auto operation) {
    auto created = record<created_node>();
    operation(created.token());
    settle();
    return created.done() && created.error() == errc::bad_arguments;
  };
  const auto commit_is_refused = [this](transaction all) {
    auto committed = record<std::vector<operation_result>>();
    zk.async_commit(std::move(all), committed.token());
    settle();
    return committed.done() && committed.error() == errc::bad_arguments;
  };
  BOOST_TEST(is_refused([&](auto token) { zk.async_create("/a", "", seventh, token); }));
  BOOST_TEST(is_refused([&](auto token) { zk.async_create_with_parents("/a", "", seventh, token); }));
  BOOST_TEST(is_refused([&](auto token) { zk.async_create("/a", "", create_mode::persistent, cut, token); }));
  BOOST_TEST(commit_is_refused(transaction().create("/a", "", static_cast<create_mode>(-1))));
  BOOST_TEST(commit_is_refused(transaction().create("/a", "", create_mode::persistent, cut)));
  auto changed = record<>();
  zk.async_set_acl("/a", cut, any_version, changed.token());
  settle();
  BOOST_TEST_REQUIRE(changed.done());
  BOOST_TEST((changed.error() == errc::bad_arguments));
  CHECK_PENDING();
}

BOOST_FIXTURE_TEST_CASE(a_sync_goes_ahead_of_all_that_waited_on_every_connection, fake_session) {
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  accept(0x77);
  CHECK_PENDING("sync /", "get /a");
  answer();
  lose();
  accept(0x77);
  CHECK_PENDING("multi /", "get /a");  // no sync: a deposed leader would answer one
}

BOOST_FIXTURE_TEST_CASE(a_server_that_refuses_to_catch_up_is_left, fake_session) {
  connect();
  lose();
  accept(0x77);
  const auto connections = state().connections.size();
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  fail(errc::server_error);
  BOOST_TEST((zk.status().state == session_state::suspended));
  BOOST_TEST(!reading.done());
  advance(1s);
  BOOST_TEST_REQUIRE(state().connections.size() > connections);
  accept(0x77);
  CHECK_PENDING("multi /", "get /a");
  answer();
  answer();
  BOOST_TEST(reading.done());
}

BOOST_FIXTURE_TEST_CASE(what_is_read_behind_a_refused_catch_up_is_not_believed, fake_session) {
  connect();
  barrier gate(zk, "/b");
  auto through = record<>();
  gate.async_wait(through.token());
  settle();
  CHECK_PENDING("multi /", "get /b");
  fail(errc::server_error);
  fail(errc::no_node);
  BOOST_TEST(!through.done());
  CHECK_PENDING();
  advance(100ms);
  CHECK_PENDING("multi /", "get /b");
  fail(errc::no_auth);  // this answer is a quorum's, too
  fail(errc::no_node);
  BOOST_TEST(through.done());
}

BOOST_AUTO_TEST_CASE(the_root_is_made_before_anything_is_done_below_it) {
  fake_session it(with_root());
  auto creating = it.record<created_node>();
  it.zk.async_create("/c", "", create_mode::persistent, creating.token());
  it.settle();
  it.accept(0x77);
  CHECK_PENDING_OF(it, "sync /", "create /outer", "create /outer/a", "create /outer/a/b", "create /outer/a/b/c");
  for (int i = 0; i < 4; ++i) it.answer();
  backend::reply made;
  made.path = "/outer/a/b/c";
  it.answer(made);
  BOOST_TEST_REQUIRE(creating.done());
  BOOST_TEST(creating.result<0>().path == "/c");
}

BOOST_AUTO_TEST_CASE(the_root_stands_in_front_of_every_path_of_a_transaction) {
  fake_session it(with_root());
  it.accept(0x77);
  for (int i = 0; i < 4; ++i) it.answer();
  auto committing = it.record<std::vector<operation_result>>();
  it.zk.async_commit(transaction().check("/").set("/x", ""), committing.token());
  it.settle();
  BOOST_TEST_REQUIRE(it.last().pending.size() == 1u);
  const auto& operations = it.last().pending.front().first.operations;
  BOOST_TEST(operations[0].path == "/outer/a/b");
  BOOST_TEST(operations[1].path == "/outer/a/b/x");
}

BOOST_FIXTURE_TEST_CASE(a_read_is_sent_again_after_a_lost_connection, fake_session) {
  connect();
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  reconnect();
  BOOST_TEST(!reading.done());
  backend::reply found;
  found.data = "x";
  answer(found);
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST(reading.result<0>().data == "x");
  BOOST_TEST(zk.counters().retries == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_write_in_flight_is_not_sent_again, fake_session) {
  connect();
  auto creating = record<created_node>();
  auto removing = record<>();
  auto setting = record<node_stat>();
  auto committing = record<std::vector<operation_result>>();
  zk.async_create("/a", "", create_mode::persistent, creating.token());
  zk.async_remove("/a", any_version, removing.token());
  zk.async_set("/a", "", 3, setting.token());
  zk.async_commit(transaction().remove("/a"), committing.token());
  settle();
  reconnect();
  BOOST_TEST(pending().empty());
  BOOST_TEST_REQUIRE((creating.done() && removing.done() && setting.done() && committing.done()));
  BOOST_TEST((creating.error() == errc::connection_loss));
  BOOST_TEST((removing.error() == errc::connection_loss));
  BOOST_TEST((setting.error() == errc::connection_loss));
  BOOST_TEST((committing.error() == errc::connection_loss));
}

// A throttled request was not executed, so even a write can be sent again.
BOOST_FIXTURE_TEST_CASE(what_the_server_is_too_busy_for_is_sent_again_with_growing_pauses, fake_session) {
  connect();
  auto setting = record<node_stat>();
  zk.async_set("/a", "x", 3, setting.token());
  settle();
  for (const auto pause : {50ms, 100ms, 200ms}) {
    CHECK_PENDING("set /a");
    throttle();
    advance(pause / 2 - 1ms);
    CHECK_PENDING();
    advance(pause + 1ms);
  }
  CHECK_PENDING("set /a");
  answer();
  BOOST_TEST_REQUIRE(setting.done());
  BOOST_TEST(!setting.error());
  BOOST_TEST(zk.counters().retries == 3u);
}

BOOST_FIXTURE_TEST_CASE(what_the_server_could_not_do_is_told_at_once, fake_session) {
  connect();
  auto setting = record<node_stat>();
  zk.async_set("/a", "x", 3, setting.token());
  settle();
  fail(errc::server_error);
  BOOST_TEST_REQUIRE(setting.done());
  BOOST_TEST((setting.error() == errc::server_error));
}

BOOST_AUTO_TEST_CASE(a_server_that_stays_too_busy_is_told_after_the_limit) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  it.connect();
  auto reading = it.record<node_data>();
  it.zk.async_get("/a", reading.token());
  it.settle();
  while (!reading.done() && it.now() < lease_clock::time_point(2h)) {
    BOOST_TEST_REQUIRE(!it.pending().empty());
    it.throttle();
    it.advance(3s);
  }
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST((reading.error() == errc::server_error));
}

BOOST_FIXTURE_TEST_CASE(a_wait_for_a_server_that_is_too_busy_can_be_cancelled_and_ends_with_the_session, fake_session) {
  connect();
  auto reading = record<node_data>();
  auto other = record<node_data>();
  zk.async_get("/a", reading.token());
  zk.async_get("/b", other.token());
  settle();
  throttle();
  throttle();
  reading.cancel();
  settle();
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST((reading.error() == asio::error::operation_aborted), reading.error().message());
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST_REQUIRE(other.done());
  BOOST_TEST((other.error() == errc::closed), other.error().message());
}

BOOST_FIXTURE_TEST_CASE(a_path_that_is_removed_while_it_is_made_is_made_again, fake_session) {
  connect();
  auto ensuring = record<>();
  zk.async_ensure_path("/a/b", ensuring.token());
  settle();
  answer();
  fail(errc::no_node);
  BOOST_TEST(!ensuring.done());
  advance(75ms);
  CHECK_PENDING("create /a", "create /a/b");
  answer();
  answer();
  BOOST_TEST_REQUIRE(ensuring.done());
  BOOST_TEST(!ensuring.error());
}

// The first node of the path belongs to somebody else, but we may create nodes in it.
BOOST_FIXTURE_TEST_CASE(nor_does_an_ancestor_that_we_may_not_make_keep_it_from_that, fake_session) {
  connect();
  auto ensuring = record<>();
  zk.async_ensure_path("/tenant/a/b", ensuring.token());
  settle();
  fail(errc::no_auth);
  fail(errc::node_exists);
  fail(errc::no_node);
  BOOST_TEST(!ensuring.done());
  advance(75ms);
  CHECK_PENDING("create /tenant", "create /tenant/a", "create /tenant/a/b");
  fail(errc::no_auth);
  fail(errc::no_node);  // now that first node is missing, which we may not create
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ensuring.done());
  BOOST_TEST((ensuring.error() == errc::no_auth));
}

// A mistyped root path would hold data where nobody looks for it. So `ensure_path` never creates it.
BOOST_FIXTURE_TEST_CASE(the_root_is_not_made_as_a_path, fake_session) {
  connect();
  auto ensuring = record<>();
  zk.async_ensure_path("/", ensuring.token());
  settle();
  CHECK_PENDING("exists /");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ensuring.done());
  BOOST_TEST((ensuring.error() == errc::no_node));
}

// One request may depend on what another has done, so all of them are sent again.
BOOST_FIXTURE_TEST_CASE(of_requests_that_belong_together_all_are_sent_again, fake_session) {
  connect();
  auto ensuring = record<>();
  zk.async_ensure_path("/a/b", ensuring.token());
  settle();
  CHECK_PENDING("create /a", "create /a/b");
  throttle();
  fail(errc::no_node);
  advance(75ms);
  CHECK_PENDING("create /a", "create /a/b");
  answer();
  answer();
  BOOST_TEST_REQUIRE(ensuring.done());
  BOOST_TEST(!ensuring.error());
}

BOOST_AUTO_TEST_SUITE_END()
