// Plays scripts on the simulated and on the real ensemble, and checks that both agree.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "generate.hpp"
#include "play.hpp"
#include "script.hpp"

namespace zkrecipes::conformance {

// Plays scripts on both sides.

struct trial {
  std::string name;
  script what;
  std::uint64_t seed = 0;  ///< Decides the delays of the simulated ensemble.
  std::string difference;  ///< The outcome; empty if both sides agree.
};

/// Plays all of them, at most `at_once` at the same time.
void run(std::vector<trial>& all, std::size_t at_once);

/// Leaves out steps of the script as long as the sides still disagree.
trial shrink(trial failed);

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

namespace {

using namespace zkrecipes::conformance;

struct wishes {
  std::uint64_t first = 1;
  std::uint64_t scripts = 0;
  std::size_t operations = 20'000;
  std::size_t at_once = 32;
  std::vector<std::string> files;
  bool print = false;
};

trial from_file(const std::string& name) {
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("can not read " + name);
  try {
    return {std::filesystem::path(name).stem().string(), parse(text.str()), 1, {}};
  } catch (const std::invalid_argument& why) {
    throw std::runtime_error(name + ", " + why.what());
  }
}

std::vector<trial> to_play(const wishes& asked) {
  std::vector<trial> all;
  for (const auto& each : asked.files) all.push_back(from_file(each));
  if (!asked.files.empty()) return all;
  std::size_t operations = 0;
  for (auto seed = asked.first; asked.scripts ? all.size() < asked.scripts : operations < asked.operations; ++seed) {
    all.push_back({"seed " + std::to_string(seed), generate(seed), seed, {}});
    operations += requests_in(all.back().what);
  }
  return all;
}

void report(const trial& failed, bool shrunk) {
  std::cout << "# " << failed.name << ": model and real ensemble disagree\n" << failed.difference << std::flush;
  if (!shrunk) return;
  const auto small = shrink(failed);
  std::cout << "# shrunk; run it again with --script:\n"
            << to_text(small.what) << "# " << small.difference << std::flush;
}

int run_all(const wishes& asked) {
  static constexpr int max_shrunk = 3;
  auto all = to_play(asked);
  const auto began = std::chrono::steady_clock::now();
  run(all, asked.at_once);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::size_t operations = 0;
  int differences = 0;
  for (const auto& each : all) {
    operations += requests_in(each.what);
    if (asked.print) std::cout << "# " << each.name << '\n' << to_text(each.what);
    if (!each.difference.empty()) report(each, ++differences <= max_shrunk);
  }
  std::printf("%zu scripts, %zu operations, %d disagreements, %.1f s\n", all.size(), operations, differences,
              took.count());
  return differences ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Plays generated scripts, or those given, on the simulated and on the real ensemble and compares.",
               "zkrecipes-conform");
  wishes asked;
  app.add_option("--operations", asked.operations, "How many requests to generate at least")->capture_default_str();
  app.add_option("--seeds", asked.scripts, "How many scripts to generate instead");
  app.add_option("--first", asked.first, "Seed of the first")->capture_default_str();
  auto* single = app.add_option("--seed", asked.first, "Play the script of this seed only");
  app.add_option("--script", asked.files, "Play these files instead");
  app.add_option("--at-once", asked.at_once, "Scripts played at the same time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_flag("--print", asked.print, "Print the generated scripts");
  CLI11_PARSE(app, argc, argv);
  if (single->count() > 0) asked.scripts = 1;
  try {
    return run_all(asked);
  } catch (const std::exception& why) {
    std::cerr << "zkrecipes-conform: " << why.what() << '\n';
    return 2;
  }
}
