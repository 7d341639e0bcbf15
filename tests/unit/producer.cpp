// When a producer sends a batch, and which items are in it.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/queue.hpp>

#include "delivery/delivery_repeats.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct producing : connected_session {
  /// A producer that has read its record, so that each further request is a batch.
  producer ready(producer_options options) {
    producer made(queue(zk, "/q", {.max_list_bytes = 0}), "p", options);
    auto last_number = made.async_last(begun());
    CHECK_PENDING("multi /", "get /q/_producer-p");
    answer();
    answer_with({.data = "0"});
    BOOST_TEST_REQUIRE((last_number.done() && !last_number.error()));
    return made;
  }
  void put(producer& by, const std::string& data) {
    puts.push_back(record<std::uint64_t>());
    by.async_put(data, puts.back().token());
    settle();
  }
  void put_all(producer& by, const strings& data) {
    std::vector<topic_message> all;
    for (const auto& each : data) all.push_back({.data = each});
    puts.push_back(record<std::uint64_t>());
    by.async_put_all(std::move(all), puts.back().token());
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
  auto closing = zk.async_close(begun());
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
  BOOST_TEST_REQUIRE(ended_with(puts[0], asio::error::operation_aborted));
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
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::connection_loss));
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
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::connection_loss));
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

BOOST_AUTO_TEST_CASE(items_of_one_call_travel_in_several_batches_and_are_counted) {
  auto by = ready({.max_batch = 3});
  put_all(by, {"a", "b"});
  put_all(by, {"c", "d", "e", "f"});
  put(by, "g");
  CHECK_LANDS("a", "b");
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST(puts[0].result<0>() == 2u);
  CHECK_LANDS("c", "d", "e");
  BOOST_TEST(!puts[1].done());
  CHECK_LANDS("f", "g");
  BOOST_TEST_REQUIRE((puts[1].done() && puts[2].done()));
  BOOST_TEST(puts[1].result<0>() == 4u);
  BOOST_TEST(puts[2].result<0>() == 7u);
}

BOOST_AUTO_TEST_CASE(the_first_item_that_can_not_be_put_ends_its_call_and_no_other) {
  auto by = ready({.max_batch = 2});
  put_all(by, {"a", "b", "c", "d", "e", "f"});
  put(by, "g");
  CHECK_LANDS("a", "b");
  CHECK_PENDING("multi /");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::no_auth));
  BOOST_TEST(puts[0].result<0>() == 2u);
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  answer_with({.data = "2"});
  CHECK_LANDS("g");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 3u);
}

BOOST_AUTO_TEST_CASE(items_of_a_call_that_was_given_up_without_a_connection_are_not_put) {
  auto by = ready({.max_batch = 2});
  lose();
  put_all(by, {"a", "b", "c"});
  put(by, "d");
  puts[0].cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(puts[0], asio::error::operation_aborted));
  while (!last().open) advance(100ms);
  connect();
  CHECK_LANDS("d");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 1u);
}

// If each were looked for among all that wait, this would take seconds.
BOOST_AUTO_TEST_CASE(many_calls_that_are_given_up_in_any_order_leave_the_others_in_theirs) {
  auto by = ready({.max_batch = 1'000});
  lose();
  strings kept;
  std::vector<std::size_t> given_up;
  for (std::size_t i = 0; i < 10'000; ++i) {
    const auto data = std::to_string(i);
    puts.push_back(record<std::uint64_t>());
    by.async_put_all({{.data = data}, {.data = data}}, puts.back().token());
    if (i % 500 == 7) kept.insert(kept.end(), 2, data);
    if (i % 500 != 7) given_up.push_back(i);
  }
  settle();
  std::mt19937 random(1);
  std::shuffle(given_up.begin(), given_up.end(), random);
  for (const auto each : given_up) puts[each].cancel();
  settle();
  for (const auto each : given_up) BOOST_TEST_REQUIRE(ended_with(puts[each], asio::error::operation_aborted));
  while (!last().open) advance(100ms);
  connect();
  BOOST_TEST(land() == kept, boost::test_tools::per_element());
  CHECK_PENDING();
}

// Those of its items that are in it were sent already.
BOOST_AUTO_TEST_CASE(what_is_behind_a_batch_is_not_put_if_its_call_is_given_up_without_a_connection) {
  auto by = ready({.max_batch = 2});
  put_all(by, {"a", "b", "c", "d", "e"});
  put(by, "f");
  lose();
  puts[0].cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(puts[0], asio::error::operation_aborted));
  while (!last().open) advance(100ms);
  connect();
  for (int reads = 0; reads < 2; ++reads) {  // what became of the batch, and the next one begins
    CHECK_PENDING("multi /", "get /q/_producer-p");
    answer();
    answer_with({.data = "0"});
  }
  CHECK_LANDS("f");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 1u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_batch_of_a_call_that_was_not_put_is_sent_again_behind_a_lost_connection) {
  auto by = ready({.max_batch = 2});
  put_all(by, {"a", "b", "c", "d"});
  CHECK_LANDS("a", "b");
  reconnect();
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  answer_with({.data = "2"});
  CHECK_LANDS("c", "d");
  BOOST_TEST_REQUIRE(puts[0].done());
  BOOST_TEST(!puts[0].error());
  BOOST_TEST(puts[0].result<0>() == 4u);
}

BOOST_AUTO_TEST_CASE(a_call_that_is_cancelled_while_a_batch_is_in_flight_tells_how_many_were_put) {
  auto by = ready({.max_batch = 2});
  put_all(by, {"a", "b", "c", "d", "e"});
  CHECK_LANDS("a", "b");
  puts[0].cancel();
  settle();
  BOOST_TEST_REQUIRE(ended_with(puts[0], asio::error::operation_aborted));
  BOOST_TEST(puts[0].result<0>() == 2u);
  CHECK_LANDS("c", "d");
  CHECK_LANDS("e");
  put(by, "f");
  CHECK_LANDS("f");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 6u);
}

BOOST_AUTO_TEST_CASE(an_item_that_is_too_large_refuses_its_call) {
  auto by = ready({});
  put_all(by, {"a", std::string(1'000'001, 'b'), "c"});
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::too_large));
  BOOST_TEST(puts[0].result<0>() == 0u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(another_producer_of_the_name_ends_a_call_and_the_next_one_goes_on_behind_it) {
  auto by = ready({.max_batch = 2});
  put_all(by, {"a", "b", "c", "d", "e"});
  CHECK_LANDS("a", "b");
  CHECK_PENDING("multi /");
  fail(errc::bad_version);
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  answer_with({.data = "9"});
  BOOST_TEST_REQUIRE(ended_with(puts[0], errc::superseded));
  BOOST_TEST(puts[0].result<0>() == 2u);
  CHECK_PENDING();
  put(by, "f");
  CHECK_PENDING("multi /", "get /q/_producer-p");
  answer();
  answer_with({.data = "9"});
  CHECK_LANDS("f");
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST(puts[1].result<0>() == 10u);
}

BOOST_AUTO_TEST_CASE(the_base_of_another_kind_has_the_options_of_none) {
  auto by = ready({.max_batch = 7});
  BOOST_TEST(by.options().max_batch == 7u);
  static_cast<producer_base&>(by) = topic_producer(topic(zk, "/t", {.shards = 1}), "p");
  BOOST_TEST(by.options().max_batch == producer_options().max_batch);
  BOOST_TEST(by.path() == "/t");
}

BOOST_AUTO_TEST_CASE(a_queue_that_was_made_by_default_takes_nothing) {
  BOOST_CHECK_EXCEPTION(producer(queue(), "p"), std::invalid_argument, [](const auto& why) {
    return std::string(why.what()).find("by default") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(a_key_is_refused_and_no_items_are_put_at_once) {
  auto by = ready({});
  puts.push_back(record<std::uint64_t>());
  by.async_put("key", "a", puts.back().token());
  settle();
  BOOST_TEST(ended_with(puts[0], errc::bad_arguments));
  put_all(by, {});
  BOOST_TEST_REQUIRE(puts[1].done());
  BOOST_TEST((!puts[1].error() && puts[1].result<0>() == 0u));
  CHECK_PENDING();
}

BOOST_AUTO_TEST_SUITE_END()

// Which numbers count as processed, and how that is stored; at random as a set of numbers says.
namespace {

constexpr auto largest_number = std::numeric_limits<std::uint64_t>::max();

std::string marks_record(const std::string& producers) {
  return R"({"zkrecipes":"producer_marks","producers":[)" + producers + "]}";
}

/// The numbers up to 20 that count as processed.
std::set<std::uint64_t> processed_by(const producer_marks& marks, const std::string& producer = "p") {
  std::set<std::uint64_t> all;
  for (std::uint64_t number = 0; number <= 20; ++number) {
    if (marks.has_processed({producer, number})) all.insert(number);
  }
  return all;
}

using number_set = std::set<std::uint64_t>;

}  // namespace

BOOST_AUTO_TEST_SUITE(producers_marks)

BOOST_AUTO_TEST_CASE(only_what_was_noted_counts_as_processed) {
  producer_marks marks;
  for (const std::uint64_t number : {3, 6, 4, 1}) marks.record_processed({"p", number});
  marks.record_processed({"q", 9});
  BOOST_TEST(processed_by(marks) == (number_set{1, 3, 4, 6}), boost::test_tools::per_element());
  BOOST_TEST(processed_by(marks, "q") == (number_set{9}), boost::test_tools::per_element());
  BOOST_TEST(marks.to_text() == marks_record(R"("1,3-4,6 p","9 q")"));
  marks.record_processed({"p", 5});
  marks.record_processed({"p", 2});
  BOOST_TEST(marks.to_text() == marks_record(R"("9 q","1-6 p")"));
}

BOOST_AUTO_TEST_CASE(the_smallest_and_the_largest_number_are_numbers_like_others) {
  producer_marks marks;
  for (const std::uint64_t number : {largest_number, largest_number - 2, largest_number - 1})
    marks.record_processed({"p", number});
  for (const std::uint64_t number : {1, 0}) marks.record_processed({"p", number});
  BOOST_TEST(marks.has_processed({"p", largest_number}));
  BOOST_TEST(marks.has_processed({"p", 0}));
  BOOST_TEST(!marks.has_processed({"p", largest_number - 3}));
  BOOST_TEST(!marks.has_processed({"p", 2}));
  auto again = producer_marks::parse(marks.to_text());
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->to_text() == marks.to_text());
  BOOST_TEST(again->has_processed({"p", largest_number}));
}

BOOST_AUTO_TEST_CASE(too_many_gaps_make_the_lowest_numbers_unknown) {
  producer_marks marks;
  const auto most = 2 * producer_marks::most_gaps + 2;
  for (std::uint64_t number = 2; number <= most; number += 2) marks.record_processed({"p", number});
  BOOST_TEST(marks.has_processed({"p", 2}));
  marks.record_processed({"p", most + 2});
  BOOST_TEST(!marks.has_processed({"p", 2}));
  BOOST_TEST(marks.has_processed({"p", 4}));
  const auto text = marks.to_text();
  marks.record_processed({"p", 1});  // there is no room for it
  BOOST_TEST(!marks.has_processed({"p", 1}));
  BOOST_TEST(marks.to_text() == text);
  auto again = producer_marks::parse(text);
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->to_text() == text);
}

BOOST_AUTO_TEST_CASE(the_producer_that_has_not_moved_for_longest_is_forgotten_first) {
  producer_marks marks;
  for (const auto* each : {"p", "q", "r"}) marks.record_processed({each, 1});
  marks.record_processed({"p", 2});
  BOOST_TEST(marks.forget(3) == 0u);
  BOOST_TEST(marks.forget(1) == 2u);
  BOOST_TEST(marks.to_text() == marks_record(R"("1-2 p")"));
}

BOOST_AUTO_TEST_CASE(the_record_has_a_largest_size) {
  producer_marks marks;
  for (int i = 0; i < 1'000; ++i) marks.record_processed({std::to_string(i) + std::string(250, '\x01'), 1});
  BOOST_TEST(marks.forget(1'000) > 0u);
  BOOST_TEST(marks.to_text().size() < producer_marks::most_bytes + 100);
  BOOST_TEST(marks.to_text().size() > producer_marks::most_bytes - 2'000);
  BOOST_TEST(marks.has_processed({"999" + std::string(250, '\x01'), 1}));
}

BOOST_AUTO_TEST_CASE(unknown_fields_count_for_the_size) {
  const auto all = [](std::size_t more) {
    return R"({"zkrecipes":"producer_marks","producers":["1 p","1 q"],"more":")" + std::string(more, 'x') + "\"}";
  };
  auto marks = producer_marks::parse(all(producer_marks::most_bytes - 100));
  BOOST_TEST_REQUIRE(marks.has_value());
  BOOST_TEST(marks->forget(2) == 0u);
  marks = producer_marks::parse(all(producer_marks::most_bytes - 20));
  BOOST_TEST_REQUIRE(marks.has_value());
  BOOST_TEST(marks->forget(2) == 1u);
  BOOST_TEST(marks->has_processed({"q", 1}));
}

BOOST_AUTO_TEST_CASE(a_record_comes_back_as_it_was_with_what_is_not_known) {
  const auto text = R"({"zkrecipes":"producer_marks","producers":["1-29,32-39,57 a b","3 c"],"more":{"x":1}})";
  auto marks = producer_marks::parse(text);
  BOOST_TEST_REQUIRE(marks.has_value());
  BOOST_TEST(marks->to_text() == text);
  BOOST_TEST(marks->has_processed({"a b", 57}));
  BOOST_TEST(!marks->has_processed({"a b", 31}));
}

BOOST_AUTO_TEST_CASE(what_is_no_such_record_is_foreign) {
  for (const auto* each : {"\"1\"", "\" p\"", "\"1 \"", "\"x p\"", "\"2-1 p\"", "\"1, p\"", "\",1 p\"", "\"1,,3 p\"",
                           "\"2-5,1 p\"", "\"1-5,3 p\"", "\"1 p\",\"2 p\"", "\"1-18446744073709551616 p\"", "7"}) {
    BOOST_TEST(!producer_marks::parse(marks_record(each)), each);
  }
  BOOST_TEST(!producer_marks::parse(marks_record("\"1 " + std::string(256, 'x') + '"')));
  BOOST_TEST(!producer_marks::parse(""));
  BOOST_TEST(!producer_marks::parse(R"({"zkrecipes":"term","producers":[]})"));
  BOOST_TEST(!producer_marks::parse(R"({"zkrecipes":"producer_marks"})"));
}

/// As long as there are few gaps, the marks say what a set of numbers says.
BOOST_AUTO_TEST_CASE(the_marks_do_as_the_model) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    producer_marks marks;
    number_set model;
    for (int step = 0; step < 60; ++step) {
      const auto number = random() % 21;
      marks.record_processed({"p", number});
      model.insert(number);
      BOOST_TEST_REQUIRE(processed_by(marks) == model, boost::test_tools::per_element());
      auto stored = producer_marks::parse(marks.to_text());
      BOOST_TEST_REQUIRE(stored.has_value());
      BOOST_TEST_REQUIRE(stored->to_text() == marks.to_text());
      marks = std::move(*stored);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
