// Sets of shards and their text.
#include "shards/shard_set.hpp"

#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::detail;

namespace {

std::vector<std::uint32_t> shards_in(const shard_set& all) { return {all.begin(), all.end()}; }

shard_set shards_of(const std::vector<std::uint32_t>& shards) {
  shard_set made;
  for (auto each : shards) made.insert(each);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shard_sets)

BOOST_AUTO_TEST_CASE(a_text_has_ranges_in_ascending_order) {
  BOOST_TEST(shards_of({}).to_text() == "");
  BOOST_TEST(shards_of({9, 2, 1, 0, 3}).to_text() == "0-3,9");
  BOOST_TEST(shards_of({4, 5}).to_text() == "4-5");
  BOOST_TEST(shards_of({0, 2, 4, 9999}).to_text() == "0,2,4,9999");
  BOOST_TEST(shards_of({9998, 9999}).to_text() == "9998-9999");
}

BOOST_AUTO_TEST_CASE(a_text_is_read) {
  const auto read = shard_set::parse("0-3,9");
  BOOST_REQUIRE(read);
  BOOST_TEST(shards_in(*read) == (std::vector<std::uint32_t>{0, 1, 2, 3, 9}));
  BOOST_TEST(shard_set::parse("")->empty());
  BOOST_TEST(shard_set::parse("0-9999")->size() == 10'000u);
}

BOOST_AUTO_TEST_CASE(other_spellings_of_a_set_are_read) {
  BOOST_TEST(shard_set::parse("0,1,2-3")->to_text() == "0-3");
  BOOST_TEST(shard_set::parse("7-7")->to_text() == "7");
  BOOST_TEST(shard_set::parse("0007")->to_text() == "7");
}

BOOST_AUTO_TEST_CASE(what_is_no_set_of_shards_is_refused) {
  for (const auto* each :
       {"3,1", "3-1", "0-3,3", "0-3,2-5", "1,1", "10000", "0-10000", "00007", "99999999999999999999"})
    BOOST_TEST(!shard_set::parse(each), each);
  for (const auto* each :
       {",", "1,", ",1", "1,,2", "-", "1-", "-1", "1-2-3", " 1", "1 ", "1, 2", "+1", "a", "0x1", "1.5"})
    BOOST_TEST(!shard_set::parse(each), each);
  BOOST_TEST(!shard_set::parse(std::string_view("1\0", 2)));
}

BOOST_AUTO_TEST_CASE(shards_are_added_and_removed) {
  auto all = shards_of({5, 3, 5});
  BOOST_TEST(all.size() == 2u);
  BOOST_TEST(all.contains(3));
  all.erase(3);
  all.erase(3);
  BOOST_TEST(!all.contains(3));
  BOOST_TEST(shards_in(all) == std::vector<std::uint32_t>{5});
  BOOST_TEST((all == shards_of({5})));
  BOOST_TEST((all != shards_of({6})));
  all.erase(5);
  BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(each_set_is_read_from_its_text) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    shard_set all;
    const auto end = 1 + random() % 40;
    for (auto left = random() % 40; left > 0; --left) all.insert(static_cast<std::uint32_t>(random() % end));
    const auto read = shard_set::parse(all.to_text());
    BOOST_REQUIRE_MESSAGE(read && *read == all, all.to_text());
  }
}

BOOST_AUTO_TEST_SUITE_END()
