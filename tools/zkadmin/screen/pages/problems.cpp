// All problems of all kinds, and what is not known.
#include "screen/page_content.hpp"

namespace zkadmin {
namespace {

/// Where the details are of the place that a problem names.
std::optional<screen_place> target_of(const model& state, const std::string& where) {
  return where == "ensemble" ? screen_place{page::servers} : place_of(state, where);
}

}  // namespace

list_view problem_list_view(const model& state) {
  list_view list;
  list.content.columns = {
      {"SEVERITY", 1}, {"PROBLEM", 2, false, 32}, {"WHERE", 0, false, 14, true}, {"WHAT", 0, false, 30}};
  for (const auto& each : state.judged.problems) {
    const look how = each.how_bad == severity::critical ? look::bad : look::warning;
    list.add({each.name + ' ' + each.where, target_of(state, each.where)},
             {{to_string(each.how_bad), how}, {each.name}, {each.where}, {each.text}});
  }
  for (const auto& each : state.judged.unknown)
    list.add({"unknown " + each.path + ' ' + each.text, target_of(state, each.path)},
             {{"unknown", look::warning}, {"-"}, {each.path}, {each.text}});
  list.remark = {staleness(state), look::warning};
  return list;
}

}  // namespace zkadmin
