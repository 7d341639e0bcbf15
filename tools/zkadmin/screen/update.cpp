#include <algorithm>

#include "problems/election_rules.hpp"
#include "problems/order.hpp"
#include "screen/differences.hpp"
#include "screen/model.hpp"
#include "screen/pages.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t max_events = 200;

void note(model& state, const std::vector<change>& changes) {
  for (const auto& each : changes) state.events.push_front({state.now, each.text, each.look});
  if (state.events.size() > max_events) state.events.resize(max_events);
}

std::size_t last_position(const model& state) {
  const auto& elections = state.survey.elections;
  if (state.shown == page::overview) return elections.empty() ? 0 : elections.size() - 1;
  const auto length = page_length(state);
  return length - std::min(length, static_cast<std::size_t>(body_of(state.height).count));
}

void move_to(model& state, std::size_t position) {
  (state.shown == page::overview ? state.selected : state.scroll) = std::min(position, last_position(state));
}

void move_by(model& state, int lines) {
  const std::size_t position = state.shown == page::overview ? state.selected : state.scroll;
  if (lines > 0 || position > 0) move_to(state, position + static_cast<std::size_t>(lines));
}

void show(model& state, page which) {
  state.shown = which;
  state.scroll = 0;
}

effect handle(model& state, const key_pressed& pressed) {
  switch (pressed.which) {
    case key::up: move_by(state, -1); break;
    case key::down: move_by(state, 1); break;
    case key::first: move_to(state, 0); break;
    case key::last: move_to(state, last_position(state)); break;
    case key::enter:
      if (state.shown == page::overview && !state.survey.elections.empty()) show(state, page::details);
      break;
    case key::back: show(state, page::overview); break;
    case key::help: show(state, state.shown == page::help ? page::overview : page::help); break;
    case key::quit: return effect::quit;
    case key::refresh: return effect::refresh;
    case key::pause: state.paused = !state.paused; return state.paused ? effect::none : effect::refresh;
    case key::other: break;
  }
  return effect::none;
}

effect handle(model& state, const servers_seen& seen) {
  if (!state.servers.empty()) note(state, differences(state.servers, seen.servers));
  state.servers = seen.servers;
  return effect::none;
}

// Keeps the selection on its path. If the path is gone, selects the election that is now at its place, and closes the
// details.
void keep_selection(model& state, const std::string& path) {
  const auto& elections = state.survey.elections;
  const auto is_it = [&path](const election_status& each) { return each.path == path; };
  const auto found = std::find_if(elections.begin(), elections.end(), is_it);
  if (found != elections.end()) {
    state.selected = static_cast<std::size_t>(found - elections.begin());
    return;
  }
  state.selected = elections.empty() ? 0 : std::min(state.selected, elections.size() - 1);
  if (state.shown == page::details) show(state, page::overview);
}

effect handle(model& state, const elections_seen& seen) {
  auto survey = seen.survey;
  put_problems_first(survey.elections, state.limits);
  auto& elections = state.survey.elections;
  if (state.surveyed_at != wall_time{}) note(state, differences(elections, survey.elections, state.limits));
  const std::string path = elections.empty() ? "" : elections[state.selected].path;
  state.survey = std::move(survey);
  state.surveyed_at = state.now;
  state.trouble.clear();
  keep_selection(state, path);
  return effect::none;
}

effect handle(model& state, const elections_failed& failed) {
  state.trouble = failed.why;
  return effect::none;
}

effect handle(model& state, const groups_seen& seen) {
  state.groups = seen.groups;
  return effect::none;
}

effect handle(model& state, const resized& size) {
  state.height = size.height;
  return effect::none;
}

effect handle(model&, const time_passed&) { return effect::none; }

}  // namespace

effect update(model& state, const event& what, wall_time now) {
  state.now = now;
  const effect result = std::visit([&state](const auto& each) { return handle(state, each); }, what);
  if (state.shown != page::overview) move_to(state, state.scroll);  // The page may be shorter now.
  return result;
}

}  // namespace zkadmin
