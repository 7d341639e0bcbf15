// The program that libFuzzer drives:
//   zkrecipes-fuzz TARGET SEEDS CORPUS [libFuzzer's options]
// writes the seeds of the file SEEDS into the folder CORPUS, from which libFuzzer begins, and to which it adds what it
// finds. With a single file in the place of both it runs that input, as libFuzzer leaves it after a crash.
//   zkrecipes-fuzz TARGET,TARGET... FOLDER CORPUS [libFuzzer's options]
// chooses the target by the first byte of each input. FOLDER has the files of seeds.
//   ZKRECIPES_FUZZ_TARGET=TARGET zkrecipes-fuzz [libFuzzer's options and folders]
// leaves the command line to libFuzzer, which starts the program again with the same one when it merges.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "target.hpp"

extern "C" void __sanitizer_set_death_callback(void (*callback)());

namespace {

struct named_target {
  std::string name;
  fuzz::run_target run;
};
std::vector<named_target> chosen;
std::string_view present;

[[noreturn]] void end(const std::string& problem) {
  std::cerr << "zkrecipes-fuzz: " << problem << "\ntargets:\n";
  for (const auto& [name, run] : fuzz::targets()) std::cerr << "  " << name << '\n';
  std::exit(2);
}

/// With several targets, `choice` is the byte that chooses this one, ahead of each seed.
void write_seeds(const std::string& file, const std::filesystem::path& folder, const std::string& name,
                 const std::string& choice) {
  int number = 0;
  for (const auto& each : fuzz::read_seeds(file)) {
    const auto path = folder / (name + std::to_string(++number));
    std::ofstream(path, std::ios::binary) << choice << each;
  }
}

void write_all_seeds(const std::string& place, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  if (chosen.size() == 1) {
    const bool is_folder = std::filesystem::is_directory(place);
    return write_seeds(is_folder ? place + '/' + chosen.front().name + ".txt" : place, folder, "seed-", "");
  }
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& name = chosen[i].name;
    write_seeds(place + '/' + name + ".txt", folder, "seed-" + name + '-', std::string(1, static_cast<char>(i)));
  }
}

/// Removes the argument at this place.
std::string take_argument(int place, int& count, char** arguments) {
  const std::string taken = arguments[place];
  for (int i = place; i < count; ++i) arguments[i] = arguments[i + 1];
  --count;
  return taken;
}

void print_input() {
  std::cerr << "the target: " << present << '\n';
  fuzz::print_input();
}

void choose(const std::string& names) {
  std::istringstream each(names);
  for (std::string name; std::getline(each, name, ',');) {
    const auto found = fuzz::targets().find(name);
    if (found == fuzz::targets().end()) end("there is no target " + name);
    chosen.push_back({name, found->second});
  }
  if (chosen.empty()) end("there is no target of no name");
  __sanitizer_set_death_callback(print_input);
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
    write_all_seeds(take_argument(1, *count, *arguments), (*arguments)[1]);
  } catch (const std::exception& problem) {
    end(problem.what());
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto which = chosen.size() == 1 ? 0 : fuzz::take_byte(input) % chosen.size();
  present = chosen[which].name;
  fuzz::run(chosen[which].run, input);
  return 0;
}
