#include "backend/zookeeper/random_generator.hpp"

#include <array>

namespace zkrecipes::backend {

std::mt19937_64 make_generator(const std::function<std::uint32_t()>& draw) {
  std::array<std::uint32_t, 8> words;  // twice the bits of a GUID, because mixing loses a few
  for (auto& each : words) each = draw();
  std::seed_seq seed(words.begin(), words.end());
  return std::mt19937_64(seed);
}

}  // namespace zkrecipes::backend
