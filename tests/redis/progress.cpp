// What the progress in a stream keeps of what is settled behind an entry that stays open.
#include <random>
#include <set>

#include <boost/test/unit_test.hpp>

#include "redis/stream_position.hpp"

using namespace zkrecipes::detail;

namespace {

constexpr std::uint64_t count_of_entries = 3'000;

stream_id entry_at(std::uint64_t ms) { return {ms, 0}; }

std::string range_text(std::uint64_t first, std::uint64_t last) {
  const auto begin = to_string(entry_at(first));
  return '"' + (first == last ? begin : begin + ' ' + to_string(entry_at(last))) + '"';
}

/// What the position says of entries of which these are settled, and the first is not.
std::string expected_ranges(const std::set<std::uint64_t>& settled) {
  std::string text;
  for (auto each = settled.begin(); each != settled.end();) {
    const auto first = *each;
    auto last = first;
    while (++each != settled.end() && *each == last + 1) ++last;
    text += (text.empty() ? "" : ",") + range_text(first, last);
  }
  return text;
}

std::string ranges_of(const stream_progress& progress) {
  const auto text = serialize(progress.position());
  const auto begin = text.find('[');
  return begin == text.npos ? std::string() : text.substr(begin + 1, text.find(']') - begin - 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_progresses)

BOOST_AUTO_TEST_CASE(one_entry_that_stays_open_costs_no_more_however_much_is_settled_behind_it) {
  stream_progress progress;
  progress.open(entry_at(1));
  for (std::uint64_t i = 2; i <= 100'000; ++i) {
    BOOST_TEST_REQUIRE(progress.open(entry_at(i)));
    progress.settle(entry_at(i));
    BOOST_TEST_REQUIRE(progress.count_kept() < 1'000u);
  }
  BOOST_TEST(ranges_of(progress) == range_text(2, 100'000));
  BOOST_TEST(progress.count_open() == 1u);
  BOOST_TEST((progress.farthest() == entry_at(100'000)));
  progress.settle(entry_at(1));
  BOOST_TEST(progress.count_kept() == 0u);
  BOOST_TEST((progress.last() == entry_at(100'000)));
}

BOOST_AUTO_TEST_CASE(what_a_term_before_has_settled_is_not_kept_one_by_one_either) {
  stream_position before;
  before.ahead.emplace(entry_at(2), entry_at(50'000));
  stream_progress progress(before);
  BOOST_TEST(progress.open(entry_at(1)));
  for (std::uint64_t i = 2; i <= 50'000; ++i) {
    BOOST_TEST_REQUIRE(!progress.open(entry_at(i)));
    BOOST_TEST_REQUIRE(progress.count_kept() < 1'000u);
  }
  BOOST_TEST(progress.is_settled(entry_at(25'000)));
  BOOST_TEST(ranges_of(progress) == range_text(2, 50'000));
}

BOOST_AUTO_TEST_CASE(in_any_order_what_is_settled_is_known) {
  std::mt19937 random(23);
  for (int round = 0; round < 20; ++round) {
    stream_progress progress;
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 1; i <= count_of_entries; ++i) {
      progress.open(entry_at(i));
      if (i > 1) order.push_back(i);
    }
    std::ranges::shuffle(order, random);
    order.resize(count_of_entries - 2 - random() % 200);  // some stay open
    std::set<std::uint64_t> settled;
    for (const auto each : order) {
      progress.settle(entry_at(each));
      settled.insert(each);
      if (settled.size() % 500 == 0) BOOST_TEST_REQUIRE(ranges_of(progress) == expected_ranges(settled));
    }
    for (std::uint64_t i = 1; i <= count_of_entries; ++i) {
      BOOST_TEST_REQUIRE(progress.is_settled(entry_at(i)) == settled.contains(i), i);
    }
    BOOST_TEST(progress.count_open() == count_of_entries - settled.size());
    for (std::uint64_t i = 1; i <= count_of_entries; ++i) progress.settle(entry_at(i));
    BOOST_TEST((progress.last() == entry_at(count_of_entries)));
    BOOST_TEST(!progress.has_open());
  }
}

BOOST_AUTO_TEST_CASE(ranges_and_failed_attempts_fill_a_position_and_what_was_begun_before_is_known) {
  stream_progress progress;
  for (std::uint64_t i = 1; i <= 2 * stream_progress::most_parts; ++i) progress.open(entry_at(i));
  std::uint64_t next = 0;
  for (auto ranges = most_counted; ranges < stream_progress::most_parts; ++ranges, next += 2) {
    BOOST_TEST_REQUIRE(!progress.is_full());
    progress.fail(entry_at(next + 1), 5);
    progress.settle(entry_at(next + 2));
  }
  BOOST_TEST(progress.is_full());
  BOOST_TEST(!progress.is_known(entry_at(1)));
  const stream_progress later(progress.position());
  BOOST_TEST(later.is_full());
  BOOST_TEST(later.is_known(entry_at(next)));
  BOOST_TEST(!later.is_known(entry_at(next + 1)));
  progress.settle(entry_at(1));
  BOOST_TEST(!progress.is_full());
}

/// With the longest ids, and besides effects of 256 KiB, it stays below what a server takes.
BOOST_AUTO_TEST_CASE(a_full_position_fits_into_a_request) {
  constexpr std::uint64_t great = 18'000'000'000'000'000'000u;
  stream_progress progress;
  for (std::uint64_t i = 1; i <= 3 * stream_progress::most_parts; ++i) progress.open({great, great + i});
  for (std::uint64_t i = 1; !progress.is_full(); i += 3) {
    progress.fail({great, great + i}, 1'700'000'000'000);
    progress.settle({great, great + i + 1});
    progress.settle({great, great + i + 2});
  }
  BOOST_TEST(serialize(progress.position()).size() < 100u * 1'024);
}

BOOST_AUTO_TEST_SUITE_END()
