// The places of a line, by ids and sessions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "problems/problem.hpp"

namespace zkadmin {

class line_places {
 public:
  /// One place. Those without an id, with the one that all have by default, or of long ago, tell nothing of who comes
  /// again: several living processes may have one id.
  void add(const std::string& id, std::int64_t session, std::optional<std::chrono::milliseconds> age = {});
  /// `is_single`: a session is to have one place at most.
  void judge(const std::string& path, bool is_single, problem_list& into) const;

 private:
  std::map<std::string, std::set<std::int64_t>> sessions_{};  // young ones, by id
  std::set<std::int64_t> seen_{};
  std::set<std::string> twice_{};  // ids of those whose session has another place
};

}  // namespace zkadmin
