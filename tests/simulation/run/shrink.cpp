#include "run/shrink.hpp"

#include <numeric>

namespace zkrecipes::simulation {

std::vector<std::size_t> shrink(const plan& what, const scenario_maker& make, const violation& broken) {
  auto still_breaks = [&](const std::vector<std::size_t>& indices) {
    auto fewer = what;
    fewer.faults.clear();
    for (auto index : indices) fewer.faults.push_back(what.faults[index]);
    const auto again = simulate(fewer, make, false);
    return again.broken && again.broken->invariant == broken.invariant;
  };
  std::vector<std::size_t> kept(what.faults.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  // Leave out large pieces first, then smaller ones, then single faults until none can be left out.
  for (auto piece = (kept.size() + 1) / 2; piece > 0;) {
    bool any = false;
    for (std::size_t begin = 0; begin < kept.size();) {
      auto fewer = kept;
      const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(begin);
      fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(piece, kept.size() - begin)));
      if (still_breaks(fewer)) {
        kept = std::move(fewer);
        any = true;
      } else {
        begin += piece;
      }
    }
    if (piece > 1 || !any) piece /= 2;
  }
  return kept;
}

}  // namespace zkrecipes::simulation
