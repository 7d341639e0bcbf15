#include "run/finding.hpp"

#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#include <unistd.h>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

using namespace std::chrono_literals;

namespace {

std::string minutes(std::chrono::seconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld", static_cast<long long>(time.count() / 60),
                static_cast<long long>(time.count() % 60));
  return text;
}

}  // namespace

progress_line::progress_line() : is_terminal_(isatty(STDERR_FILENO) == 1) {}

void progress_line::show(double part, const std::string& what) {
  const auto now = clock::now();
  if (!is_terminal_ || now < next_) return;
  next_ = now + 250ms;
  const auto spent = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
  std::string left = "?";
  if (part > 0 && now - began_ > 1s) {
    const auto rest = std::chrono::duration<double>(now - began_) * (1 / part - 1);
    left = minutes(std::chrono::duration_cast<std::chrono::seconds>(rest));
  }
  std::fprintf(stderr, "\r\033[K%3.0f %%  %s, for %s, %s left", part * 100, what.c_str(), minutes(spent).c_str(),
               left.c_str());
  std::fflush(stderr);
  shown_ = true;
}

void progress_line::clear() {
  if (!std::exchange(shown_, false)) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
}

// Finds out which faults of a failing run matter.

/// Indices of a minimal set of faults with which the same rule is broken: no single one of them can be left out.
std::vector<std::size_t> shrink(const plan& what, const scenario_maker& make, const violation& broken);

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

finding shrunk(plan what, const named_scenario& which, const violation& broken) {
  auto needed = shrink(what, which.make, broken);
  return {std::move(what), which.name, broken, std::move(needed)};
}

std::string again(const finding& what) {
  std::string list;
  for (auto index : what.needed) list += (list.empty() ? "" : ",") + std::to_string(index);
  return std::string("zkrecipes-simulate --scenario ") + what.scenario + " --seed " + std::to_string(what.what.seed) +
         " --faults " + (list.empty() ? "-" : list) + " --trace";
}

std::string describe(const finding& what) {
  auto text = "seed " + std::to_string(what.what.seed) + " broke \"" + what.broken.invariant +
              "\": " + what.broken.detail + "\nof its " + std::to_string(what.what.faults.size()) +
              " faults these are needed:\n";
  for (auto index : what.needed) text += "  " + std::to_string(index) + " " + to_string(what.what.faults[index]) + "\n";
  return text + "again: " + again(what) + "\n";
}

}  // namespace zkrecipes::simulation
