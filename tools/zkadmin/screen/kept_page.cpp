#include "screen/kept_page.hpp"

#include <utility>

#include "screen/page_content.hpp"

namespace zkadmin {
namespace {

/// Old data is shown with its age, and elections with the time since their phase began.
bool shows_passing_time(const model& state) noexcept {
  const bool has_ages = state.shown.which == page::elections || !state.shown.item.empty();
  return has_ages || !state.seen.trouble.empty();
}

page_inputs inputs_of(const model& state, int width) {
  const auto which = static_cast<std::size_t>(state.shown.which);
  const auto& looked = state.lists[which];
  page_inputs all{state.shown, state.revisions[which]};
  if (is_list(state.shown)) {
    all.filter = looked.filter;
    all.sorted_by = looked.sorted_by;
    all.is_inverted = looked.is_inverted;
  } else {
    all.width = width;
  }
  all.utc_offset = state.utc_offset;
  if (shows_passing_time(state)) all.second = std::chrono::floor<std::chrono::seconds>(state.now.time_since_epoch());
  return all;
}

}  // namespace

std::shared_ptr<const kept_page> page_of(const model& state, int width) {
  auto inputs = inputs_of(state, width);
  if (state.kept && state.kept->made_of == inputs) return state.kept;
  auto made = std::make_shared<kept_page>();
  made->made_of = std::move(inputs);
  if (is_list(state.shown)) {
    made->list = list_of(state, state.shown.which);
  } else {
    made->details = sheet_of(state, state.shown, width);
  }
  return made;
}

}  // namespace zkadmin
