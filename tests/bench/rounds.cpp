#include "rounds.hpp"

#include <algorithm>
#include <cstddef>

namespace bench {

figure summary(std::vector<double> samples) {
  if (samples.empty()) return {};
  std::sort(samples.begin(), samples.end());
  const double median = samples[samples.size() / 2];
  return {median, median > 0 ? (samples.back() - samples.front()) / median : 0};
}

row measure_in_turns(const std::string& line, const std::string& unit, const std::vector<contestant>& all, int rounds) {
  std::vector<std::vector<double>> samples(all.size());
  for (int round = -1; round < rounds; ++round) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto turn = (i + static_cast<std::size_t>(round + 1)) % all.size();
      const auto sample = all[turn].round(line);
      if (sample && round >= 0) samples[turn].push_back(*sample);
    }
  }
  row result{line, unit};
  for (std::size_t i = 0; i < all.size(); ++i) result.*all[i].column = summary(std::move(samples[i]));
  return result;
}

}  // namespace bench
