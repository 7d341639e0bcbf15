// The lock: what it adds to the line.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/lock.hpp>

#include "ensemble/print.hpp"
#include "ensemble/request_log.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct lock_case : fixture {
  void teardown() {
    zk_one.reset();
    zk_other.reset();
    fixture::teardown();
  }

  /// Acquires, or the case ends.
  ownership acquire(lock& which) { return must(run(which.async_acquire(tuple))); }
  void release(ownership held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }
  void finish() {
    BOOST_TEST(run_until([&] { return children("/l").empty(); }));
    remove("/l");
  }

  std::unique_ptr<session> zk_one = std::make_unique<session>(connect());
  std::unique_ptr<session> zk_other = std::make_unique<session>(connect());
  session& one = *zk_one;
  session& other = *zk_other;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(locks, lock_case)

// The ACL of the parent allows us to create our node but not to remove it, until the ACL is changed.
BOOST_AUTO_TEST_CASE(a_release_that_is_refused_is_told_and_goes_on) {
  const acl no_delete{{perm_create | perm_read | perm_admin, "world", "anyone"}};
  must(run(one.async_create("/l", "", create_mode::persistent, no_delete, tuple)));
  lock first(one, "/l");
  auto held = acquire(first);
  BOOST_TEST(std::get<0>(run(held.async_release(tuple))) == errc::no_auth);
  lock second(other, "/l");
  recorder<ownership> waiting(executor());
  second.async_acquire(waiting.token());
  catch_up(other);
  BOOST_TEST(!waiting.done());
  BOOST_TEST(!std::get<0>(run(one.async_set_acl("/l", open_acl(), any_version, tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error());
  release(std::move(waiting.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(it_is_held_by_one_and_then_by_the_next) {
  lock mine(one, "/l", {.id = "mine"});
  lock theirs(other, "/l", {.id = "theirs"});
  auto held = acquire(mine);
  auto waiting = recorder<ownership>(executor());
  theirs.async_acquire(waiting.token());
  BOOST_TEST(run_until([&] { return children("/l").size() == 2; }));
  catch_up(one);
  auto [error, members] = run(mine.async_members(tuple));
  BOOST_TEST(!error);
  BOOST_TEST_REQUIRE(members.size() == 2u);
  BOOST_TEST(members[0].id == "mine");
  BOOST_TEST(members[0].holds);
  BOOST_TEST(members[0].token == held.token());
  BOOST_TEST(members[0].session_id == one.status().session_id);
  BOOST_TEST(members[1].id == "theirs");
  BOOST_TEST(!members[1].holds);
  BOOST_TEST(!waiting.done());
  const auto token = held.token();
  release(std::move(held));
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.result<0>().token() > token);
  release(std::move(waiting.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_try_for_a_busy_lock_costs_no_write) {
  lock mine(one, "/l");
  request_log log;
  session third = connect(log.noted(options()));
  lock theirs(third, "/l");
  auto free = run(theirs.async_try_acquire(tuple));
  BOOST_TEST(!std::get<0>(free));
  release(std::move(std::get<1>(free)));
  auto held = acquire(mine);
  catch_up(third);
  log.clear();
  BOOST_TEST(std::get<0>(run(theirs.async_try_acquire(tuple))) == errc::busy);
  BOOST_TEST(log.count("create") == 0u);
  BOOST_TEST(log.count("children") == 1u);
  release(std::move(held));
  finish();
}

BOOST_AUTO_TEST_CASE(the_budget_is_for_everything_and_leaves_nothing_behind) {
  lock mine(one, "/l");
  lock theirs(other, "/l");
  auto held = acquire(mine);
  auto late = run(theirs.async_acquire_for(200ms, tuple));
  BOOST_TEST(std::get<0>(late) == errc::timed_out);
  BOOST_TEST(run_until([&] { return children("/l").size() == 1; }));
  release(std::move(held));
  auto with = options();
  with.hosts = "127.0.0.1:1";
  session nowhere = connect(with);
  lock unreachable(nowhere, "/l");
  BOOST_TEST(std::get<0>(run(unreachable.async_acquire_for(100ms, tuple))) == errc::timed_out);
  auto in_time = run(theirs.async_acquire_for(lease_clock::duration::max(), tuple));
  BOOST_TEST(!std::get<0>(in_time));
  release(std::move(std::get<1>(in_time)));
  finish();
}

BOOST_AUTO_TEST_CASE(a_cancellation_goes_through_the_budget) {
  lock mine(one, "/l");
  lock theirs(other, "/l");
  auto held = acquire(mine);
  auto waiting = recorder<ownership>(executor());
  theirs.async_acquire_for(1h, waiting.token());
  BOOST_TEST(run_until([&] { return children("/l").size() == 2; }));
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == asio::error::operation_aborted);
  BOOST_TEST(run_until([&] { return children("/l").size() == 1; }));
  release(std::move(held));
  finish();
}

BOOST_AUTO_TEST_CASE(the_position_is_told_while_it_waits) {
  lock mine(one, "/l");
  std::vector<std::size_t> positions;
  lock last(other, "/l", {.id = "last", .on_position = [&](std::size_t ahead) { positions.push_back(ahead); }});
  auto first = acquire(mine);
  auto second = recorder<ownership>(executor());
  mine.async_acquire(second.token());
  BOOST_TEST(run_until([&] { return children("/l").size() == 2; }));
  auto third = recorder<ownership>(executor());
  last.async_acquire(third.token());
  BOOST_TEST(run_until([&] { return !positions.empty(); }), "it has read who is ahead");
  release(std::move(first));
  BOOST_TEST(run_until([&] { return second.done(); }));
  release(std::move(second.result<0>()));
  BOOST_TEST(run_until([&] { return third.done(); }));
  BOOST_TEST_REQUIRE(!positions.empty());
  BOOST_TEST(positions.front() == 2u);
  BOOST_TEST(positions.back() == 0u);
  release(std::move(third.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_revocation_is_a_request_first_and_an_order_after_the_grace) {
  lock mine(one, "/l", {.id = "mine"});
  lock theirs(other, "/l");
  BOOST_TEST(std::get<0>(run(theirs.async_request_revocation(0ms, tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(theirs.async_request_revocation(-1ms, tuple))) == errc::bad_arguments);
  auto held = acquire(mine);
  auto asked = recorder<>(executor());
  held.async_revoked(asked.token());
  catch_up(other);
  BOOST_TEST(!std::get<0>(run(theirs.async_request_revocation(std::chrono::milliseconds::max(), tuple))));
  BOOST_TEST(run_until([&] { return asked.done(); }));
  BOOST_TEST(asked.error() == errc::revoked);
  BOOST_TEST(!held.error(), "only asked");
  BOOST_TEST(get(held.path()).data == R"({"zkrecipes":"member","id":"mine","revocable":true,"revoke":true})");
  BOOST_TEST(std::get<1>(run(mine.async_members(tuple)))[0].id == "mine", "what it says of itself stays");

  // This second request has a grace, which counts from now on.
  auto lost = recorder<>(executor());
  held.async_lost(lost.token());
  auto waiting = recorder<ownership>(executor());
  theirs.async_acquire(waiting.token());
  constexpr auto grace = 300ms;
  const auto asked_at = lease_clock::now();
  BOOST_TEST(!std::get<0>(run(theirs.async_request_revocation(grace, tuple))));
  BOOST_TEST(run_until([&] { return lost.done(); }));
  BOOST_TEST(((lease_clock::now() - asked_at) >= grace), "it was kept until the grace was over");
  BOOST_TEST(lost.error() == errc::revoked);
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error());
  release(std::move(waiting.result<0>()));
  finish();
}

BOOST_AUTO_TEST_CASE(a_foreign_holder_is_not_asked_and_keeps_its_data) {
  lock ours(one, "/l");
  run(one.async_ensure_path("/l", tuple));
  for (const std::string data : {"10.1.1.0", "", R"({"id":"theirs"})", "__REVOKE__"}) {
    auto made = run(one.async_create("/l/_c_6b1f0000-0000-0000-0000-000000000000-lock-", data,
                                     create_mode::ephemeral_sequential, tuple));
    const auto node = std::get<1>(made).path;
    BOOST_TEST(std::get<0>(run(ours.async_request_revocation(0ms, tuple))) == errc::foreign_data);
    BOOST_TEST(std::get<1>(run(one.async_get(node, tuple))).data == data);
    run(one.async_remove(node, any_version, tuple));
  }
  finish();
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  BOOST_CHECK_THROW(lock(one, "l"), std::invalid_argument);
  BOOST_CHECK_THROW(lock(one, "/l", {.id = ""}), std::invalid_argument);
  create("/l");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
