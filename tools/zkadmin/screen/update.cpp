#include <utility>

#include "problems/election_rules.hpp"
#include "problems/order.hpp"
#include "screen/differences.hpp"
#include "screen/keys.hpp"
#include "screen/model.hpp"
#include "screen/navigation.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t max_events = 10'000;

void note(model& state, const std::vector<change>& happened) {
  for (const auto& each : happened) state.events.push_front({state.now, each.text, each.look, ++state.events_noted});
  if (state.events.size() > max_events) state.events.resize(max_events);
}

void judge_anew(model& state) { state.judged = judge(state.seen, state.kinds, state.limits); }

/// Takes a survey of a kind whose problems are its only events.
template <class Survey>
effect take(model& state, std::optional<Survey>& known, const Survey& seen) {
  const bool is_first = !known.has_value();
  const auto before = state.judged.problems;
  known = seen;
  judge_anew(state);
  if (!is_first) note(state, differences(before, state.judged.problems));
  return effect::none;
}

effect handle(model& state, const key_pressed& pressed) { return press(state, pressed.typed); }

effect handle(model& state, const servers_seen& seen) {
  auto& known = state.seen.servers;
  if (!known.empty()) note(state, differences(known, seen.servers));
  known = seen.servers;
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, const elections_seen& seen) {
  auto survey = seen.survey;
  put_problems_first(survey.elections, state.limits);
  auto& known = state.seen.elections;
  if (known) note(state, differences(known->elections, survey.elections, state.limits));
  known = std::move(survey);
  state.surveyed_at = state.now;
  state.seen.trouble.clear();
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, const elections_failed& failed) {
  if (state.seen.trouble == failed.why) return effect::none;
  state.seen.trouble = failed.why;
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, const groups_seen& seen) { return take(state, state.seen.groups, seen.survey); }
effect handle(model& state, const topics_seen& seen) { return take(state, state.seen.topics, seen.survey); }
effect handle(model& state, const commits_seen& seen) { return take(state, state.seen.commits, seen.survey); }
effect handle(model& state, const recipes_seen& seen) { return take(state, state.seen.recipes, seen.survey); }
effect handle(model& state, const queues_seen& seen) { return take(state, state.seen.queues, seen.survey); }

effect handle(model& state, const resized& size) {
  state.width = size.width;
  state.height = size.height;
  return effect::none;
}

effect handle(model&, const time_passed&) { return effect::none; }

}  // namespace

effect update(model& state, const event& what, wall_time now) {
  state.now = now;
  const effect result = std::visit([&state](const auto& each) { return handle(state, each); }, what);
  settle(state);
  return result;
}

}  // namespace zkadmin
