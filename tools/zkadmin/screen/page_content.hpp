// What the pages hold. All of it is made from the model, anew for each use: `page_of` keeps what is on the screen.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "screen/list_view.hpp"
#include "screen/pages.hpp"

namespace zkadmin {

// Lists.
list_view problem_list_view(const model& state);
list_view election_list_view(const model& state);
list_view group_list_view(const model& state);
list_view topic_list_view(const model& state);
list_view recipe_list_view(const model& state);
list_view commit_list_view(const model& state);
list_view event_list_view(const model& state);
list_view server_list_view(const model& state);
list_view overview_list_view(const model& state);

/// The list of a page without filter, in the order of the page.
list_view whole_list(const model& state, page which);

// Details of the thing with this path or name; nothing is added if it is not there.
void add_election(sheet& to, const model& state, const std::string& path);
void add_group(sheet& to, const model& state, const std::string& path);
void add_topic(sheet& to, const model& state, const std::string& path);
void add_recipe(sheet& to, const model& state, const std::string& path);
void add_commit(sheet& to, const model& state, const std::string& path);
void add_event(sheet& to, const model& state, const std::string& number);
void add_server(sheet& to, const model& state, const std::string& name);
void add_help(sheet& to);

/// The help, or the details that a place stands for. Empty if there is no such thing.
sheet sheet_of(const model& state, const screen_place& where, int width);

/// Whether the place is a list, as opposed to details or help.
bool is_list(const screen_place& where) noexcept;

/// Where the details of something are whose path or name is known; nothing if there is no such thing.
std::optional<screen_place> place_of(const model& state, const std::string& name);

/// A field for each of its problems.
void add_problems(sheet& to, const problem_list& problems);

/// The one with this path; null if there is none.
template <class Status>
const Status* find_by_path(const std::vector<Status>& all, const std::string& path) {
  const auto found = std::find_if(all.begin(), all.end(), [&path](const auto& each) { return each.path == path; });
  return found == all.end() ? nullptr : &*found;
}

/// The same among what may not be known.
template <class Status>
const Status* find_by_path(const std::optional<survey<Status>>& all, const std::string& path) {
  return all ? find_by_path(all->found, path) : nullptr;
}

const election_status* find_election(const model& state, const std::string& path);

/// What a survey has left out: the first note, and how many more there are.
std::string gaps_of(const std::vector<survey_note>& notes, bool is_complete);

/// The remark on all things of a kind together: old data, problems, gaps.
table_cell remark_on(const model& state, const problem_list& problems, std::size_t troubled, const std::string& gaps);

/// The list of a survey, with the remark on all of them. `add_rows(list, status, problems)`
/// adds one.
template <class Status, class Add>
list_view list_of_survey(const model& state, const std::optional<survey<Status>>& seen, std::vector<column> columns,
                         Add add_rows) {
  list_view list;
  list.content.columns = std::move(columns);
  list.is_known = seen.has_value();
  problem_list problems;
  std::size_t troubled = 0;
  if (seen)
    for (const auto& each : seen->found) {
      const auto more = problems_of(each, state.limits);
      troubled += more.empty() ? 0 : 1;
      problems.insert(problems.end(), more.begin(), more.end());
      add_rows(list, each, more);
    }
  list.remark = remark_on(state, problems, troubled, seen ? gaps_of(seen->notes, seen->complete) : "");
  return list;
}

/// The look of something with these problems.
look look_of(const problem_list& problems) noexcept;

}  // namespace zkadmin
