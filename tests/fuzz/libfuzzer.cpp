// The program that libFuzzer drives:
//   zkrecipes-fuzz TARGET SEEDS CORPUS [libFuzzer's options]
// writes the seeds of the file SEEDS into the folder CORPUS, from which libFuzzer begins, and to which it adds what it
// finds. With a single file in the place of both it runs that input, as libFuzzer leaves it after a crash.
//   ZKRECIPES_FUZZ_TARGET=TARGET zkrecipes-fuzz [libFuzzer's options and folders]
// leaves the command line to libFuzzer, which starts the program again with the same one when it merges.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "seeds.hpp"
#include "target.hpp"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

fuzz::run_target chosen = nullptr;

[[noreturn]] void end(const std::string& problem) {
  std::cerr << "zkrecipes-fuzz: " << problem << "\ntargets:\n";
  for (const auto& [name, run] : fuzz::targets()) std::cerr << "  " << name << '\n';
  std::exit(2);
}

void write_seeds(const std::string& file, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const auto& each : fuzz::read_seeds(file))
    std::ofstream(folder / ("seed-" + std::to_string(++number)), std::ios::binary) << each;
}

/// Removes the argument at this place.
std::string take_argument(int place, int& count, char** arguments) {
  const std::string taken = arguments[place];
  for (int i = place; i < count; ++i) arguments[i] = arguments[i + 1];
  --count;
  return taken;
}

void choose(const std::string& name) {
  const auto found = fuzz::targets().find(name);
  if (found == fuzz::targets().end()) end("there is no target " + name);
  chosen = found->second;
  __sanitizer_set_death_callback(fuzz::print_input);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  if (const char* name = std::getenv("ZKRECIPES_FUZZ_TARGET")) {
    choose(name);
    return 0;
  }
  if (*count < 3) end("expected TARGET SEEDS CORPUS, or TARGET and a file");
  choose(take_argument(1, *count, *arguments));
  const bool has_seeds = *count > 2 && (*arguments)[2][0] != '-';
  if (!has_seeds) return 0;
  try {
    write_seeds(take_argument(1, *count, *arguments), (*arguments)[1]);
  } catch (const std::exception& problem) {
    end(problem.what());
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::run(chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}
