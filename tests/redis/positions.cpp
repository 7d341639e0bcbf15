// Ids, positions and the progress in a stream.
#include <random>
#include <set>

#include <boost/test/unit_test.hpp>

#include "redis/stream_position.hpp"

using namespace zkrecipes::detail;

namespace {

stream_id at(std::uint64_t ms, std::uint64_t sequence = 0) { return {ms, sequence}; }

std::string text_of(const stream_progress& progress) {
  const auto text = serialize(progress.position());
  return text.substr(text.find(',') + 1);
}

stream_position stored(const std::string& fields) {
  const auto read = parse_stream_position("{\"zkrecipes\":\"stream_position\"," + fields + "}");
  BOOST_TEST_REQUIRE(read.has_value(), fields);
  return *read;
}

bool is_refused(const std::string& fields) {
  return !parse_stream_position("{\"zkrecipes\":\"stream_position\"," + fields + "}");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stream_positions)

BOOST_AUTO_TEST_CASE(an_id_is_read_as_redis_writes_it) {
  BOOST_TEST(to_string(at(1700000000000, 3)) == "1700000000000-3");
  BOOST_TEST((parse_stream_id("1700000000000-3") == at(1700000000000, 3)));
  BOOST_TEST((parse_stream_id("0-0") == stream_id()));
  BOOST_TEST((parse_stream_id("18446744073709551615-18446744073709551615") == at(~0ull, ~0ull)));
  for (const auto* each :
       {"", "-", "5", "5-", "-5", "05-1", "5-01", "5-1-2", "5-x", "+5-1", " 5-1", "5-1 ", "18446744073709551616-0"}) {
    BOOST_TEST(!parse_stream_id(each).has_value(), each);
  }
}

BOOST_AUTO_TEST_CASE(ids_grow_as_numbers_and_not_as_texts) {
  BOOST_TEST((at(9, 9) < at(10, 0)));
  BOOST_TEST((at(10, 9) < at(10, 10)));
}

BOOST_AUTO_TEST_CASE(settled_in_order_only_the_last_entry_is_stored) {
  stream_progress progress;
  for (const auto id : {at(5), at(5, 1), at(9)}) BOOST_TEST(progress.open(id));
  progress.settle(at(5));
  BOOST_TEST(text_of(progress) == "\"last\":\"5-0\"}");
  progress.settle(at(5, 1));
  progress.settle(at(9));
  BOOST_TEST(text_of(progress) == "\"last\":\"9-0\"}");
}

BOOST_AUTO_TEST_CASE(what_is_settled_ahead_is_kept_as_ranges_until_the_gap_is_closed) {
  stream_progress progress;
  for (std::uint64_t i = 1; i <= 9; ++i) progress.open(at(i * 10));
  for (const std::uint64_t i : {2, 3, 5, 8, 9}) progress.settle(at(i * 10));
  BOOST_TEST(text_of(progress) == "\"last\":\"0-0\",\"ahead\":[\"20-0 30-0\",\"50-0\",\"80-0 90-0\"]}");
  progress.settle(at(10));
  BOOST_TEST(text_of(progress) == "\"last\":\"30-0\",\"ahead\":[\"50-0\",\"80-0 90-0\"]}");
}

BOOST_AUTO_TEST_CASE(the_next_term_opens_only_what_is_not_settled) {
  stream_progress next(stored("\"last\":\"30-0\",\"ahead\":[\"50-0\",\"80-0 90-0\"]"));
  std::vector<std::uint64_t> opened;
  for (const std::uint64_t i : {4, 5, 6, 7, 8, 9, 10}) {
    if (next.open(at(i * 10))) opened.push_back(i);
  }
  BOOST_TEST(opened == std::vector<std::uint64_t>({4, 6, 7, 10}), boost::test_tools::per_element());
  for (const std::uint64_t i : {4, 6, 7}) next.settle(at(i * 10));
  BOOST_TEST(text_of(next) == "\"last\":\"90-0\"}");
}

BOOST_AUTO_TEST_CASE(a_range_that_was_read_in_part_stays_whole) {
  stream_progress next(stored("\"last\":\"30-0\",\"ahead\":[\"50-0 90-0\"]"));
  BOOST_TEST(next.open(at(40)));
  BOOST_TEST(!next.open(at(50)));
  BOOST_TEST(!next.open(at(60)));
  const auto again = stored(text_of(next).substr(0, text_of(next).size() - 1));
  for (const std::uint64_t i : {50, 60, 70, 80, 90}) BOOST_TEST(again.is_settled(at(i)), i);
  BOOST_TEST(!again.is_settled(at(40)));
  BOOST_TEST(!again.is_settled(at(91)));
}

BOOST_AUTO_TEST_CASE(entries_that_were_deleted_leave_nothing_behind) {
  stream_progress next(stored("\"last\":\"30-0\",\"ahead\":[\"50-0 60-0\"],\"failed\":[\"40-0 2 1700000000000\"]"));
  BOOST_TEST(next.open(at(70)));  // 40 to 60 are not in the stream any more
  next.settle(at(70));
  BOOST_TEST(text_of(next) == "\"last\":\"70-0\"}");
}

BOOST_AUTO_TEST_CASE(failed_attempts_are_stored_until_the_entry_is_settled) {
  stream_progress progress;
  progress.open(at(5));
  progress.fail(at(5), 1'700'000'000'000);
  progress.fail(at(5), 1'800'000'000'000);
  BOOST_TEST(text_of(progress) == "\"last\":\"0-0\",\"failed\":[\"5-0 2 1700000000000\"]}");
  stream_progress next(progress.position());
  BOOST_TEST(next.failed(at(5)).count == 2);
  BOOST_TEST(next.failed(at(5)).since == 1'700'000'000'000);
  next.open(at(5));
  next.settle(at(5));
  BOOST_TEST(text_of(next) == "\"last\":\"5-0\"}");
}

BOOST_AUTO_TEST_CASE(fields_of_a_later_version_are_kept) {
  const auto read = stored("\"last\":\"5-0\",\"colour\":{\"x\":[1]}");
  BOOST_TEST(serialize(read) == "{\"zkrecipes\":\"stream_position\",\"last\":\"5-0\",\"colour\":{\"x\":[1]}}");
}

BOOST_AUTO_TEST_CASE(what_is_no_position_is_refused) {
  BOOST_TEST(!parse_stream_position(""));
  BOOST_TEST(!parse_stream_position("{}"));
  BOOST_TEST(!parse_stream_position("{\"zkrecipes\":\"position\",\"last\":\"5-0\"}"));
  BOOST_TEST(is_refused("\"first\":\"5-0\""));
  BOOST_TEST(is_refused("\"last\":5"));
  BOOST_TEST(is_refused("\"last\":\"5\""));
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"ahead\":\"6-0\""));
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"ahead\":[\"5-0\"]"));                   // not ahead
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"ahead\":[\"9-0 8-0\"]"));               // not a range
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"ahead\":[\"9-0\",\"7-0\"]"));           // not in order
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"ahead\":[\"7-0 9-0\",\"8-0 10-0\"]"));  // they overlap
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"failed\":[\"7-0 2\"]"));
  BOOST_TEST(is_refused("\"last\":\"5-0\",\"failed\":[\"7 2 1\"]"));
}

BOOST_AUTO_TEST_CASE(going_back_forgets_what_was_behind_the_end) {
  stream_progress progress(
      stored("\"last\":\"30-0\",\"ahead\":[\"50-0 60-0\"],\"failed\":[\"40-0 1 5\",\"70-0 1 5\"]"));
  BOOST_TEST((progress.farthest() == at(60)));
  progress.fall_back(at(55));
  BOOST_TEST(text_of(progress) == "\"last\":\"30-0\",\"ahead\":[\"50-0 55-0\"],\"failed\":[\"40-0 1 5\"]}");
  progress.fall_back(at(20));
  BOOST_TEST(text_of(progress) == "\"last\":\"20-0\"}");
  BOOST_TEST(progress.open(at(25)));
}

/// Terms follow each other, each from what the one before has stored. Each entry is settled once, and none is missing.
BOOST_AUTO_TEST_CASE(whatever_the_order_each_entry_is_opened_until_it_is_settled) {
  std::mt19937 random(17);
  for (int round = 0; round < 300; ++round) {
    std::vector<stream_id> stream;
    for (std::uint64_t i = 1; i <= 40; ++i) stream.push_back(at(i / 3, i % 3 + random() % 2 * 3));
    std::ranges::sort(stream);
    stream.erase(std::unique(stream.begin(), stream.end()), stream.end());
    std::multiset<stream_id> settled;
    std::string text = serialize(stream_position());
    while (settled.size() < stream.size()) {
      const auto read = parse_stream_position(text);
      BOOST_TEST_REQUIRE(read.has_value(), text);
      stream_progress progress(*read);
      std::vector<stream_id> open;
      const auto from = std::ranges::upper_bound(stream, read->last) - stream.begin();
      const auto count = static_cast<std::size_t>(from) + 1 + random() % 20;
      for (auto i = static_cast<std::size_t>(from); i < std::min(count, stream.size()); ++i) {
        const bool is_open = progress.open(stream[i]);
        BOOST_TEST_REQUIRE(is_open == !settled.contains(stream[i]), text + ": " + to_string(stream[i]));
        if (is_open) open.push_back(stream[i]);
      }
      std::ranges::shuffle(open, random);
      open.resize(random() % (open.size() + 1));
      for (const auto& each : open) progress.settle(each), settled.insert(each);
      text = serialize(progress.position());
    }
    for (const auto& each : stream) BOOST_TEST_REQUIRE(settled.count(each) == 1u);
    BOOST_TEST((parse_stream_position(text)->is_settled(stream.back())));
  }
}

BOOST_AUTO_TEST_SUITE_END()

// What the progress in a stream keeps of what is settled behind an entry that stays open.

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
