// Requests: their order, which are sent again and until when, and which error the user gets; transactions.
// Requests: how long they wait for a connection, and how they end without an answer.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/transaction.hpp>

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

BOOST_FIXTURE_TEST_CASE(a_mode_without_a_name_and_an_acl_with_a_nul_byte_are_not_sent, connected_session) {
  const auto seventh = static_cast<create_mode>(77);
  const acl cut{{perm_all, "digest", std::string("a\0b", 3)}};
  const auto is_refused = [this](auto operation) {
    auto created = record<created_node>();
    operation(created.token());
    settle();
    return created.done() && created.error() == errc::bad_arguments;
  };
  const auto commit_is_refused = [this](transaction all) {
    auto committed = zk.async_commit(std::move(all), begun());
    return committed.done() && committed.error() == errc::bad_arguments;
  };
  BOOST_TEST(is_refused([&](auto token) { zk.async_create("/a", "", seventh, token); }));
  BOOST_TEST(is_refused([&](auto token) { zk.async_create_with_parents("/a", "", seventh, token); }));
  BOOST_TEST(is_refused([&](auto token) { zk.async_create("/a", "", create_mode::persistent, cut, token); }));
  BOOST_TEST(commit_is_refused(transaction().create("/a", "", static_cast<create_mode>(-1))));
  BOOST_TEST(commit_is_refused(transaction().create("/a", "", create_mode::persistent, cut)));
  auto changed = zk.async_set_acl("/a", cut, any_version, begun());
  BOOST_TEST_REQUIRE(ended_with(changed, errc::bad_arguments));
  CHECK_PENDING();
}

BOOST_FIXTURE_TEST_CASE(a_sync_goes_ahead_of_all_that_waited_on_every_connection, fake_session) {
  auto reading = zk.async_get("/a", begun());
  accept(0x77);
  CHECK_PENDING("sync /", "get /a");
  answer();
  lose();
  accept(0x77);
  CHECK_PENDING("multi /", "get /a");  // no sync: a deposed leader would answer one
}

BOOST_FIXTURE_TEST_CASE(a_server_that_refuses_to_catch_up_is_left, connected_session) {
  lose();
  accept(0x77);
  const auto connections = state().connections.size();
  auto reading = zk.async_get("/a", begun());
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

BOOST_FIXTURE_TEST_CASE(what_is_read_behind_a_refused_catch_up_is_not_believed, connected_session) {
  barrier gate(zk, "/b");
  auto through = gate.async_wait(begun());
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
  auto creating = it.zk.async_create("/c", "", create_mode::persistent, it.begun());
  it.accept(0x77);
  CHECK_PENDING_OF(it, "sync /", "create /outer", "create /outer/a", "create /outer/a/b", "create /outer/a/b/c");
  for (int i = 0; i < 4; ++i) it.answer();
  it.answer_with({.path = "/outer/a/b/c"});
  BOOST_TEST_REQUIRE(creating.done());
  BOOST_TEST(creating.result<0>().path == "/c");
}

BOOST_AUTO_TEST_CASE(the_root_stands_in_front_of_every_path_of_a_transaction) {
  fake_session it(with_root());
  it.accept(0x77);
  for (int i = 0; i < 4; ++i) it.answer();
  auto committing = it.zk.async_commit(transaction().check("/").set("/x", ""), it.begun());
  BOOST_TEST_REQUIRE(it.last().pending.size() == 1u);
  const auto& operations = it.last().pending.front().first.operations;
  BOOST_TEST(operations[0].path == "/outer/a/b");
  BOOST_TEST(operations[1].path == "/outer/a/b/x");
}

BOOST_FIXTURE_TEST_CASE(a_read_is_sent_again_after_a_lost_connection, connected_session) {
  auto reading = zk.async_get("/a", begun());
  reconnect();
  BOOST_TEST(!reading.done());
  answer_with({.data = "x"});
  BOOST_TEST_REQUIRE(reading.done());
  BOOST_TEST(reading.result<0>().data == "x");
  BOOST_TEST(zk.counters().retries == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_write_in_flight_is_not_sent_again, connected_session) {
  auto creating = zk.async_create("/a", "", create_mode::persistent, recorded());
  auto removing = zk.async_remove("/a", any_version, recorded());
  auto setting = zk.async_set("/a", "", 3, recorded());
  auto committing = zk.async_commit(transaction().remove("/a"), begun());
  reconnect();
  BOOST_TEST(pending().empty());
  BOOST_TEST_REQUIRE((creating.done() && removing.done() && setting.done() && committing.done()));
  BOOST_TEST((creating.error() == errc::connection_loss));
  BOOST_TEST((removing.error() == errc::connection_loss));
  BOOST_TEST((setting.error() == errc::connection_loss));
  BOOST_TEST((committing.error() == errc::connection_loss));
}

// A throttled request was not executed, so even a write can be sent again.
BOOST_FIXTURE_TEST_CASE(what_the_server_is_too_busy_for_is_sent_again_with_growing_pauses, connected_session) {
  auto setting = zk.async_set("/a", "x", 3, begun());
  for (const auto pause : {50ms, 100ms, 200ms}) {
    CHECK_PENDING("set /a");
    throttle();
    advance(pause / 2 - 1ms);
    CHECK_PENDING();
    advance(pause + 1ms);
  }
  CHECK_PENDING("set /a");
  answer();
  BOOST_TEST_REQUIRE(succeeded(setting));
  BOOST_TEST(zk.counters().retries == 3u);
}

BOOST_FIXTURE_TEST_CASE(what_the_server_could_not_do_is_told_at_once, connected_session) {
  auto setting = zk.async_set("/a", "x", 3, begun());
  fail(errc::server_error);
  BOOST_TEST_REQUIRE(ended_with(setting, errc::server_error));
}

BOOST_AUTO_TEST_CASE(a_server_that_stays_too_busy_is_told_after_the_limit) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  it.connect();
  auto reading = it.zk.async_get("/a", it.begun());
  while (!reading.done() && it.now() < lease_clock::time_point(2h)) {
    BOOST_TEST_REQUIRE(!it.pending().empty());
    it.throttle();
    it.advance(3s);
  }
  BOOST_TEST_REQUIRE(ended_with(reading, errc::server_error));
}

BOOST_FIXTURE_TEST_CASE(a_wait_for_a_server_that_is_too_busy_can_be_cancelled_and_ends_with_the_session,
                        connected_session) {
  auto reading = zk.async_get("/a", recorded());
  auto other = zk.async_get("/b", begun());
  throttle();
  throttle();
  reading.cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(reading, asio::error::operation_aborted));
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST_REQUIRE(ended_with(other, errc::closed));
}

BOOST_FIXTURE_TEST_CASE(a_path_that_is_removed_while_it_is_made_is_made_again, connected_session) {
  auto ensuring = zk.async_ensure_path("/a/b", begun());
  answer();
  fail(errc::no_node);
  BOOST_TEST(!ensuring.done());
  advance(75ms);
  CHECK_PENDING("create /a", "create /a/b");
  answer();
  answer();
  BOOST_TEST_REQUIRE(succeeded(ensuring));
}

// The first node of the path belongs to somebody else, but we may create nodes in it.
BOOST_FIXTURE_TEST_CASE(nor_does_an_ancestor_that_we_may_not_make_keep_it_from_that, connected_session) {
  auto ensuring = zk.async_ensure_path("/tenant/a/b", begun());
  fail(errc::no_auth);
  fail(errc::node_exists);
  fail(errc::no_node);
  BOOST_TEST(!ensuring.done());
  advance(75ms);
  CHECK_PENDING("create /tenant", "create /tenant/a", "create /tenant/a/b");
  fail(errc::no_auth);
  fail(errc::no_node);  // now that first node is missing, which we may not create
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(ensuring, errc::no_auth));
}

// A mistyped root path would hold data where nobody looks for it. So `ensure_path` never creates it.
BOOST_FIXTURE_TEST_CASE(the_root_is_not_made_as_a_path, connected_session) {
  auto ensuring = zk.async_ensure_path("/", begun());
  CHECK_PENDING("exists /");
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(ensuring, errc::no_node));
}

// One request may depend on what another has done, so all of them are sent again.
BOOST_FIXTURE_TEST_CASE(of_requests_that_belong_together_all_are_sent_again, connected_session) {
  auto ensuring = zk.async_ensure_path("/a/b", begun());
  CHECK_PENDING("create /a", "create /a/b");
  throttle();
  fail(errc::no_node);
  advance(75ms);
  CHECK_PENDING("create /a", "create /a/b");
  answer();
  answer();
  BOOST_TEST_REQUIRE(succeeded(ensuring));
}

BOOST_FIXTURE_TEST_CASE(a_write_waits_for_a_connection_to_be_sent_first, fake_session) {
  auto removing = zk.async_remove("/a", any_version, begun());
  connect();
  answer();
  BOOST_TEST_REQUIRE(succeeded(removing));
}

BOOST_AUTO_TEST_CASE(an_operation_waits_for_a_connection_up_to_the_limit) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  auto reading = it.zk.async_get("/a", it.recorded());
  auto ensuring = it.zk.async_ensure_path("/a/b", it.recorded());
  it.advance(7s - 1ms);
  BOOST_TEST(!reading.done());
  BOOST_TEST(!ensuring.done());
  it.advance(1ms);
  BOOST_TEST_REQUIRE((reading.done() && ensuring.done()));
  BOOST_TEST((reading.error() == errc::connection_loss));
  BOOST_TEST((ensuring.error() == errc::connection_loss));
}

BOOST_AUTO_TEST_CASE(a_loss_says_whether_anything_was_sent) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  const auto says = [](const auto& ended, std::string_view words) {
    BOOST_TEST_REQUIRE(ended_with(ended, errc::connection_loss));
    BOOST_TEST((ended.error().message().find(words) != std::string::npos), ended.error().message());
  };
  lock first(it.zk, "/l");
  auto writing = it.zk.async_set("/a", "x", any_version, it.recorded());
  auto acquiring = first.async_acquire(it.recorded());
  it.advance(8s);
  says(writing, "nothing was sent");
  says(acquiring, "nothing was sent");
  it.connect();
  auto reading = it.zk.async_get("/a", it.recorded());
  auto in_flight = it.zk.async_set("/a", "x", any_version, it.begun());
  it.lose();
  says(in_flight, "may have happened");
  it.advance(8s);
  says(reading, "the connection to the server was lost");
  lock second(it.zk, "/m");
  it.connect();
  auto late = second.async_acquire(it.begun());
  it.lose();
  it.advance(8s);
  says(late, "may have happened");
}

BOOST_AUTO_TEST_CASE(without_a_limit_it_waits_for_as_long_as_the_session_lives) {
  auto options = fake_session::usual();
  options.retry.limit = 0ms;
  fake_session it(options);
  auto reading = it.zk.async_get("/a", it.recorded());
  it.advance(10min);
  BOOST_TEST(!reading.done());
}

// Each connection answers the sync and then breaks. No single wait reaches the limit, but all together do.
BOOST_AUTO_TEST_CASE(the_limit_is_for_all_tries_together) {
  auto options = fake_session::usual();
  options.retry.limit = 7s;
  fake_session it(options);
  auto reading = it.zk.async_get("/a", it.recorded());
  auto ensuring = it.zk.async_ensure_path("/a/b", it.recorded());
  for (int i = 0; i < 10; ++i) {
    it.advance(1s);
    it.connect();
    it.lose();
  }
  it.advance(1s);
  BOOST_TEST_REQUIRE(ended_with(reading, errc::connection_loss));
  BOOST_TEST_REQUIRE(ended_with(ensuring, errc::connection_loss));
}

BOOST_FIXTURE_TEST_CASE(what_is_in_flight_when_the_session_is_closed_completes_with_closed, connected_session) {
  auto reading = zk.async_get("/a", recorded());
  auto setting = zk.async_set("/a", "", any_version, recorded());
  auto waiting = zk.async_data_change("/a", 0, begun());
  auto closing = zk.async_close(begun());
  lose(errc::closed);
  BOOST_TEST_REQUIRE((reading.done() && setting.done() && waiting.done()));
  BOOST_TEST((reading.error() == errc::closed), reading.error().message());
  BOOST_TEST((setting.error() == errc::closed), setting.error().message());
  BOOST_TEST((waiting.error() == errc::closed), waiting.error().message());
}

BOOST_FIXTURE_TEST_CASE(what_no_server_answers_any_more_completes_with_closed_too, connected_session) {
  auto setting = zk.async_set("/a", "", any_version, recorded());
  auto closing = zk.async_close(recorded());
  advance(10s);
  BOOST_TEST_REQUIRE(ended_with(setting, errc::closed));
}

BOOST_FIXTURE_TEST_CASE(malformed_arguments_are_not_sent, connected_session) {
  auto container = record<std::vector<operation_result>>();
  auto ensuring_nothing = zk.async_ensure_path("", recorded());
  auto reading = zk.async_get("a", recorded());
  auto committing = zk.async_commit(transaction().check("/a").remove("/b/"), recorded());
  zk.async_commit(transaction().create("/a", "", create_mode::container), container.token());
  auto ensuring = zk.async_ensure_path("/a//b", begun());
  BOOST_TEST(pending().empty());
  BOOST_TEST((reading.error() == errc::bad_arguments));
  BOOST_TEST((committing.error() == errc::bad_arguments));
  BOOST_TEST((container.error() == errc::bad_arguments));
  BOOST_TEST((ensuring.error() == errc::bad_arguments));
  BOOST_TEST((ensuring_nothing.error() == errc::bad_arguments));
}

BOOST_AUTO_TEST_CASE(a_signal_may_outlive_the_operation_and_the_context) {
  asio::cancellation_signal late;
  asio::cancellation_signal never;
  {
    fake_session it;
    it.connect();
    int calls = 0;
    it.zk.async_get("/a", asio::bind_cancellation_slot(late.slot(), [&](error_code, node_data) { ++calls; }));
    it.settle();
    it.answer();
    BOOST_TEST(calls == 1);
    late.emit(asio::cancellation_type::total);
    it.settle();
    BOOST_TEST(calls == 1);
    it.zk.async_get("/a", asio::bind_cancellation_slot(never.slot(), [&](error_code, node_data) { ++calls; }));
    it.settle();
  }
  late.emit(asio::cancellation_type::total);
  never.emit(asio::cancellation_type::total);
}

BOOST_AUTO_TEST_CASE(what_no_server_takes_is_refused_and_costs_no_connection) {
  auto options = fake_session::usual();
  options.jute_maxbuffer = 2000;
  fake_session it(options);
  it.connect();
  auto committing = it.record<std::vector<operation_result>>();
  auto setting = it.zk.async_set("/a", std::string(2000, 'x'), any_version, it.recorded());
  it.zk.async_commit(transaction().set("/a", std::string(1000, 'x')).create("/b", std::string(1000, 'x')),
                     committing.token());
  it.settle();
  BOOST_TEST_REQUIRE((setting.done() && committing.done()));
  BOOST_TEST((setting.error() == errc::too_large));
  BOOST_TEST((committing.error() == errc::too_large));
  CHECK_PENDING_OF(it);
  auto fine = it.zk.async_set("/a", std::string(1900, 'x'), any_version, it.begun());
  CHECK_PENDING_OF(it, "set /a");
}

BOOST_AUTO_TEST_CASE(a_path_that_is_none_is_named_in_the_log_with_what_is_wrong_with_it) {
  strings told;
  auto options = fake_session::usual();
  options.log = [&](const log_event& each) {
    if (each.event == session_event::operation_failed) told.push_back(to_string(each));
  };
  fake_session it(options);
  it.connect();
  auto committing = it.zk.async_commit(transaction().create("/good").create("bad"), it.begun());
  BOOST_TEST((committing.error() == errc::bad_arguments));
  const strings expected{
      "operation_failed multi bad: malformed path or argument, or one that is too long (nothing was sent: a path must "
      "begin with '/')"};
  BOOST_TEST((told == expected), told.back());
}

BOOST_FIXTURE_TEST_CASE(an_empty_transaction_succeeds_unsent_and_not_on_a_closed_session, fake_session) {
  auto early = zk.async_commit(transaction(), begun());
  BOOST_TEST_REQUIRE(succeeded(early));
  auto closing = zk.async_close(begun());
  BOOST_TEST(closing.done());
  auto late = zk.async_commit(transaction(), begun());
  BOOST_TEST_REQUIRE(ended_with(late, errc::closed));
}

BOOST_AUTO_TEST_SUITE_END()

// The transaction builder.

BOOST_AUTO_TEST_SUITE(transactions)

BOOST_AUTO_TEST_CASE(operations_keep_their_order_and_arguments) {
  const acl access{{perm_read, "world", "anyone"}};
  auto made = transaction()
                  .check("/check", 4)
                  .create("/create", "data", create_mode::ephemeral_sequential, access)
                  .set("/set", "other", 5)
                  .remove("/remove", 6);
  const auto& all = made.operations();
  BOOST_TEST_REQUIRE(all.size() == 4u);
  BOOST_TEST((all[0].type == operation::kind::check && all[0].path == "/check" && all[0].version == 4));
  BOOST_TEST((all[1].type == operation::kind::create && all[1].path == "/create" && all[1].data == "data"));
  BOOST_TEST((all[1].mode == create_mode::ephemeral_sequential && all[1].acl == access));
  BOOST_TEST((all[2].type == operation::kind::set && all[2].path == "/set" && all[2].data == "other"));
  BOOST_TEST(all[2].version == 5);
  BOOST_TEST((all[3].type == operation::kind::remove && all[3].path == "/remove" && all[3].version == 6));
}

BOOST_AUTO_TEST_CASE(defaults_accept_any_version_and_leave_the_acl_to_the_session) {
  auto made = transaction().check("/a").create("/a").set("/a", "").remove("/a");
  for (const auto& each : made.operations()) {
    BOOST_TEST(each.version == any_version);
    BOOST_TEST(each.acl.empty());
  }
  BOOST_TEST((made.operations()[1].mode == create_mode::persistent));
}

BOOST_AUTO_TEST_CASE(another_transaction_is_appended_behind) {
  auto made = transaction().check("/a").append(transaction().set("/b", "").remove("/c"));
  BOOST_TEST_REQUIRE(made.operations().size() == 3u);
  BOOST_TEST(made.operations()[2].path == "/c");
  BOOST_TEST(!made.empty());
  BOOST_TEST(transaction().append({}).empty());
}

BOOST_AUTO_TEST_SUITE_END()
