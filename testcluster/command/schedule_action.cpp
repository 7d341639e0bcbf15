#include "schedule_action.hpp"

#include <algorithm>

namespace testcluster::command {

const std::vector<schedule_action>& schedule_actions() {
  using line = schedule_action::line;
  using use = schedule_action::use;
  static const std::vector<schedule_action> all{
      {"kill", use::needed, true, line::none},
      {"pause", use::needed, true, line::none},
      {"resume", use::needed, false, line::none},
      {"restart", use::needed, false, line::none},
      {"heal", use::possible, false, line::none},
      {"expire", use::none, false, line::none},
      {"partition", use::needed, true, line::of_servers},
      {"cut", use::needed, false, line::of_either},
      {"freeze", use::needed, true, line::of_either},
      {"refuse", use::needed, true, line::of_either},
      {"delay", use::needed, true, line::of_either},
      {"bandwidth", use::needed, true, line::of_either},
      {"half-open", use::needed, true, line::of_either},
      {"blackhole", use::needed, true, line::of_either},
      {"drop-reply", use::needed, false, line::of_clients},
      {"drop-request", use::needed, false, line::of_clients},
  };
  return all;
}

const schedule_action& action_named(const std::string& name) {
  const auto& all = schedule_actions();
  return *std::find_if(all.begin(), all.end(), [&name](const auto& each) { return each.name == name; });
}

}  // namespace testcluster::command
