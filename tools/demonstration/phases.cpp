#include "phases.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

namespace demo {

std::int64_t monotonic_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

phase_mark note_of(std::string consumer, std::string what) {
  return {monotonic_ns(), std::move(consumer), 0, std::move(what), false};
}

std::vector<phase_mark> read_phases(const std::filesystem::path& folder) {
  std::vector<phase_mark> marks;
  for (const auto& each : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(each.path());
    phase_mark mark;
    for (std::string what; in >> mark.time_ns >> mark.consumer >> mark.epoch >> mark.phase >> what >> mark.shard;) {
      mark.begins = what == "begins";
      marks.push_back(mark);
    }
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const phase_mark& a, const phase_mark& b) { return a.time_ns < b.time_ns; });
  return marks;
}

std::uint64_t count_overlaps(const std::vector<phase_mark>& marks) {
  using phases =
      std::map<std::string, std::optional<std::int64_t>>;  // of each consumer: the epoch of its present phase
  std::map<std::uint32_t, phases> going_on;                // in each shard
  std::uint64_t overlaps = 0;
  for (const auto& mark : marks) {
    if (mark.phase == silenced) {
      for (auto& [shard, each] : going_on) each.erase(mark.consumer);
    }
    if (!mark.epoch) continue;
    auto& here = going_on[mark.shard];
    auto& own = here[mark.consumer];
    if (!mark.begins) {
      own.reset();
      continue;
    }
    for (const auto& [consumer, epoch] : here) {
      if (epoch && *epoch != mark.epoch) ++overlaps;
    }
    own = mark.epoch;
  }
  return overlaps;
}

}  // namespace demo
