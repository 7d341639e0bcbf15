// Which numbers count as processed, and how that is stored; at random as a set of numbers says.
#include "delivery/producer_marks.hpp"

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;

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
