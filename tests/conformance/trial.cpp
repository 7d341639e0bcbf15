#include "trial.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "play.hpp"

namespace zkrecipes::conformance {

namespace {

transcript on_the_model(const trial& each) {
  auto side = simulated(real().leader(), each.seed);
  play one(each.what, *side, "/t");
  side->run_until([&] { return one.advance(); });
  return one.take();
}

std::string next_root() {
  static int number = 0;
  return "/t" + std::to_string(++number);
}

}  // namespace

void run(std::vector<trial>& all, std::size_t at_once) {
  std::vector<std::pair<trial*, std::unique_ptr<play>>> under_way;
  auto finish = [](auto& each) {
    each.first->difference = difference(each.first->what, on_the_model(*each.first), each.second->take());
  };
  auto advance = [&] {
    const auto count = std::erase_if(under_way, [&](auto& each) {
      const bool ended = each.second->advance();
      if (ended) finish(each);
      return ended;
    });
    return count > 0;
  };
  for (auto next = all.begin(); next != all.end() || !under_way.empty();) {
    for (; next != all.end() && under_way.size() < at_once; ++next)
      under_way.emplace_back(&*next, std::make_unique<play>(next->what, real(), next_root()));
    if (real().run_until(advance)) continue;
    for (auto& each : under_way) finish(each);
    under_way.clear();
  }
}

trial shrink(trial failed) {
  for (std::size_t part = std::max<std::size_t>(failed.what.size() / 2, 1); part > 0; part /= 2) {
    for (std::size_t from = 0; from < failed.what.size();) {
      auto fewer = failed;
      const auto first = fewer.what.begin() + static_cast<std::ptrdiff_t>(from);
      fewer.what.erase(first, first + static_cast<std::ptrdiff_t>(std::min(part, fewer.what.size() - from)));
      std::vector<trial> again{std::move(fewer)};
      run(again, 1);
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
