// What a gate allocates at steady state: nothing. The sanitizers have operators of their own, so they are without this.
#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "unit/gate_case.hpp"

namespace {

thread_local std::size_t allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (void* made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  if (void* made = std::aligned_alloc(unit, (size + unit - 1) / unit * unit)) return made;
  throw std::bad_alloc();
}
void operator delete(void* which) noexcept { std::free(which); }
void operator delete(void* which, std::size_t) noexcept { std::free(which); }
void operator delete(void* which, std::align_val_t) noexcept { std::free(which); }
void operator delete(void* which, std::size_t, std::align_val_t) noexcept { std::free(which); }

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(gate_allocations, entering)

BOOST_AUTO_TEST_CASE(enter_and_leave_allocate_nothing_once_as_many_keys_were_there) {
  auto g = make_gate();
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back("key of more than fifteen bytes " + std::to_string(i));
  std::vector<std::optional<gate_pass>> passes(keys.size());
  std::size_t before = 0;
  for (int round = 0; round < 100; ++round) {
    if (round == 1) before = allocations;
    for (std::size_t i = 0; i < keys.size(); ++i) passes[i] = g.try_enter(keys[i]);
    for (std::size_t i = 0; i < keys.size(); ++i) passes[i * 7 % keys.size()].reset();
  }
  BOOST_TEST(allocations - before == 0u);
  BOOST_TEST(g.statistics().accepted == 100'000u);
}

BOOST_AUTO_TEST_SUITE_END()
