#include "line/line_spec.hpp"

namespace zkrecipes::detail {

std::optional<std::size_t> nearest_ahead(std::span<const member>, std::size_t self) {
  if (self == 0) return std::nullopt;
  return self - 1;
}

}  // namespace zkrecipes::detail
