// Plays scripts on the simulated and on the real ensemble, which have to agree.
#include "generate.hpp"
#include "trial.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

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

struct tally {
  std::size_t scripts = 0;
  std::size_t operations = 0;
  std::size_t differences = 0;
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

void play_all(std::vector<trial>& some, tally& so_far) {
  run(some);
  for (auto& each : some) {
    ++so_far.scripts;
    so_far.operations += requests_in(each.what);
    if (each.difference.empty()) continue;
    ++so_far.differences;
    std::cout << "# " << each.name << ": model and real ensemble disagree\n" << each.difference << std::flush;
    if (so_far.differences > 3) continue;
    const auto small = shrink(each);
    std::cout << "# shrunk; run it again with --script:\n"
              << to_text(small.what) << "# " << small.difference << std::flush;
  }
  some.clear();
}

int run_all(const wishes& asked) {
  const auto began = std::chrono::steady_clock::now();
  tally so_far;
  std::vector<trial> some;
  for (const auto& each : asked.files) some.push_back(from_file(each));
  if (!some.empty()) play_all(some, so_far);
  const auto enough = [&](std::size_t generated) {
    if (asked.scripts) return generated >= asked.scripts;
    return so_far.operations >= asked.operations;
  };
  std::size_t generated = 0;
  while (asked.files.empty() && !enough(generated)) {
    const auto seed = asked.first + generated++;
    some.push_back({"seed " + std::to_string(seed), generate(seed), seed, {}});
    if (asked.print) std::cout << to_text(some.back().what);
    if (some.size() == asked.at_once || enough(generated)) play_all(some, so_far);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  std::printf("%zu scripts, %zu operations, %zu disagreements, %.1f s\n", so_far.scripts, so_far.operations,
              so_far.differences, took.count());
  return so_far.differences ? 1 : 0;
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
