// Which numbers of a producer are settled, how that is stored, and what is forgotten.

#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include "external/delivery_memory.hpp"

using namespace zkrecipes::detail;

namespace {

constexpr auto largest_settled = std::numeric_limits<std::uint64_t>::max();

settled_run run_of(std::initializer_list<std::uint64_t> numbers) {
  settled_run all;
  for (const auto each : numbers) all.add(each);
  return all;
}

/// As long as nothing is recent.
void settle_others(settled_runs& all) {
  for (std::uint64_t i = 0; i < settled_runs::recent_settlements; ++i) all.count_settlement();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(settled_numbers)

BOOST_AUTO_TEST_CASE(ranges_are_joined_when_the_number_between_them_is_settled) {
  auto all = run_of({3, 1, 6, 4});
  BOOST_TEST(all.to_text() == "1,3-4,6");
  all.add(5);
  BOOST_TEST(all.to_text() == "1,3-6");
  all.add(2);
  all.add(2);
  BOOST_TEST(all.to_text() == "1-6");
  BOOST_TEST(all.has(6));
  BOOST_TEST(!all.has(7));
  BOOST_TEST(!all.has(0));
}

BOOST_AUTO_TEST_CASE(the_smallest_and_the_largest_number_are_numbers_like_others) {
  auto all = run_of({largest_settled, 1, largest_settled - 2});
  BOOST_TEST(all.to_text() == "1,18446744073709551613,18446744073709551615");
  all.add(largest_settled - 1);
  BOOST_TEST(all.to_text() == "1,18446744073709551613-18446744073709551615");
  BOOST_TEST(all.has(largest_settled));
  all.add(0);
  BOOST_TEST(!all.has(0));
  const auto again = settled_run::parse(all.to_text());
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->to_text() == all.to_text());
}

BOOST_AUTO_TEST_CASE(of_too_many_ranges_the_lowest_is_forgotten_and_no_other_number_becomes_settled) {
  settled_run all;
  for (std::uint64_t i = 1; i <= settled_run::most_ranges; ++i) all.add(2 * i);
  BOOST_TEST(all.has(2));
  all.add(2 * settled_run::most_ranges + 2);
  BOOST_TEST(!all.has(2));
  BOOST_TEST(all.has(4));
  BOOST_TEST(!all.has(3));
  BOOST_TEST(all.count_ranges() == settled_run::most_ranges);
  BOOST_TEST(settled_run::parse(all.to_text()).has_value());
}

BOOST_AUTO_TEST_CASE(a_range_takes_in_what_it_touches) {
  auto all = run_of({3, 7, 12, 20});
  all.add(9, 10);
  BOOST_TEST(all.to_text() == "3,7,9-10,12,20");
  all.add(4, 6);
  BOOST_TEST(all.to_text() == "3-7,9-10,12,20");
  all.add(5, 15);
  BOOST_TEST(all.to_text() == "3-15,20");
  all.add(8, 9);
  BOOST_TEST(all.to_text() == "3-15,20");
  all.add(1, largest_settled);
  BOOST_TEST(all.to_text() == "1-18446744073709551615");
  all.add(0, 5);
  all.add(5, 4);
  BOOST_TEST(all.to_text() == "1-18446744073709551615");
}

BOOST_AUTO_TEST_CASE(ranges_do_as_a_set_of_numbers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    settled_run all;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 30; ++step) {
      const auto first = 1 + random() % 40, last = first + random() % 5;
      all.add(first, last);
      for (auto i = first; i <= last; ++i) model.insert(i);
      for (std::uint64_t i = 0; i <= 46; ++i) BOOST_TEST_REQUIRE(all.has(i) == model.contains(i));
      const auto again = settled_run::parse(all.to_text());
      BOOST_TEST_REQUIRE(again.has_value());
      BOOST_TEST_REQUIRE(again->to_text() == all.to_text());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_does_as_a_set_of_numbers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    settled_run all;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 60; ++step) {
      const auto number = 1 + random() % 30;
      all.add(number);
      model.insert(number);
      for (std::uint64_t i = 0; i <= 31; ++i) BOOST_TEST_REQUIRE(all.has(i) == model.contains(i));
      const auto again = settled_run::parse(all.to_text());
      BOOST_TEST_REQUIRE(again.has_value());
      BOOST_TEST_REQUIRE(again->to_text() == all.to_text());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_removed_from_a_run_leaves_the_rest) {
  auto all = *settled_run::parse("1-29,32-39,57");
  all.remove(*settled_run::parse("1,5-8,35-40,50-60"));
  BOOST_TEST(all.to_text() == "2-4,9-29,32-34");
  all.remove(*settled_run::parse("1-100"));
  BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(a_text_that_is_written_in_another_way_is_none) {
  for (const auto* each : {"",
                           ",",
                           "0",
                           "0-3",
                           "1,",
                           ",1",
                           "1,,3",
                           "1-2,3",
                           "1-3,2",
                           "1,2",
                           "2,1",
                           "5-5",
                           "5-3",
                           "1-",
                           "-1",
                           "01",
                           "1 ",
                           "1-2-3",
                           "1-18446744073709551616",
                           "x"}) {
    BOOST_TEST(!settled_run::parse(each), each);
  }
  std::string many = "1";
  for (std::uint64_t i = 1; i < settled_run::most_ranges; ++i) many += ',' + std::to_string(2 * i + 1);
  BOOST_TEST(settled_run::parse(many).has_value());
  BOOST_TEST(!settled_run::parse(many + ",9000000").has_value());
}

BOOST_AUTO_TEST_CASE(an_epoch_has_its_own_numbers) {
  settled_runs all;
  all.add({"p", 7, 1});
  BOOST_TEST(all.has({"p", 7, 1}));
  BOOST_TEST(!all.has({"p", 8, 1}));
  BOOST_TEST(!all.has({"q", 7, 1}));
}

BOOST_AUTO_TEST_CASE(of_a_producer_the_smallest_epochs_are_forgotten_but_none_that_was_used_recently) {
  settled_runs all;
  for (std::uint64_t epoch = 1; epoch <= 6; ++epoch) all.add({"p", epoch, 1});
  BOOST_TEST(all.texts().size() == 6u);
  settle_others(all);
  all.add({"p", 2, 2});
  all.add({"q", 1, 1});
  BOOST_TEST(all.texts().size() == 7u);  // only a new epoch of the producer pushes others out
  all.add({"p", 7, 1});
  BOOST_TEST(!all.has({"p", 1, 1}));
  BOOST_TEST(all.has({"p", 2, 1}));
  for (const std::uint64_t gone : {3, 4}) BOOST_TEST(!all.has({"p", gone, 1}));
  for (const std::uint64_t kept : {5, 6, 7}) BOOST_TEST(all.has({"p", kept, 1}));
  BOOST_TEST(all.has({"q", 1, 1}));
}

BOOST_AUTO_TEST_CASE(the_producer_that_was_used_longest_ago_is_forgotten_with_all_its_epochs) {
  settled_runs all;
  const auto name_of = [](std::size_t i) { return "producer " + std::to_string(i); };
  for (std::size_t i = 0; i < settled_runs::most_producers; ++i) {
    all.add({name_of(i), 1, 1});
    all.add({name_of(i), 2, 1});
  }
  all.add({name_of(0), 1, 2});
  all.add({"one more", 1, 1});
  BOOST_TEST(all.has({name_of(1), 1, 1}));  // it was used recently
  settle_others(all);
  all.add({"and one more", 1, 1});
  BOOST_TEST(all.has({name_of(0), 2, 1}));
  for (const std::size_t gone : {1, 2}) {
    BOOST_TEST(!all.has({name_of(gone), 1, 1}));
    BOOST_TEST(!all.has({name_of(gone), 2, 1}));
  }
  BOOST_TEST(all.has({name_of(3), 1, 1}));
}

BOOST_AUTO_TEST_CASE(there_are_never_more_runs_than_the_bound) {
  settled_runs all;
  for (std::uint64_t i = 1; i < settled_runs::most_producers; ++i) {
    for (std::uint64_t epoch = 1; epoch <= settled_runs::most_epochs; ++epoch)
      all.add({"old " + std::to_string(i), epoch, 1});
  }
  settle_others(all);
  for (std::uint64_t epoch = 1; epoch <= settled_runs::recent_settlements; ++epoch) all.add({"p", epoch, 1});
  BOOST_TEST(all.texts().size() == settled_runs::most_runs);
  BOOST_TEST(!all.has({"old 1", 1, 1}));
  BOOST_TEST(all.has({"p", 1, 1}));
  BOOST_TEST(all.has({"p", settled_runs::recent_settlements, 1}));
}

// A producer that was forgotten is not taken for one whose messages have not come.
BOOST_AUTO_TEST_CASE(a_run_that_was_forgotten_for_its_bytes_may_have_been) {
  settled_runs all;
  constexpr std::uint64_t far = 1'000'000'000'000'000;
  const auto name_of = [](std::size_t i) { return "producer " + std::to_string(i); };
  all.add({name_of(0), 1, 1});
  BOOST_TEST(!all.may_have_forgotten(name_of(0)));
  for (std::size_t i = 1; all.has({name_of(0), 1, 1}) && i < 100; ++i) {
    for (std::uint64_t range = 0; range < 700; ++range) all.add({name_of(i), 1, far + 2 * range});
  }
  BOOST_TEST(!all.has({name_of(0), 1, 1}));
  BOOST_TEST(all.may_have_forgotten(name_of(0)));
}

BOOST_AUTO_TEST_CASE(there_are_never_more_ranges_than_the_bound) {
  settled_runs all;
  for (std::uint64_t i = 1; i <= settled_runs::most_ranges + 50; ++i) all.add({"p" + std::to_string(i % 20), 1, 2 * i});
  settled_runs again;
  for (const auto& each : all.texts()) BOOST_TEST_REQUIRE(again.append(each));
  BOOST_TEST(!all.has({"p1", 1, 2}));
  BOOST_TEST(all.has({"p1", 1, 2 * (settled_runs::most_ranges + 41)}));
}

BOOST_AUTO_TEST_SUITE_END()
