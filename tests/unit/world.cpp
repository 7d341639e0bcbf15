// The real world's clock and random numbers.
#include <cstdlib>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/real_world.hpp"
#include "support/coroutine.hpp"
#include "unit/no_memory.hpp"

using namespace zkrecipes;
using namespace zkrecipes::backend;
using namespace zkrecipes::test;

namespace {

thread_local int failures_to_come = 0;

}  // namespace

/// Asio takes the memory of its operations from here.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  if (failures_to_come > 0) return --failures_to_come, nullptr;
  void* got = nullptr;
  return posix_memalign(&got, alignment, size) == 0 ? got : nullptr;
}

namespace zkrecipes::test {

no_memory::no_memory(int failures) { failures_to_come = failures; }
no_memory::~no_memory() { failures_to_come = 0; }

}  // namespace zkrecipes::test

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

BOOST_AUTO_TEST_CASE(timers_run_out_in_the_order_of_their_times) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  const auto now = world->now();
  std::vector<int> called;
  world->call_at(now + 20ms, [&] { called.push_back(3); });
  world->call_at(now + 10ms, [&] { called.push_back(2); });
  world->call_at(now, [&] { called.push_back(1); });
  world->call_at(now + 20ms, [&] { called.push_back(4); });
  BOOST_TEST(run_until(io, [&] { return called.size() == 4; }));
  BOOST_TEST(called == (std::vector{1, 2, 3, 4}), boost::test_tools::per_element());
  BOOST_TEST((world->now() - now >= 20ms));
}

BOOST_AUTO_TEST_CASE(a_timer_is_not_called_early_because_an_earlier_one_was_cancelled) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  const auto now = world->now();
  bool called = false;
  const auto earlier = world->call_at(now + 1ms, [] { BOOST_ERROR("a cancelled timer was called"); });
  world->call_at(now + 30ms, [&] { called = true; });
  world->cancel(earlier);
  BOOST_TEST(run_until(io, [&] { return called; }));
  BOOST_TEST((world->now() - now >= 30ms));
}

BOOST_AUTO_TEST_CASE(a_context_does_not_wait_for_timers_that_were_cancelled) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  const auto first = world->call_at(world->now() + 1h, [] {});
  const auto second = world->call_at(world->now() + 2h, [] {});
  world->cancel(second);
  world->cancel(first);
  world->cancel(first);  // it is known no more
  io.run();              // returns
  BOOST_TEST(io.stopped());
}

BOOST_AUTO_TEST_CASE(a_timer_runs_out_also_if_there_was_no_memory_for_an_earlier_one) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  bool called = false;
  world->call_at(world->now() + 20ms, [&] { called = true; });
  {
    const no_memory now(1);
    BOOST_CHECK_THROW(world->call_at(world->now() + 1ms, [] { BOOST_ERROR("it was not set"); }), std::bad_alloc);
  }
  BOOST_TEST(run_until(io, [&] { return called; }));
}

BOOST_AUTO_TEST_CASE(a_timer_may_set_and_cancel_others) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  const auto now = world->now();
  bool called = false;
  timer_id doomed = 0;
  world->call_at(now, [&] {
    world->cancel(doomed);
    world->call_at(now, [&] { called = true; });
  });
  doomed = world->call_at(now, [] { BOOST_ERROR("a cancelled timer was called"); });
  BOOST_TEST(run_until(io, [&] { return called; }));
}

BOOST_AUTO_TEST_CASE(an_exception_of_a_timer_leaves_the_others_alone) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  bool called = false;
  world->call_at(world->now(), [] { throw std::runtime_error("of a timer"); });
  world->call_at(world->now() + 1ms, [&] { called = true; });
  BOOST_CHECK_THROW(run_until(io, [&] { return called; }), std::runtime_error);
  BOOST_TEST(run_until(io, [&] { return called; }));
}

BOOST_AUTO_TEST_CASE(a_timer_may_end_the_world) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  bool called = false;
  world->call_at(world->now(), [&] {
    world.reset();
    called = true;
  });
  world->call_at(world->now(), [] { BOOST_ERROR("a timer was called behind the end of its world"); });
  BOOST_TEST(run_until(io, [&] { return called; }));
  io.restart();
  io.run();
}

BOOST_AUTO_TEST_CASE(what_a_timer_owns_may_cancel_another_one_when_the_world_ends) {
  asio::io_context io;
  auto world = make_real_world(io.get_executor());
  auto* there = world.get();
  const auto other = world->call_at(world->now() + 1h, [] {});
  bool cancelled = false;
  std::shared_ptr<void> owned(nullptr, [&](void*) {
    there->cancel(other);
    cancelled = true;
  });
  world->call_at(world->now() + 1h, [owned] {});
  owned.reset();
  BOOST_TEST(!cancelled);
  world.reset();
  BOOST_TEST(cancelled);
}

BOOST_AUTO_TEST_SUITE_END()
