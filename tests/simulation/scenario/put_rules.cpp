#include "scenario/put_rules.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

put_mark put_mark::of(const std::string& text) {
  const auto point = text.find('.');
  return {std::stoull(text.substr(0, point)), std::stoull(text.substr(point + 1))};
}

void put_rules::arrived(const std::string& place, const std::string& text) {
  const auto mark = put_mark::of(text);
  const bool is_twice = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_twice, "a message is put once", text);
  in_.require(!refused_.contains(mark), "what was refused is not put", text);
  auto& all = there_[place];
  const auto next = all.upper_bound(mark);
  const bool is_late = next != all.end() && next->origin == mark.origin;
  in_.require(!is_late, "messages are put in order", text);
  all.insert(mark);
  ever_.insert(mark);
  // The numbers of the name grow, and hide the loss from the other objects.
  if (mark.origin != bare) std::erase_if(untold_, [&](std::uint64_t each) { return each != mark.origin; });
}

void put_rules::lost(const std::string& place, const std::string& text) {
  const auto mark = put_mark::of(text);
  there_[place].erase(mark);
  if (mark.origin != bare && acknowledged_.contains(mark)) untold_.insert(mark.origin);
}

void put_rules::removed(const std::string& place, const std::string& text) { there_[place].erase(put_mark::of(text)); }

/// One that was put before the loss may be acknowledged behind it.
void put_rules::acknowledged(const std::string& text) {
  const auto mark = put_mark::of(text);
  in_.require(ever_.contains(mark), "what is acknowledged was put", text);
  acknowledged_.insert(mark);
  const bool is_there = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_there || !untold_.contains(mark.origin), "a producer tells what was lost", text);
}

void put_rules::refused(const std::string& text) {
  const auto mark = put_mark::of(text);
  const bool is_there = std::ranges::any_of(there_, [&](const auto& each) { return each.second.contains(mark); });
  in_.require(!is_there, "what was refused is not put", text);
  refused_.insert(mark);
}

}  // namespace zkrecipes::simulation
