// Runs every target with its seeds, and with some thousands of inputs made of them, the same on every run: what the
// fuzzers have found once stays found without Clang.
//   fuzz_replay SEEDS [--mutations N] [TARGET...]      SEEDS: the folder of the files of seeds
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "target.hpp"

namespace {

/// The same numbers, and so the same inputs, on every machine.
class mutator {
 public:
  explicit mutator(const std::vector<std::string>& seeds, std::uint64_t seed) : seeds_(seeds), random_(seed) {}

  /// One of the seeds, changed in up to eight places.
  std::string next();

 private:
  std::size_t draw(std::size_t below) { return static_cast<std::size_t>(random_() % below); }
  void change(std::string& input);

  const std::vector<std::string>& seeds_;
  std::mt19937_64 random_;
};

namespace {

using namespace std::string_view_literals;

constexpr std::size_t longest_input = 4096;

constexpr std::string_view pieces[] = {"null"sv,
                                       "-1"sv,
                                       "1e308"sv,
                                       "18446744073709551616"sv,
                                       "9223372036854775807"sv,
                                       "\\u0000"sv,
                                       "\\ud800"sv,
                                       "true"sv,
                                       "{}"sv,
                                       "[]"sv,
                                       "\"\""sv,
                                       "\\"sv,
                                       "/../"sv,
                                       "\x7f"sv,
                                       "0x"sv,
                                       "\n"sv,
                                       "\0"sv,
                                       "\xff\xff\xff\xff"sv,
                                       "\xed\xa0"sv,
                                       "\xf4\x90"sv,
                                       "\x1b[2J"sv,
                                       "0000000000"sv,
                                       "2147483647"sv,
                                       "\xe2\x80\xae"sv,
                                       "\xc2\x9b"sv,
                                       ":"sv,
                                       ","sv,
                                       "-"sv,
                                       "="sv,
                                       "\""sv};

}  // namespace

std::string mutator::next() {
  auto input = seeds_[draw(seeds_.size())];
  for (auto changes = draw(8) + 1; changes > 0; --changes) change(input);
  if (input.size() > longest_input) input.resize(longest_input);
  return input;
}

void mutator::change(std::string& input) {
  const auto at = draw(input.size() + 1);
  const auto length = draw(16) + 1;
  switch (input.empty() ? 2 + draw(4) : draw(8)) {
    case 0: input[draw(input.size())] = static_cast<char>(draw(256)); return;
    case 1: input.erase(at, length); return;
    case 2: input.insert(at, length, static_cast<char>(draw(256))); return;
    case 3: input.insert(at, pieces[draw(std::size(pieces))]); return;
    case 4: {
      const auto& other = seeds_[draw(seeds_.size())];
      input.insert(at, other.substr(draw(other.size() + 1), length * 8));
      return;
    }
    case 5: input.insert(at, std::string(input.substr(draw(input.size() + 1), length * 8))); return;
    case 6: input.resize(at); return;
    default: std::swap(input[draw(input.size())], input[draw(input.size())]); return;
  }
}

}  // namespace

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
  mutator from(seeds, 1);
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
