#include "moment.hpp"

namespace model {

std::string to_text(const step& what) {
  return std::string(what.who) + " " + std::to_string(what.index) + " " + what.does;
}

std::vector<step> moment::steps() {
  for (int i = 0; i < how_.size.members; ++i) member_steps(i);
  for (int k = 0; k < how_.size.planners; ++k) planner_steps(k);
  return std::move(steps_);
}

void moment::add(const char* does, int i, const member& after, bool is_trouble) {
  steps_.push_back({"member", i, does, is_trouble, now_});
  steps_.back().after.members[i] = after;
}

void moment::add(const char* does, int k, const planner& after, bool is_trouble) {
  steps_.push_back({"planner", k, does, is_trouble, now_});
  steps_.back().after.planners[k] = after;
}

/// The record has another version: what members know of it is out of date, and writes that are under way from the
/// former version will be refused.
void moment::add_write(const char* does, int i, const member& after, int owner) {
  add(does, i, after);
  auto& next = steps_.back().after;
  next.owner = owner;
  next.is_over = false;
  for (auto& each : next.members) {
    each.is_current = false;
    each.late_claim = each.late_claim && rules_.claims_blindly;
    each.late_retirement = each.late_retirement && rules_.retires_blindly;
  }
}

}  // namespace model
