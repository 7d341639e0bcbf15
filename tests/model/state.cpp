#include "state.hpp"

namespace model {

namespace {

/// Calls `field(value, range)` for each part of the state; its value is from 0 to range - 1.
template <class Planner, class Field>
void visit_planner(Planner& each, const Field& field) {
  field(each.has_looked, 2);
  field(each.seen, 1 << max_members);
  field(each.heir, unknown + 1);
}

template <class Member, class Field>
void visit_member(Member& each, const Field& field) {
  field(each.is, 5);
  field(each.inbox, 2);
  field(each.order, 2);
  field(each.seen, unknown + 1);
  field(each.is_current, 2);
  field(each.is_over, 2);
  field(each.gone, 1 << max_members);
  field(each.in_term, 2);
  field(each.sent, 6);
  field(each.late_claim, 2);
  field(each.late_retirement, 2);
}

template <class State, class Field>
void visit(State& what, group_size size, const Field& field) {
  field(what.owner, max_members + 1);
  field(what.is_over, 2);
  field(what.epoch, size.planners);
  for (int k = 0; k < size.planners; ++k) visit_planner(what.planners[k], field);
  for (int i = 0; i < size.members; ++i) visit_member(what.members[i], field);
}

}  // namespace

std::uint64_t pack(const state& what, group_size size) {
  std::uint64_t packed = 0, weight = 1;
  visit(what, size, [&](auto value, std::uint64_t range) {
    packed += weight * static_cast<std::uint64_t>(value);
    weight *= range;
  });
  return packed;
}

state unpack(std::uint64_t packed, group_size size) {
  state what;
  visit(what, size, [&]<class Value>(Value& value, std::uint64_t range) {
    value = static_cast<Value>(packed % range);
    packed /= range;
  });
  return what;
}

}  // namespace model
