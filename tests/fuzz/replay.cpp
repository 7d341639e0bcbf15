// Runs every target with its seeds, and with some thousands of inputs made of them, the same on every run: what the
// fuzzers have found once stays found without Clang.
//   fuzz_replay SEEDS [--mutations N] [TARGET...]      SEEDS: the folder of the files of seeds
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "mutator.hpp"
#include "seeds.hpp"
#include "target.hpp"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

struct request {
  std::string folder;
  std::size_t mutations = 3'000;
  std::set<std::string, std::less<>> only{};
};

request parse(int count, char** arguments) {
  if (count < 2) throw std::runtime_error("expected the folder of the seeds");
  request asked{arguments[1]};
  for (int i = 2; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--mutations" && i + 1 < count) {
      asked.mutations = std::stoul(arguments[++i]);
    } else if (fuzz::targets().contains(word)) {
      asked.only.emplace(word);
    } else {
      throw std::runtime_error("there is no target " + std::string(word));
    }
  }
  return asked;
}

/// A file of seeds without a target would never be read.
void require_targets(const std::string& folder) {
  for (const auto& each : std::filesystem::directory_iterator(folder))
    if (const auto name = each.path().stem().string(); !fuzz::targets().contains(name))
      throw std::runtime_error(each.path().string() + ": there is no target " + name);
}

void replay(std::string_view name, fuzz::run_target which, const request& asked) {
  const auto seeds = fuzz::read_seeds(asked.folder + "/" + std::string(name) + ".txt");
  for (const auto& each : seeds) fuzz::run(which, each);
  fuzz::mutator from(seeds, 1);
  for (std::size_t i = 0; i < asked.mutations; ++i) fuzz::run(which, from.next());
  std::cout << name << ": " << seeds.size() << " seeds, " << asked.mutations << " inputs made of them" << std::endl;
}

void die(int signal) {
  fuzz::print_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// AddressSanitizer has a handler of its own.
void print_input_of_crash() {
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback(fuzz::print_input);
  } else {
    std::signal(SIGSEGV, die);
  }
}

}  // namespace

int main(int count, char** arguments) try {
  const auto asked = parse(count, arguments);
  print_input_of_crash();
  require_targets(asked.folder);
  for (const auto& [name, which] : fuzz::targets())
    if (asked.only.empty() || asked.only.contains(name)) replay(name, which, asked);
  return 0;
} catch (const std::exception& problem) {
  std::cerr << "fuzz_replay: " << problem.what() << '\n';
  fuzz::print_input();
  return 1;
}
