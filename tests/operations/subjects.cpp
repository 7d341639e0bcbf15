#include "operations/subjects.hpp"

#include <utility>

namespace zkrecipes::test {

std::vector<subject> all_subjects() {
  std::vector<subject> all;
  for (auto* some : {&session_subjects, &line_subjects, &barrier_subjects, &group_subjects, &queue_subjects,
                     &shard_subjects, &topic_subjects, &limit_subjects}) {
    for (auto& each : some()) all.push_back(std::move(each));
  }
  return all;
}

}  // namespace zkrecipes::test
