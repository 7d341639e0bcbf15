// Allocations that fail where a test wants it. The program's `operator new` is replaced.
#pragma once

#include <cstddef>

namespace zkrecipes::test {

/// The `which`-th allocation (from 0) of the library from now on fails, once.
void fail_allocation(long which);
/// None fails any more. True: one has failed.
bool stop_failing();
/// The size of the allocation that fails is written there.
void record_failed_size(std::size_t& where);
/// How many allocations the library has made since `fail_allocation`.
long count_allocations();
/// Allocations count from now on, or do not: those of the simulated world are none of the library's.
void count_memory(bool on);

/// Allocations inside its scope do not count.
class uncounted {
 public:
  uncounted();
  uncounted(const uncounted&) = delete;
  ~uncounted();

 private:
  bool was_on_;
};

}  // namespace zkrecipes::test
