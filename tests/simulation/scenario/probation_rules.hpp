// Probation ends: a consumer does not name messages for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "election/term_record.hpp"
#include "run/stage.hpp"

namespace zkrecipes::simulation {

class probation_rules {
 public:
  /// `length`: for how many settled messages the first probation lasts. Each further crash doubles it.
  probation_rules(stage& in, std::size_t length) : in_(in), length_(length) {}

  /// The record of the term was written.
  void recorded(const detail::term_record& record);
  /// An attempt of this message was counted: it is named before it is begun from now on, in each term.
  void counted(const std::string& name) { counted_.insert(name); }
  /// A message was settled by the present term.
  void settled() { ++settled_; }

 private:
  stage& in_;
  std::size_t length_;
  std::int64_t epoch_ = 0;
  std::size_t settled_ = 0;      // in the present term
  std::set<std::string> named_;  // in the present term, those that it has found included
  std::set<std::string> counted_;
};

}  // namespace zkrecipes::simulation
