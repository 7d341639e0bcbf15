// The real world's clock and random numbers.
#include <set>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/random_generator.hpp"
#include "backend/zookeeper/real_world.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::backend;
using namespace zkrecipes::test;

BOOST_AUTO_TEST_SUITE(worlds)

BOOST_AUTO_TEST_CASE(all_of_the_seed_counts) {
  std::size_t drawn = 0;
  make_generator([&] { return static_cast<std::uint32_t>(++drawn); });
  BOOST_TEST(drawn * 32 >= 128u);  // as many bits as a GUID has
  std::set<std::pair<std::uint64_t, std::uint64_t>> guids;
  for (std::size_t flipped = 0; flipped < drawn * 32; ++flipped) {
    std::size_t word = 0;
    auto generator = make_generator([&] { return word++ == flipped / 32 ? 1u << flipped % 32 : 0u; });
    const auto first = generator();
    guids.emplace(first, generator());
  }
  BOOST_TEST(guids.size() == drawn * 32);
}

BOOST_AUTO_TEST_CASE(a_time_that_has_long_passed_is_now) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  bool called = false;
  world->call_at(lease_clock::time_point::min(), [&] { called = true; });
  BOOST_TEST(run_until(io, [&] { return called; }));
}

BOOST_AUTO_TEST_SUITE_END()
