// Several locks at once: all of them, or none.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/multi_lock.hpp>

#include "ensemble/print.hpp"
#include "ensemble/request_log.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct multi_lock_case : fixture {
  multi_lock_case() {
    one = std::make_unique<session>(connect(log.noted(options())));
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
  auto waiting = recorder<multi_ownership>(executor());
  both->async_acquire(waiting.token());
  waits_at("/b");
  BOOST_TEST(!waiting.done());
  BOOST_TEST(!std::get<0>(run(theirs.async_release(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!waiting.error());
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
  auto waiting = recorder<multi_ownership>(executor());
  both->async_acquire(waiting.token());
  waits_at("/b");
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == asio::error::operation_aborted);
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
  auto lost = recorder<>(executor());
  held.async_lost(lost.token());
  remove(held.at(0).path());
  BOOST_TEST(run_until([&] { return lost.done(); }));
  BOOST_TEST(lost.error() == errc::node_removed);
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
  auto asked = recorder<>(executor());
  held.async_revoked(asked.token());
  lock wanted(*other, "/b");
  catch_up(*other);
  BOOST_TEST(!std::get<0>(run(wanted.async_request_revocation(std::chrono::milliseconds::max(), tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return asked.done(); }));
  BOOST_TEST(asked.error() == errc::revoked);
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
  auto asked = recorder<>(executor());
  held.async_revoked(asked.token());
  auto given_up = recorder<>(executor());
  held.async_revoked(given_up.token());
  given_up.cancel();
  BOOST_TEST(run_until([&] { return given_up.done(); }));
  BOOST_TEST(given_up.error() == asio::error::operation_aborted);
  BOOST_TEST(!asked.done());
  BOOST_TEST(!std::get<0>(run(held.async_release(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return asked.done(); }));
  BOOST_TEST(asked.error() == errc::closed);
  finish();
}

BOOST_AUTO_TEST_CASE(one_that_is_lost_while_another_is_waited_for_ends_it) {
  auto theirs = acquire("/b");
  auto waiting = recorder<multi_ownership>(executor());
  both->async_acquire(waiting.token());
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
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == errc::node_removed);
  finish();
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_named) {
  BOOST_CHECK_THROW(multi_lock(*one, {}), std::invalid_argument);
  BOOST_CHECK_THROW(multi_lock(*one, {"/a", "b"}), std::invalid_argument);
  BOOST_CHECK_EXCEPTION(multi_lock(*one, {"/a", "/b", "/a"}), std::invalid_argument,
                        [](const auto& e) { return std::string(e.what()).find("/a") != std::string::npos; });
  BOOST_TEST(multi_ownership().error() == errc::closed);
  recorder<> nothing(executor());
  multi_ownership().async_revoked(nothing.token());
  BOOST_TEST_REQUIRE(run_until([&] { return nothing.done(); }));
  BOOST_TEST(nothing.error() == errc::closed);
  BOOST_CHECK_THROW(multi_ownership().at(0), std::out_of_range);
}

BOOST_AUTO_TEST_SUITE_END()
