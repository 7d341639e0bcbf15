#include "operations/failing_memory.hpp"

#include <cstdlib>
#include <new>
#include <utility>

namespace {

constexpr long none = -1;
bool is_counting = false;
long count = 0;
long failing = none;
bool has_failed = false;
std::size_t* size_of_failure = nullptr;

bool fails(std::size_t size) {
  if (is_counting && count++ == failing) {
    has_failed = true;
    if (size_of_failure) *size_of_failure = size;
    return true;
  }
  return false;
}

void* allocate(std::size_t size) {
  if (fails(size)) throw std::bad_alloc();
  if (void* got = std::malloc(size ? size : 1)) return got;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

namespace zkrecipes::test {

void fail_allocation(long which) {
  count = 0;
  failing = which;
  has_failed = false;
}

bool stop_failing() {
  failing = none;
  return std::exchange(has_failed, false);
}

void record_failed_size(std::size_t& where) { size_of_failure = &where; }

long count_allocations() { return count; }

void count_memory(bool on) { is_counting = on; }

uncounted::uncounted() : was_on_(std::exchange(is_counting, false)) {}
uncounted::~uncounted() { is_counting = was_on_; }

}  // namespace zkrecipes::test
