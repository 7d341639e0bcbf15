#include "queue/entry.hpp"

#include "line/line_spec.hpp"

namespace zkrecipes::detail {

bool goes_first(const entry& a, const entry& b) {
  return a.rank != b.rank ? a.rank < b.rank : before(a.sequence, b.sequence);
}

}  // namespace zkrecipes::detail
