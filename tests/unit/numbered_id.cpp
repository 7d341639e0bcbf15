// The ids that producers give to their messages.
#include "external/numbered_id.hpp"

#include <limits>
#include <random>
#include <string>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::detail;

BOOST_AUTO_TEST_SUITE(numbered_ids)

BOOST_AUTO_TEST_CASE(an_id_comes_back_as_it_was) {
  const auto largest = std::numeric_limits<std::uint64_t>::max();
  for (const auto& each :
       {numbered_id{"orders", 8589934601, 17}, numbered_id{"a:b", 0, 1}, numbered_id{":", 1, largest},
        numbered_id{"zkr:x:1:2", largest, 3}, numbered_id{std::string(255, 'n'), 1, 1}}) {
    const auto read = parse_numbered_id(to_string(each));
    BOOST_TEST_REQUIRE(read.has_value(), to_string(each));
    BOOST_TEST((*read == each), to_string(each));
  }
  BOOST_TEST(to_string({"orders", 7, 12}) == "zkr:orders:7:12");
}

BOOST_AUTO_TEST_CASE(what_is_written_in_another_way_is_an_id_of_somebody_else) {
  for (const auto* each : {"",
                           "zkr",
                           "zkr:",
                           "zkr::",
                           "zkr:::",
                           "zkr::1:2",
                           "zkr:p:1:0",
                           "zkr:p:1:",
                           "zkr:p::2",
                           "zkr:p:01:2",
                           "zkr:p:1:02",
                           "zkr:p:1:+2",
                           "zkr:p:1:-2",
                           "zkr:p:1: 2",
                           "zkr:p:1:2 ",
                           "zkr:p:x:2",
                           "zkr:1:2",
                           "ZKR:p:1:2",
                           " zkr:p:1:2",
                           "zkr:p:1:18446744073709551616",
                           "zkr:p:18446744073709551616:1",
                           "p:1:2"}) {
    BOOST_TEST(!parse_numbered_id(each), each);
  }
  BOOST_TEST(!parse_numbered_id("zkr:" + std::string(256, 'n') + ":1:1"));
}

BOOST_AUTO_TEST_CASE(two_texts_never_mean_the_same_message) {
  const std::string letters = "zkr:0123 -";
  std::size_t read_ones = 0;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    std::string text = "zkr:";
    for (auto length = random() % 8; length > 0; --length) text += letters[random() % letters.size()];
    const auto read = parse_numbered_id(text);
    if (!read) continue;
    ++read_ones;
    BOOST_TEST_REQUIRE(to_string(*read) == text);
  }
  BOOST_TEST(read_ones > 50u);
}

BOOST_AUTO_TEST_SUITE_END()
