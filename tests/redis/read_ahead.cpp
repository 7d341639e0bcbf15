// How much readers of streams read ahead.
#include "delivery/read_ahead.hpp"

#include <deque>
#include <memory>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::detail;

namespace {

constexpr std::size_t most_entries = 1'000;

struct readers_case {
  readers_case() { add(); }
  read_ahead& add() {
    auto& made = all.emplace_back(share, most_entries);
    made.start();
    return made;
  }
  /// The broker has as many entries of this size as are asked for. Returns how many were read.
  static std::size_t read(read_ahead& by, std::size_t bytes) {
    const auto count = by.room();
    by.on_answer(count, count * bytes);
    return count;
  }

  std::shared_ptr<read_share> share = std::make_shared<read_share>();
  std::deque<read_ahead> all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_read_ahead, readers_case)

BOOST_AUTO_TEST_CASE(small_entries_are_read_as_the_option_says) {
  BOOST_TEST(read(all[0], 100) == 16u);  // their size is not known yet
  BOOST_TEST(read(all[0], 100) == most_entries);
}

// 256 shards of one process, with entries of 20 KB.
BOOST_AUTO_TEST_CASE(what_waits_is_bounded_by_bytes) {
  constexpr std::size_t entry = 20'000;
  while (all.size() < 256) add();
  for (auto& each : all) read(each, entry);
  std::size_t entries = 256 * 16;
  for (int rounds = 0; rounds < 5; ++rounds) {
    for (auto& each : all) entries += read(each, entry);
  }
  BOOST_TEST(entries * entry <= 2 * read_share::most_bytes);
}

BOOST_AUTO_TEST_CASE(what_was_handed_out_makes_room) {
  auto& by = all[0];
  read(by, read_share::most_bytes / 16);
  BOOST_TEST(by.room() == 0u);
  by.on_taken(read_share::most_bytes / 2);
  BOOST_TEST(by.room() == 8u);
  by.on_taken(read_share::most_bytes);
  BOOST_TEST(by.room() == 16u);
}

BOOST_AUTO_TEST_CASE(an_entry_that_is_larger_than_the_share_is_read_alone) {
  auto& by = all[0];
  by.on_answer(1, 2 * read_share::most_bytes);
  BOOST_TEST(by.room() == 0u);
  by.on_taken(2 * read_share::most_bytes);
  BOOST_TEST(by.room() == 1u);
}

BOOST_AUTO_TEST_CASE(who_reads_no_more_leaves_its_part_to_the_others) {
  add();
  BOOST_TEST(share->bytes() == read_share::most_bytes / 2);
  all.pop_back();
  BOOST_TEST(share->bytes() == read_share::most_bytes);
  all[0].stop();
  all[0].stop();
  all[0].start();
  all[0].start();
  BOOST_TEST(share->bytes() == read_share::most_bytes);
}

BOOST_AUTO_TEST_SUITE_END()
