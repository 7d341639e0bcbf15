// Memory that runs out at any allocation while the file is used: an error, and the file can be opened again.
#include <cstdlib>
#include <new>

#include "spool/file_case.hpp"

namespace {

thread_local int allocations_left = -1;  // -1: any number

void* allocate(std::size_t size) {
  if (allocations_left == 0) {
    allocations_left = -1;
    throw std::bad_alloc();
  }
  if (allocations_left > 0) --allocations_left;
  void* made = std::malloc(size == 0 ? 1 : size);
  if (!made) throw std::bad_alloc();
  return made;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new[](std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* which) noexcept { std::free(which); }
void operator delete(void* which, std::size_t) noexcept { std::free(which); }
void operator delete[](void* which) noexcept { std::free(which); }
void operator delete[](void* which, std::size_t) noexcept { std::free(which); }

using namespace zkrecipes;
using namespace zkrecipes::test;
using detail::spool_file;

BOOST_FIXTURE_TEST_SUITE(spool_memory, file_case)

BOOST_AUTO_TEST_CASE(an_allocation_that_fails_is_an_error_and_not_the_end) {
  spool_file file(settings());
  BOOST_TEST_REQUIRE(!file.open({}).error);
  BOOST_TEST_REQUIRE(!file.commit(rows(1, 3)).error);
  const auto change = rows(4, 4);
  int failures = 0;
  for (int at = 0, in_vain = 0; in_vain < 3; ++at) {
    const auto fail = [&](auto work) {
      allocations_left = at;
      const error_code error = work().error;
      allocations_left = -1;
      const bool is_good = !error || error == boost::system::errc::not_enough_memory;
      BOOST_TEST(is_good, "allocation " << at << ": " << error.message());
      failures += error ? 1 : 0;
      if (!error) return false;
      const auto again = file.open(3);
      BOOST_TEST_REQUIRE(!again.error, again.trouble);
      return true;
    };
    in_vain = 0;
    if (!fail([&] { return file.open(3); })) ++in_vain;
    if (!fail([&] { return file.load(1, 3, 1'000); })) ++in_vain;
    if (!fail([&] { return file.commit(change); })) ++in_vain;
    BOOST_TEST_REQUIRE(!file.open(3).error);
  }
  BOOST_TEST(failures > 20);
  BOOST_TEST(file.load(1, 3, 1'000).rows.size() == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
