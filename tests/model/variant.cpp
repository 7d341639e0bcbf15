#include "variant.hpp"

#include <algorithm>

namespace model {

const char* to_text(verdict what) {
  switch (what) {
    case verdict::holds: return "holds";
    case verdict::two_believe: return "two believe";
    case verdict::fence_fails: return "a write of another than the owner is accepted";
    case verdict::gets_stuck: return "gets stuck";
    case verdict::fence_holds: return "a sleeper believes, too, and the fence holds";
  }
  return "";
}

const std::vector<variant>& variants() {
  using enum verdict;
  static const std::vector<variant> all{
      {"protocol", "as it is", {}, holds},
      {"keeps_believing", "until the answer to the retirement", {.keeps_believing = true}, two_believe},
      {"forces_the_living", "without asking whether the owner has ended", {.forces_the_living = true}, two_believe},
      {"asks_too_early", "whether a member has ended, before the look", {.asks_too_early = true}, two_believe},
      {"claims_blindly", "without the version", {.claims_blindly = true}, two_believe},
      {"retires_blindly", "without the version", {.retires_blindly = true}, two_believe},
      {"takes_up_handed_over", "its own term, whose end is under way", {.takes_up_handed_over = true}, two_believe},
      {"reuses_names", "of a member that starts again", {.reuses_names = true}, two_believe},
      {"ignores_own_name", "in a record, if it is in no term", {.ignores_own_name = true}, gets_stuck},
      {"looks_only_by_order", "at no record that its inbox does not list", {.looks_only_by_order = true}, gets_stuck},
      {"pauses", "processes sleep: a documented limit", {.pauses = true}, fence_holds},
      {"pauses_unfenced", "and effects do not name the version", {.pauses = true, .is_unfenced = true}, fence_fails},
      {"unfenced_planner", "does not matter", {.unfenced_planner = true}, holds},
      {"members_first", "then the inboxes: does not matter", {.members_first = true}, holds},
  };
  return all;
}

const variant& variant_of(const std::string& name) { return *std::ranges::find(variants(), name, &variant::name); }

}  // namespace model
