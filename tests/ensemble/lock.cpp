// The lock: what it adds to the line.
#include <zkrecipes/lock.hpp>
#include <zkrecipes/multi_lock.hpp>

#include "ensemble/print.hpp"
#include "ensemble/request_log.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct lock_case : fixture {
  void teardown() {
    BOOST_TEST(run_until([&] { return children("/l").empty(); }));
    remove("/l");
    zk_one.reset();
    zk_other.reset();
    fixture::teardown();
  }

  /// Acquires, or the case ends.
  ownership acquire(lock& which) { return must(run(which.async_acquire(tuple))); }
  void release(ownership held) { BOOST_TEST(!std::get<0>(run(held.async_release(tuple)))); }

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
  auto made = run(one.async_create("/l", "", create_mode::persistent, no_delete, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  lock first(one, "/l");
  auto held = acquire(first);
  BOOST_TEST(std::get<0>(run(held.async_release(tuple))) == errc::no_auth);
  lock second(other, "/l");
  auto waiting = second.async_acquire(recorded());
  catch_up(other);
  BOOST_TEST(!waiting.done());
  BOOST_TEST(!std::get<0>(run(one.async_set_acl("/l", open_acl(), any_version, tuple))));
  BOOST_TEST_REQUIRE(succeeds(waiting));
  release(std::move(waiting.result<0>()));
}

BOOST_AUTO_TEST_CASE(it_is_held_by_one_and_then_by_the_next) {
  lock mine(one, "/l", {.id = "mine"});
  lock theirs(other, "/l", {.id = "theirs"});
  auto held = acquire(mine);
  auto waiting = theirs.async_acquire(recorded());
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
}

BOOST_AUTO_TEST_CASE(a_try_for_a_busy_lock_costs_no_write) {
  lock mine(one, "/l");
  request_log log;
  session third = log.connect(*this);
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
}

BOOST_AUTO_TEST_CASE(a_cancellation_goes_through_the_budget) {
  lock mine(one, "/l");
  lock theirs(other, "/l");
  auto held = acquire(mine);
  auto waiting = theirs.async_acquire_for(1h, recorded());
  BOOST_TEST(run_until([&] { return children("/l").size() == 2; }));
  waiting.cancel();
  BOOST_TEST(ends_with(waiting, asio::error::operation_aborted));
  BOOST_TEST(run_until([&] { return children("/l").size() == 1; }));
  release(std::move(held));
}

BOOST_AUTO_TEST_CASE(the_position_is_told_while_it_waits) {
  lock mine(one, "/l");
  std::vector<std::size_t> positions;
  lock last(other, "/l", {.id = "last", .on_position = [&](std::size_t ahead) { positions.push_back(ahead); }});
  auto first = acquire(mine);
  auto second = mine.async_acquire(recorded());
  BOOST_TEST(run_until([&] { return children("/l").size() == 2; }));
  auto third = last.async_acquire(recorded());
  BOOST_TEST(run_until([&] { return !positions.empty(); }), "it has read who is ahead");
  release(std::move(first));
  BOOST_TEST(run_until([&] { return second.done(); }));
  release(std::move(second.result<0>()));
  BOOST_TEST(run_until([&] { return third.done(); }));
  BOOST_TEST_REQUIRE(!positions.empty());
  BOOST_TEST(positions.front() == 2u);
  BOOST_TEST(positions.back() == 0u);
  release(std::move(third.result<0>()));
}

BOOST_AUTO_TEST_CASE(a_revocation_is_a_request_first_and_an_order_after_the_grace) {
  lock mine(one, "/l", {.id = "mine"});
  lock theirs(other, "/l");
  BOOST_TEST(std::get<0>(run(theirs.async_request_revocation(0ms, tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(theirs.async_request_revocation(-1ms, tuple))) == errc::bad_arguments);
  auto held = acquire(mine);
  auto asked = held.async_revoked(recorded());
  catch_up(other);
  BOOST_TEST(!std::get<0>(run(theirs.async_request_revocation(std::chrono::milliseconds::max(), tuple))));
  BOOST_TEST(ends_with(asked, errc::revoked));
  BOOST_TEST(!held.error(), "only asked");
  BOOST_TEST(get(held.path()).data == R"({"zkrecipes":"member","id":"mine","revocable":true,"revoke":true})");
  BOOST_TEST(std::get<1>(run(mine.async_members(tuple)))[0].id == "mine", "what it says of itself stays");

  // This second request has a grace, which counts from now on.
  auto lost = held.async_lost(recorded());
  auto waiting = theirs.async_acquire(recorded());
  constexpr auto grace = 300ms;
  const auto asked_at = lease_clock::now();
  BOOST_TEST(!std::get<0>(run(theirs.async_request_revocation(grace, tuple))));
  BOOST_TEST(run_until([&] { return lost.done(); }));
  BOOST_TEST(((lease_clock::now() - asked_at) >= grace), "it was kept until the grace was over");
  BOOST_TEST(lost.error() == errc::revoked);
  BOOST_TEST(succeeds(waiting));
  release(std::move(waiting.result<0>()));
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
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  BOOST_CHECK_THROW(lock(one, "l"), std::invalid_argument);
  BOOST_CHECK_THROW(lock(one, "/l", {.id = ""}), std::invalid_argument);
  create("/l");
}

BOOST_AUTO_TEST_SUITE_END()

// Several locks at once: all of them, or none.
namespace {

struct multi_lock_case : fixture {
  multi_lock_case() {
    one = std::make_unique<session>(log.connect(*this));
    other = std::make_unique<session>(connect());
    both.emplace(*one, std::vector<std::string>{"/b", "/a"});
  }
  void teardown() {
    both.reset();
    one.reset();
    other.reset();
    fixture::teardown();
  }

  multi_ownership acquire() { return must(run(both->async_acquire(tuple))); }
  ownership acquire(const std::string& path) { return must(run(lock(*other, path).async_acquire(tuple))); }
  void waits_at(const std::string& path) {
    BOOST_TEST_REQUIRE(run_until([&] { return children(path).size() == 2; }));
  }
  void is_free(const std::string& path) {
    BOOST_TEST(run_until([&] { return children(path).empty(); }), path << " is still held");
  }
  void finish() {
    for (auto path : {"/a", "/b"}) {
      is_free(path);
      remove(path);
    }
  }

  request_log log;
  std::unique_ptr<session> one, other;
  std::optional<multi_lock> both;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(multi_locks, multi_lock_case)

BOOST_AUTO_TEST_CASE(all_are_held_in_the_order_of_their_paths) {
  auto held = acquire();
  BOOST_TEST(held.size() == 2u);
  BOOST_TEST(held.at(0).path().substr(0, 3) == "/a/");
  BOOST_TEST(held.at(1).path().substr(0, 3) == "/b/");
  BOOST_TEST(held.at(0).token() < held.at(1).token());
  BOOST_TEST(!held.error());
  BOOST_TEST((held.valid_until() > lease_clock::now()));
  catch_up(*other);
  BOOST_TEST(std::get<0>(run(lock(*other, "/a").async_try_acquire(tuple))) == errc::busy);
  BOOST_TEST(std::get<0>(run(lock(*other, "/b").async_try_acquire(tuple))) == errc::busy);
  log.clear();
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  std::vector<std::string> removed;
  std::ranges::copy_if(log.all(), std::back_inserter(removed),
                       [](const auto& each) { return each.starts_with("remove"); });
  BOOST_TEST_REQUIRE(removed.size() == 2u);
  BOOST_TEST(removed[0].find("/b/") != std::string::npos, "the last acquired first");
  BOOST_TEST(held.error() == errc::closed);
  finish();
}

BOOST_AUTO_TEST_CASE(it_waits_for_each_in_turn) {
  auto theirs = acquire("/b");
  auto waiting = both->async_acquire(recorded());
  waits_at("/b");
  BOOST_TEST(!waiting.done());
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  BOOST_TEST_REQUIRE(succeeds(waiting));
  waiting.result<0>() = multi_ownership();
  finish();
}

BOOST_AUTO_TEST_CASE(a_budget_that_runs_out_leaves_none) {
  auto theirs = acquire("/b");
  BOOST_TEST(std::get<0>(run(both->async_acquire_for(300ms, tuple))) == errc::timed_out);
  is_free("/a");
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  finish();
}

BOOST_AUTO_TEST_CASE(a_cancellation_leaves_none) {
  auto theirs = acquire("/b");
  auto waiting = both->async_acquire(recorded());
  waits_at("/b");
  waiting.cancel();
  BOOST_TEST(ends_with(waiting, asio::error::operation_aborted));
  is_free("/a");
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  finish();
}

BOOST_AUTO_TEST_CASE(a_try_takes_all_or_none) {
  auto theirs = acquire("/b");
  catch_up(*one);
  BOOST_TEST(std::get<0>(run(both->async_try_acquire(tuple))) == errc::busy);
  is_free("/a");
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  catch_up(*one);
  auto free = run(both->async_try_acquire(tuple));
  BOOST_TEST(!std::get<0>(free));
  std::get<1>(free) = multi_ownership();
  finish();
}

BOOST_AUTO_TEST_CASE(the_loss_of_one_is_told_and_fences_all) {
  create("/result");
  auto held = acquire();
  auto lost = held.async_lost(recorded());
  remove(held.at(0).path());
  BOOST_TEST(ends_with(lost, errc::node_removed));
  BOOST_TEST(held.error() == errc::node_removed);
  BOOST_TEST(!held.at(1).error(), "the other one is still held");
  auto write = run(one->async_commit(held.fenced(transaction().set("/result", "x")), tuple));
  BOOST_TEST(std::get<0>(write) == errc::no_node);
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  remove("/result");
  finish();
}

BOOST_AUTO_TEST_CASE(a_request_for_one_of_them_is_told) {
  auto held = acquire();
  auto asked = held.async_revoked(recorded());
  lock wanted(*other, "/b");
  catch_up(*other);
  BOOST_TEST(!std::get<0>(run(wanted.async_request_revocation(std::chrono::milliseconds::max(), tuple))));
  BOOST_TEST_REQUIRE(ends_with(asked, errc::revoked));
  BOOST_TEST(!held.error(), "only asked");
  BOOST_TEST(std::get<0>(run(held.async_revoked(tuple))) == errc::revoked, "also who asks for it later");
  BOOST_TEST(!std::get<0>(run(wanted.async_request_revocation(0ms, tuple))));
  BOOST_TEST(std::get<0>(run(held.async_lost(tuple))) == errc::revoked);
  BOOST_TEST(!held.at(0).error(), "the other one is still held");
  is_free("/b");
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  finish();
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_request_is_told_of_the_end) {
  auto held = acquire();
  auto asked = held.async_revoked(recorded());
  auto given_up = held.async_revoked(recorded());
  given_up.cancel();
  BOOST_TEST(ends_with(given_up, asio::error::operation_aborted));
  BOOST_TEST(!asked.done());
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  BOOST_TEST_REQUIRE(ends_with(asked, errc::closed));
  finish();
}

BOOST_AUTO_TEST_CASE(one_that_is_lost_while_another_is_waited_for_ends_it) {
  auto theirs = acquire("/b");
  auto waiting = both->async_acquire(recorded());
  waits_at("/b");
  log.clear();
  remove("/a/" + children("/a").front());
  // Wait until it has looked at its own node below /a. Otherwise it may be told of /b first, get both, and lose both a
  // moment later.
  const auto looks_at_its_own = [](const std::string& each) {
    return each.starts_with("get ") && each.find("/a/") != each.npos;
  };
  BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::any_of(log.all(), looks_at_its_own); }));
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  BOOST_TEST(ends_with(waiting, errc::node_removed));
  finish();
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  BOOST_CHECK_THROW(multi_lock(*one, {}), std::invalid_argument);
  BOOST_CHECK_THROW(multi_lock(*one, {"/a", "b"}), std::invalid_argument);
  BOOST_CHECK_EXCEPTION(multi_lock(*one, {"/a", "/b", "/a"}), std::invalid_argument,
                        [](const auto& e) { return std::string(e.what()).find("/a") != std::string::npos; });
  BOOST_TEST(multi_ownership().error() == errc::closed);
  auto nothing = multi_ownership().async_revoked(recorded());
  BOOST_TEST_REQUIRE(ends_with(nothing, errc::closed));
  BOOST_CHECK_THROW(multi_ownership().at(0), std::out_of_range);
}

BOOST_AUTO_TEST_SUITE_END()
