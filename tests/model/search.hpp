// All states that can be reached, and whether a settled one can be reached from each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "moment.hpp"
#include "state_table.hpp"

namespace model {

struct findings {
  verdict found = verdict::holds;
  std::size_t states = 0;
  std::size_t steps = 0;
  std::size_t settled = 0;
  std::size_t stuck = 0;             ///< Somebody is there, and no settled state can be reached.
  bool is_complete = true;           ///< The limit of states was not reached.
  std::vector<std::string> history;  ///< A shortest way to what is wrong.
};

class search {
 public:
  search(const setup& how, std::size_t max_states) : how_(how), max_states_(max_states) {}

  findings run();

 private:
  using number = state_table::number;
  struct edge {
    number from, to;
  };

  bool explore(number which);
  void reach(number from, const step& what);
  bool judge(number which, const state& what);
  void note(verdict what, number where);
  void find_stuck();
  std::vector<bool> leading_to_settled() const;
  std::vector<std::string> history_of(number which) const;
  std::string last_step(number which) const;

  const setup how_;
  const std::size_t max_states_;
  state_table all_;
  std::vector<number> parents_;  // by state: from where it was found
  std::vector<edge> edges_;      // without trouble
  findings result_;
};

}  // namespace model
