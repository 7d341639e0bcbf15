#include <algorithm>
#include <initializer_list>
#include <span>
#include <utility>

#include "problems/commit_rules.hpp"
#include "problems/election_rules.hpp"
#include "problems/group_rules.hpp"
#include "problems/order.hpp"
#include "problems/queue_rules.hpp"
#include "problems/recipe_rules.hpp"
#include "problems/topic_rules.hpp"
#include "screen/differences.hpp"
#include "screen/keys.hpp"
#include "screen/model.hpp"
#include "screen/navigation.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t max_events = 10'000;

/// What these pages show has changed.
void touch(model& state, std::initializer_list<page> pages) {
  for (const auto each : pages) ++state.revisions[static_cast<std::size_t>(each)];
}

void touch_all(model& state) {
  for (auto& each : state.revisions) ++each;
}

void note(model& state, const std::vector<change>& happened) {
  if (happened.empty()) return;
  for (const auto& each : happened) state.events.push_front({state.now, each.text, each.look, ++state.events_noted});
  if (state.events.size() > max_events) state.events.resize(max_events);
  touch(state, {page::events});
}

void judge_anew(model& state) {
  state.judged = judge(state.seen, state.kinds, state.limits);
  touch(state, {page::problems});
}

/// Takes a survey of a kind whose problems are its only events.
template <class Status>
effect take(model& state, page where, std::optional<survey<Status>>& known, survey<Status>& seen) {
  const bool is_first = !known.has_value();
  const auto before = state.judged.problems;
  put_problems_first(seen.found, state.limits);
  known = std::move(seen);
  touch(state, {where});
  judge_anew(state);
  if (!is_first) note(state, differences(before, state.judged.problems));
  return effect::none;
}

/// The elections that are known are current.
void confirm(model& state) {
  // Each list says when the data is old, or not there yet.
  if (state.surveyed_at == wall_time{} || !state.seen.trouble.empty()) touch_all(state);
  state.surveyed_at = state.now;
  state.seen.trouble.clear();
}

effect handle(model& state, const key_pressed& pressed) { return press(state, pressed.typed); }

effect handle(model& state, servers_seen& seen) {
  auto& known = state.seen.servers;
  if (!known.empty()) note(state, differences(known, seen.servers));
  known = std::move(seen.servers);
  touch(state, {page::servers});
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, elections_seen& seen) {
  put_problems_first(seen.survey.elections, state.limits);
  auto& known = state.seen.elections;
  if (known) note(state, differences(known->elections, seen.survey.elections, state.limits));
  known = std::move(seen.survey);
  confirm(state);
  touch(state, {page::overview, page::elections});
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, const elections_confirmed&) {
  const bool was_old = !state.seen.trouble.empty();
  confirm(state);
  if (was_old) judge_anew(state);
  return effect::none;
}

/// The order and the judgement are left to the survey that follows.
effect handle(model& state, election_passed& passed) {
  if (!state.seen.elections) return effect::none;
  auto& all = state.seen.elections->elections;
  const auto is_it = [&passed](const auto& each) { return each.path == passed.path; };
  const auto known = std::find_if(all.begin(), all.end(), is_it);
  const bool was_there = known != all.end();
  const std::span<const election_status> before(was_there ? &*known : nullptr, was_there ? 1 : 0);
  const std::span<const election_status> after(passed.status ? &*passed.status : nullptr, passed.status ? 1 : 0);
  note(state, differences(before, after, state.limits));
  if (!passed.status) {
    if (was_there) all.erase(known);
  } else if (was_there) {
    *known = std::move(*passed.status);
  } else {
    all.push_back(std::move(*passed.status));
  }
  touch(state, {page::overview, page::elections});
  return effect::none;
}

effect handle(model& state, const elections_failed& failed) {
  if (state.seen.trouble == failed.why) return effect::none;
  state.seen.trouble = failed.why;
  touch_all(state);
  judge_anew(state);
  return effect::none;
}

effect handle(model& state, groups_seen& seen) { return take(state, page::groups, state.seen.groups, seen.survey); }
effect handle(model& state, topics_seen& seen) { return take(state, page::topics, state.seen.topics, seen.survey); }
effect handle(model& state, commits_seen& seen) { return take(state, page::commits, state.seen.commits, seen.survey); }
effect handle(model& state, recipes_seen& seen) { return take(state, page::recipes, state.seen.recipes, seen.survey); }
effect handle(model& state, queues_seen& seen) { return take(state, page::recipes, state.seen.queues, seen.survey); }

effect handle(model& state, const resized& size) {
  state.width = size.width;
  state.height = size.height;
  return effect::none;
}

effect handle(model&, const time_passed&) { return effect::none; }

}  // namespace

effect update(model& state, event what, wall_time now) {
  state.now = now;
  const effect result = std::visit([&state](auto& each) { return handle(state, each); }, what);
  settle(state);
  return result;
}

}  // namespace zkadmin
