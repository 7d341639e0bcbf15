// Changes inputs, for the replay, which has no libFuzzer.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

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

}  // namespace fuzz
