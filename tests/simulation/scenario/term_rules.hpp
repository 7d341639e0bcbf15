// What has to be true of terms, and of the messages that are worked off in them.
#pragma once

#include "run/stage.hpp"

#include <zkrecipes/leader_career.hpp>

#include <set>
#include <string>

namespace zkrecipes::simulation {

class term_rules {
 public:
  term_rules(stage& in, std::string election, std::string queue, std::string results)
      : in_(in), election_(std::move(election)), queue_(std::move(queue)), results_(std::move(results)) {}

  void committed(const entry& what);

  /// A career is told that its term begins; late, if its process was paused.
  void inaugurated(int client, std::int64_t epoch);

  std::uint64_t produced() const noexcept { return produced_; }
  std::uint64_t processed() const noexcept { return processed_; }
  void check_quiet(const tree& nodes);

 private:
  void check_record(const change& what);
  void check_retirement(const change& record, const entry& what);
  void check_result(const change& what);

  stage& in_;
  std::string election_;
  std::string queue_;
  std::string results_;
  std::uint64_t produced_ = 0;
  std::uint64_t processed_ = 0;
  std::int64_t epoch_ = 0;
  std::string leader_node_;
  bool finished_ = true;
  std::set<std::int64_t> inaugurated_;
};

}  // namespace zkrecipes::simulation
