#include "screen/key_table.hpp"

#include <algorithm>

namespace zkadmin {
namespace {

std::vector<key_binding> page_keys() {
  std::vector<key_binding> table;
  for (const auto& each : all_pages()) {
    key_binding one{{}, action::go_to, each.what, each.which};
    for (const char* digit = each.digits; *digit != '\0'; ++digit) one.typed.push_back(static_cast<stroke>(*digit));
    table.push_back(one);
  }
  return table;
}

std::vector<key_binding> all_keys() {
  using namespace strokes;
  auto table = page_keys();
  const std::vector<key_binding> others{
      {{tab}, action::next_page, "next page"},
      {{shift_tab}, action::last_page, "the page before this one"},
      {{U'-'}, action::previous, "where you were before"},
      {{U'j', down}, action::down, "next line"},
      {{U'k', up}, action::up, "previous line"},
      {{page_down}, action::page_down, "a screen down"},
      {{page_up}, action::page_up, "a screen up"},
      {{control('d')}, action::half_down, "half a screen down"},
      {{control('u')}, action::half_up, "half a screen up"},
      {{wheel_down}, action::wheel_down, "three lines down"},
      {{wheel_up}, action::wheel_up, "three lines up"},
      {{U'g', home}, action::first, "first line"},
      {{U'G', strokes::end}, action::last, "last line"},
      {{enter}, action::open, "details; on the page of problems: go to the thing that has it"},
      {{escape}, action::back, "back; clears the filter first"},
      {{U'/'}, action::filter, "filter the list"},
      {{U'<'}, action::sort_left, "sort by the column to the left"},
      {{U'>'}, action::sort_right, "sort by the column to the right"},
      {{U'I'}, action::invert, "invert the order"},
      {{U':'}, action::command, "command line: the name of a page, a path, or q"},
      {{U'R'}, action::refresh, "refresh now"},
      {{U'Z'}, action::pause, "pause, and go on"},
      {{U'?'}, action::help, "help, and back"},
      {{U'q', control('c')}, action::quit, "quit"},
      {{control('z')}, action::suspend, "suspend; fg in the shell brings it back"},
  };
  table.insert(table.end(), others.begin(), others.end());
  return table;
}

}  // namespace

const std::vector<key_binding>& key_table() {
  static const auto table = all_keys();
  return table;
}

const key_binding* binding_of(stroke typed) {
  for (const auto& each : key_table())
    if (std::find(each.typed.begin(), each.typed.end(), typed) != each.typed.end()) return &each;
  return nullptr;
}

std::string keys_of(const key_binding& binding, const std::string& between) {
  std::string names;
  for (const auto each : binding.typed) names += (names.empty() ? "" : between) + name_of(each);
  return names;
}

}  // namespace zkadmin
