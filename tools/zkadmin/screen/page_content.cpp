#include "screen/page_content.hpp"

#include "problems/commit_rules.hpp"
#include "problems/election_rules.hpp"
#include "problems/group_rules.hpp"
#include "problems/queue_rules.hpp"
#include "problems/recipe_rules.hpp"
#include "problems/topic_rules.hpp"

namespace zkadmin {

list_view whole_list(const model& state, page which) {
  switch (which) {
    case page::overview: return overview_list_view(state);
    case page::problems: return problem_list_view(state);
    case page::elections: return election_list_view(state);
    case page::groups: return group_list_view(state);
    case page::topics: return topic_list_view(state);
    case page::recipes: return recipe_list_view(state);
    case page::commits: return commit_list_view(state);
    case page::events: return event_list_view(state);
    case page::servers: return server_list_view(state);
    case page::help: break;
  }
  return {};
}

sheet sheet_of(const model& state, const screen_place& where, int width) {
  sheet content(width);
  switch (where.which) {
    case page::elections: add_election(content, state, where.item); break;
    case page::groups: add_group(content, state, where.item); break;
    case page::topics: add_topic(content, state, where.item); break;
    case page::recipes: add_recipe(content, state, where.item); break;
    case page::commits: add_commit(content, state, where.item); break;
    case page::events: add_event(content, state, where.item); break;
    case page::servers: add_server(content, state, where.item); break;
    case page::help: add_help(content); break;
    case page::overview:
    case page::problems: break;  // they show things of other pages
  }
  return content;
}

bool is_list(const screen_place& where) noexcept { return where.which != page::help && where.item.empty(); }

std::optional<screen_place> place_of(const model& state, const std::string& name) {
  const auto& servers = state.seen.servers;
  const auto is_it = [&name](const auto& each) { return each.server == name; };
  if (std::any_of(servers.begin(), servers.end(), is_it)) return screen_place{page::servers, name};
  if (find_election(state, name)) return screen_place{page::elections, name};
  if (find_by_path(state.seen.groups, name)) return screen_place{page::groups, name};
  if (find_by_path(state.seen.topics, name)) return screen_place{page::topics, name};
  if (find_by_path(state.seen.commits, name)) return screen_place{page::commits, name};
  if (find_by_path(state.seen.recipes, name) || find_by_path(state.seen.queues, name))
    return screen_place{page::recipes, name};
  return std::nullopt;
}

void add_problems(sheet& to, const problem_list& problems) {
  for (const auto& each : problems)
    to.add_field("problem", each.text + " (" + each.name + ")",
                 each.how_bad == severity::critical ? look::bad : look::warning);
}

const election_status* find_election(const model& state, const std::string& path) {
  return state.seen.elections ? find_by_path(state.seen.elections->elections, path) : nullptr;
}

std::string gaps_of(const std::vector<survey_note>& notes, bool is_complete) {
  if (notes.empty()) return is_complete ? "" : "there may be more";
  const auto more = notes.size() - 1;
  return to_string(notes.front()) + (more > 0 ? "; " + std::to_string(more) + " more notes" : "");
}

table_cell remark_on(const model& state, const problem_list& problems, std::size_t troubled, const std::string& gaps) {
  std::string text = staleness(state);
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : "; ") + more; };
  if (troubled > 0) add(std::to_string(troubled) + " with a problem");
  if (!gaps.empty()) add(gaps);
  return {text, is_critical(problems) ? look::bad : look::warning};
}

look look_of(const problem_list& problems) noexcept {
  if (problems.empty()) return look::plain;
  return is_critical(problems) ? look::bad : look::warning;
}

}  // namespace zkadmin
