// The events since the start.
#include "screen/page_content.hpp"

namespace zkadmin {

list_view event_list_view(const model& state) {
  list_view list;
  list.content.columns = {{"TIME"}, {"EVENT"}};
  list.follows_top = true;
  for (const auto& each : state.events) {
    const auto number = std::to_string(each.number);
    const auto order = static_cast<std::int64_t>(each.number);
    list.add({number, screen_place{page::events, number}},
             {{time_of_day(state, each.when), look::dim, order}, {each.text, each.look}});
  }
  return list;
}

void add_event(sheet& to, const model& state, const std::string& number) {
  for (const auto& each : state.events) {
    if (std::to_string(each.number) != number) continue;
    to.add_heading("EVENT");
    to.add_field("time", time_of_day(state, each.when));
    to.add_field("event", each.text, each.look);
    return;
  }
}

}  // namespace zkadmin
