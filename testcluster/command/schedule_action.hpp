#pragma once

#include <string>
#include <vector>

namespace testcluster::command {

/// What a step of a schedule can do.
struct schedule_action {
  enum class line { none, of_clients, of_servers, of_either };
  std::string name;
  enum class use { none, possible, needed } server;
  bool can_last;  // `for` ends it
  line spoils;
};

const std::vector<schedule_action>& schedule_actions();

/// The action of this name, which must be one of them.
const schedule_action& action_named(const std::string& name);

}  // namespace testcluster::command
