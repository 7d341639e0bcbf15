#include "session/term_guard.hpp"

#include "session/guardian_client.hpp"

namespace zkrecipes::detail {

term_guard::~term_guard() {
  if (const auto alive = by_.lock()) alive->release(number_);
}

}  // namespace zkrecipes::detail
