#include "trial.hpp"

#include "play.hpp"

#include <algorithm>
#include <atomic>
#include <memory>

namespace zkrecipes::conformance {

namespace {

transcript on_the_model(const trial& each) {
  auto side = simulated(real_leader(), each.seed);
  play one(each.what, *side, "/t");
  side->run_until([&] { return one.advance(); });
  return one.take();
}

std::string next_root() {
  static int number = 0;
  return "/t" + std::to_string(++number);
}

}  // namespace

void run(std::vector<trial>& all) {
  std::vector<std::unique_ptr<play>> plays;
  for (const auto& each : all) plays.push_back(std::make_unique<play>(each.what, real(), next_root()));
  real().run_until([&] {
    return std::count_if(plays.begin(), plays.end(), [](auto& each) { return !each->advance(); }) == 0;
  });
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i].difference = difference(all[i].what, on_the_model(all[i]), plays[i]->take());
}

trial shrink(trial failed) {
  for (std::size_t part = std::max<std::size_t>(failed.what.size() / 2, 1); part > 0; part /= 2) {
    for (std::size_t from = 0; from < failed.what.size();) {
      auto fewer = failed;
      const auto first = fewer.what.begin() + static_cast<std::ptrdiff_t>(from);
      fewer.what.erase(first, first + static_cast<std::ptrdiff_t>(std::min(part, fewer.what.size() - from)));
      std::vector<trial> again{std::move(fewer)};
      run(again);
      if (again.front().difference.empty()) {
        from += part;
      } else {
        failed = std::move(again.front());
      }
    }
  }
  return failed;
}

}  // namespace zkrecipes::conformance
