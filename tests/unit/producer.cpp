// When a producer sends a batch, and which items are in it.
#include <chrono>
#include <deque>
#include <memory>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/queue.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

struct producing : fake_session {
  producing() { connect(); }

  /// A producer that has read its record, so that each further request is a batch.
  producer ready(producer_options options) {
    producer made(queue(zk, "/q", {.max_list_bytes = 0}), "p", options);
    auto last_number = record<std::uint64_t>();
    made.async_last(last_number.token());
    settle();
    CHECK_PENDING("multi /", "get /q/_producer-p");
    answer();
    backend::reply found;
    found.data = "0";
    answer(found);
    BOOST_TEST_REQUIRE((last_number.done() && !last_number.error()));
    return made;
  }
  void put(producer& by, const std::string& data) {
    puts.push_back(record<std::uint64_t>());
    by.async_put(data, puts.back().token());
    settle();
  }
  /// The server does what the only request asks for. Returns the items.
  strings land() {
    BOOST_TEST_REQUIRE(pending() == strings{"multi /"}, boost::test_tools::per_element());
    backend::reply made;
    made.results.resize(last().pending.front().first.operations.size());
    made.results.back().path = "/q/qn-0000000007";
    strings items;
    for (const auto& each : answer(made).operations) items.push_back(each.data);
    items.erase(items.begin());  // the record
    return items;
  }
  void check_done(std::size_t so_many) {
    for (std::size_t i = 0; i < puts.size(); ++i) {
      BOOST_TEST_REQUIRE(puts[i].done() == (i < so_many), "put " << i);
      if (i < so_many) BOOST_TEST(puts[i].result<0>() == i + 1);
    }
  }

  std::deque<recorder<std::uint64_t>> puts;
};

#define CHECK_LANDS(...) BOOST_TEST(land() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace

BOOST_FIXTURE_TEST_SUITE(producers, producing)

BOOST_AUTO_TEST_CASE(without_linger_each_batch_is_sent_when_the_one_before_has_landed) {
  auto p = ready({.max_batch = 2});
  for (const auto* each : {"a", "b", "c", "d"}) put(p, each);
  CHECK_LANDS("a");
  check_done(1);
  CHECK_LANDS("b", "c");
  check_done(3);
  CHECK_LANDS("d");
  check_done(4);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(items_put_one_after_the_other_travel_together_if_the_first_one_lingers) {
  auto p = ready({.linger = 1s});
  put(p, "a");
  advance(500ms);
  put(p, "b");
  advance(499ms);
  put(p, "c");
  CHECK_PENDING();
  advance(1ms);
  CHECK_LANDS("a", "b", "c");
  check_done(3);
  advance(10s);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_full_batch_does_not_wait) {
  auto p = ready({.max_batch = 2, .linger = 60s});
  put(p, "a");
  CHECK_PENDING();
  put(p, "b");
  put(p, "c");
  CHECK_LANDS("a", "b");
  check_done(2);
  CHECK_PENDING();
  put(p, "d");
  CHECK_LANDS("c", "d");
  check_done(4);
}

BOOST_AUTO_TEST_CASE(a_batch_with_many_bytes_does_not_wait) {
  auto p = ready({.linger = 60s});
  const std::string a(200'000, 'a');
  const std::string b(200'000, 'b');
  put(p, a);
  CHECK_PENDING();
  put(p, b);
  BOOST_TEST((land() == strings{a}));
  CHECK_PENDING();
  advance(60s);
  BOOST_TEST((land() == strings{b}));
  check_done(2);
}

BOOST_AUTO_TEST_CASE(the_wait_counts_from_the_put_also_while_a_batch_is_in_flight) {
  auto p = ready({.linger = 1s});
  put(p, "a");
  advance(1s);
  put(p, "b");
  advance(600ms);
  CHECK_LANDS("a");
  advance(399ms);
  CHECK_PENDING();
  advance(1ms);
  CHECK_PENDING("multi /");
  put(p, "c");
  advance(1s);
  CHECK_LANDS("b");
  CHECK_LANDS("c");  // at once: it was due while the batch before was in flight
  check_done(3);
}

BOOST_AUTO_TEST_CASE(items_of_a_closed_session_do_not_linger) {
  auto p = ready({.linger = 60s});
  put(p, "a");
  put(p, "b");
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST(closing.done());
  put(p, "c");
  for (const auto& each : puts) BOOST_TEST((each.done() && each.error() == errc::closed));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_new_connection_and_a_new_session_change_nothing) {
  auto p = ready({.linger = 60s});
  put(p, "a");
  reconnect();
  advance(1s);
  expire();
  CHECK_PENDING();
  put(p, "b");
  advance(58s);
  BOOST_TEST(!puts[0].done());
  while (!pending().empty() && pending().front() != "multi /") answer();
  CHECK_PENDING();
  advance(1s);
  CHECK_LANDS("a", "b");
  check_done(2);
}

BOOST_AUTO_TEST_CASE(an_item_is_put_although_its_put_was_cancelled_while_it_lingers) {
  auto p = ready({.linger = 1s});
  put(p, "a");
  puts[0].cancel();
  settle();
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST((puts[0].error() == asio::error::operation_aborted));
  put(p, "b");
  advance(1s);
  CHECK_LANDS("a", "b");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 2u);
}

BOOST_AUTO_TEST_CASE(the_end_of_a_program_while_items_linger_leaves_nothing_behind) {
  auto p = ready({.linger = 60s});
  put(p, "a");
  const auto scheduler = std::weak_ptr(zk.get_core()->get_scheduler());
  p = producer();
  zk = session();
  settle();
  BOOST_TEST(!scheduler.expired(), "the item is still to be put");
  destroy_context();
  BOOST_TEST(scheduler.expired());
  BOOST_TEST(!puts[0].done());
}

BOOST_AUTO_TEST_CASE(an_item_that_never_had_a_connection_is_not_sent_behind_its_error) {
  producer by(queue(zk, "/q", {.max_list_bytes = 0}), "p", {});
  lose();
  put(by, "a");
  advance(31s);
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST((puts[0].error() == errc::connection_loss));
  while (!last().open) advance(100ms);
  connect();
  CHECK_PENDING();
  auto known = ready({});
  lose();
  advance(5s);
  put(known, "b");
  advance(31s);
  BOOST_TEST((puts[1].error() == errc::connection_loss));
  while (!last().open) advance(100ms);
  connect();
  CHECK_PENDING();
}

// Its caller was told that the outcome is open, and may put it again by what the record says.
BOOST_AUTO_TEST_CASE(an_item_that_was_sent_is_not_sent_again_when_its_put_has_ended_without_a_connection) {
  auto by = ready({});
  put(by, "a");
  lose();
  advance(31s);
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST((puts[0].error() == errc::connection_loss));
  while (!last().open) advance(100ms);
  connect();
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  backend::reply found;
  found.data = "0";
  answer(found);
  CHECK_PENDING();
  put(by, "b");
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  answer(found);
  BOOST_TEST(land() == strings{"b"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
