#include "screen/page_content.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "problems/ensemble_rules.hpp"
#include "problems/rules.hpp"
#include "problems/verdict.hpp"
#include "report/formats.hpp"
#include "report/group_report.hpp"
#include "report/message_report.hpp"
#include "report/status_report.hpp"
#include "screen/key_table.hpp"

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
  return find_by_path(state.seen.elections, path);
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

// All problems of all kinds, and what is not known.

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

// The elections, and one of them with all that wait.

namespace {

table_cell age_cell(const model& state, const election_status& election) {
  if (election.since == wall_time{}) return {"-"};
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(state.now - election.since);
  return {short_duration(age), look::plain, age.count()};
}

std::string since_text(const model& state, const election_status& election) {
  if (election.since == wall_time{}) return {};
  return " since " + time_of_day(state, election.since) + " (" + age_cell(state, election).text + ")";
}

std::string leader_text(const election_status& election) {
  if (!election.leader) return is_known(election) ? "none" : "-";
  const auto& leader = *election.leader;
  return label(leader) + "  token " + std::to_string(leader.token) + "  session " +
         hexadecimal(static_cast<std::uint64_t>(leader.session_id));
}

table waiter_table(const election_status& election) {
  return table_of({{"POS", 0, true}, {"WAITING"}, {"SESSION"}, {"TOKEN", 0, true}, {"NODE"}}, election.waiters,
                  [](const candidate_status& each) {
                    const auto session = hexadecimal(static_cast<std::uint64_t>(each.session_id));
                    return row_of(each.position, each.id, session, each.token, each.node);
                  });
}

void add_activity(sheet& to, const election_status& election, const problem_limits& limits) {
  if (!has_activity(election)) return;
  if (!election.hand_over) return to.add_text(activity_line(election), look::warning);
  const auto line = hand_over_line(*election.hand_over);
  if (sheet::value_x + places(line) + margin > to.width())
    return to.add_field("hand-over", line, is_late(*election.hand_over, limits) ? look::bad : look::warning);
  to.add_line([hand_over = *election.hand_over, limits](grid& screen, int y) {
    screen.put(indent, y, "hand-over", look::dim);
    draw_hand_over(screen, sheet::value_x, y, hand_over, limits);
  });
}

/// The elections with the columns of the page or, without `is_whole`, of the overview.
list_view elections_with(const model& state, bool is_whole) {
  auto columns = election_table({}, state.limits).columns;
  if (is_whole) {
    columns.insert(columns.begin() + 3, {"FOR", 2, true});
    columns.push_back({"ACTIVITY", 4, false, 20});
  }
  const auto add_row = [&](list_view& list, const election_status& each, const problem_list&) {
    auto row = election_table({&each, 1}, state.limits).rows.front();
    if (is_whole) {
      row.insert(row.begin() + 3, age_cell(state, each));
      row.push_back({activity_line(each), look::warning});
    }
    list.add({each.path, screen_place{page::elections, each.path}}, std::move(row));
  };
  return list_of_survey(state, state.seen.elections, std::move(columns), add_row);
}

}  // namespace

list_view election_list_view(const model& state) { return elections_with(state, true); }
list_view overview_list_view(const model& state) { return elections_with(state, false); }

void add_election(sheet& to, const model& state, const std::string& path) {
  const auto* election = find_election(state, path);
  if (!election) return;
  to.add_subject("ELECTION", path, staleness(state));
  to.add_field("epoch", std::to_string(election->epoch));
  to.add_field("phase", election->phase + since_text(state, *election));
  to.add_field("takeover", election->takeover.empty() ? "-" : election->takeover);
  to.add_field("leader", leader_text(*election));
  if (election->leader) to.add_field("node", election->leader->node);
  add_activity(to, *election, state.limits);
  add_problems(to, problems_of(*election, state.limits));
  to.add_table(waiter_table(*election));
  if (election->waiters.empty()) to.add_field("waiting", is_known(*election) ? "nobody" : "not known");
  to.add_table(history_table(*election, state.now));
}

// The shard groups, and one of them with its members and shards.

list_view group_list_view(const model& state) {
  return list_of_survey(state, state.seen.groups, group_table({}).columns,
                        [](list_view& list, const group_status& group, const problem_list& problems) {
                          auto row = group_table({&group, 1}).rows.front();
                          row.front().look = look_of(problems);
                          list.add({group.path, screen_place{page::groups, group.path}}, std::move(row));
                        });
}

void add_group(sheet& to, const model& state, const std::string& path) {
  const auto* group = find_by_path(state.seen.groups, path);
  if (!group) return;
  to.add_subject("SHARD GROUP", path, staleness(state));
  to.add_field("shards", shard_summary(*group));
  to.add_field("planner", group->planner_unknown ? "not known" : group->planner.empty() ? "none" : group->planner);
  to.add_field("frozen", group->frozen ? "yes: no shard is taken from a member" : "no");
  if (!group->waiting.empty()) to.add_field("waiting", ranges(group->waiting));
  if (!group->unassigned.empty()) to.add_field("unassigned", ranges(group->unassigned));
  add_problems(to, problems_of(*group, state.limits));
  for (const auto& each : group_sections(*group, everything)) to.add_table(each);
}

// The topics with the lag of each group of consumers, and one of them with its shards.

namespace {

table_row topic_row(const topic_status& topic, const topic_group_status* group, look how) {
  const auto messages = total_of(topic.kept).messages;
  const table_cell path{topic.path, how};
  if (!group) return row_of(path, "-", "-", "-", "-", "-", messages, topic.shards);
  const auto lag = total_of(group->behind);
  const auto oldest =
      lag.messages > 0 ? table_cell{short_duration(lag.oldest), look::plain, lag.oldest.count()} : table_cell{"-"};
  return row_of(path, group->name, lag.messages, oldest, group->behind.size(), group->dead_letters, messages,
                topic.shards);
}

void add_rows(list_view& list, const topic_status& topic, const problem_list& problems) {
  const screen_place target{page::topics, topic.path};
  if (topic.groups.empty()) list.add({topic.path, target}, topic_row(topic, nullptr, look_of(problems)));
  for (const auto& each : topic.groups)
    list.add({topic.path + ' ' + each.name, target}, topic_row(topic, &each, look_of(problems)));
}

}  // namespace

list_view topic_list_view(const model& state) {
  return list_of_survey(state, state.seen.topics,
                        {{"TOPIC", 0, false, 16, true},
                         {"GROUP", 0, false, 8, true},
                         {"LAG", 0, true},
                         {"OLDEST", 1, true},
                         {"SHARDS BEHIND", 3, true},
                         {"LETTERS", 2, true},
                         {"KEPT", 4, true},
                         {"SHARDS", 5, true}},
                        add_rows);
}

void add_topic(sheet& to, const model& state, const std::string& path) {
  const auto* topic = find_by_path(state.seen.topics, path);
  if (!topic) return;
  const auto kept = total_of(topic->kept);
  to.add_subject("TOPIC", path, staleness(state));
  to.add_field("shards", std::to_string(topic->shards));
  to.add_field("kept", std::to_string(kept.messages) + " messages in " + std::to_string(kept.batches) + " batches");
  add_problems(to, problems_of(*topic, state.limits));
  to.add_table(lag_table(*topic));
  if (topic->groups.empty()) to.add_field("groups", "none");
  to.add_table(shard_lag_table(*topic, everything));
}

// The recipes that have no page of their own, all in one form: locks, semaphores, barriers, queues, ...

namespace {

/// Those that were found and the queues that are declared, in one survey; nothing as long as either is not known.
std::optional<recipe_survey> all_recipes_of(const model& state) {
  if (state.kinds.recipes && !state.seen.recipes) return std::nullopt;
  if (state.kinds.queues && !state.seen.queues) return std::nullopt;
  recipe_survey all = state.seen.recipes.value_or(recipe_survey{});
  if (!state.seen.queues) return all;
  const auto& queues = *state.seen.queues;
  for (const auto& each : queues.found) all.found.push_back(recipe_status_of(each));
  all.notes.insert(all.notes.end(), queues.notes.begin(), queues.notes.end());
  all.complete = all.complete && queues.complete;
  put_problems_first(all.found, state.limits);
  return all;
}

table_cell age_cell(const std::optional<std::chrono::milliseconds>& age) {
  return age ? table_cell{short_duration(*age), look::plain, age->count()} : table_cell{"-"};
}

std::string session_text(std::int64_t session) {
  return session == 0 ? "none" : hexadecimal(static_cast<std::uint64_t>(session));
}

table table_of_participants(const recipe_status& status) {
  const auto row = [](const participant_status& each) {
    const table_cell role{each.role, each.is_orphan ? look::warning : look::plain};
    return row_of(each.position, role, or_dash(each.id), each.session ? session_text(*each.session) : "-", each.token,
                  age_cell(each.age), each.is_readable ? or_dash(each.detail) : "may not be read", or_dash(each.node));
  };
  return table_of(
      {{"POS", 0, true}, {"ROLE"}, {"ID"}, {"SESSION"}, {"TOKEN", 0, true}, {"FOR", 0, true}, {"DETAIL"}, {"NODE"}},
      status.participants, row);
}

void add_facts(sheet& to, const recipe_status& status) {
  for (const auto& each : status.facts) {
    auto name = each.name;
    std::replace(name.begin(), name.end(), '_', ' ');
    to.add_field(name, to_text(each.value));
  }
}

}  // namespace

list_view recipe_list_view(const model& state) {
  const auto add_row = [](list_view& list, const recipe_status& status, const problem_list& problems) {
    const bool is_readable = status.access == recipe_access::readable;
    list.add({status.path + ' ' + kind_text(status), screen_place{page::recipes, status.path}},
             row_of(table_cell{status.path, look_of(problems)}, kind_text(status),
                    is_readable ? or_dash(status.state) : to_string(status.access), or_dash(status.holder),
                    status.waiting, age_cell(status.age)));
  };
  return list_of_survey(state, all_recipes_of(state),
                        {{"PATH", 0, false, 16, true},
                         {"KIND", 1},
                         {"STATE", 1, false, 8},
                         {"HOLDER", 0, false, 12, true},
                         {"WAITING", 2, true},
                         {"FOR", 3, true}},
                        add_row);
}

void add_recipe(sheet& to, const model& state, const std::string& path) {
  const auto all = all_recipes_of(state);
  const auto* status = find_by_path(all, path);
  if (!status) return;
  to.add_subject("RECIPE", path, staleness(state));
  to.add_field("kind", kind_text(*status) + (status->client.empty() ? "" : ", layout of " + status->client));
  if (status->kinds.size() > 1)
    to.add_text("Nothing tells which of these it is: declare it with the setting `recipes`.");
  if (status->access != recipe_access::readable) to.add_field("access", to_string(status->access), look::warning);
  to.add_field("state", or_dash(status->state));
  if (!status->holder.empty()) to.add_field("holder", status->holder);
  if (status->session) to.add_field("session", session_text(*status->session));
  if (status->age) to.add_field("for", short_duration(*status->age));
  add_facts(to, *status);
  add_problems(to, problems_of(*status, state.limits));
  to.add_table(table_of_participants(*status));
  if (status->not_read > 0) to.add_text("and " + std::to_string(status->not_read) + " more, which were not read");
}

// The undecided transactions of two-phase commits.

namespace {

table_cell age_cell(const undecided_status& one, const problem_limits& limits) {
  return {short_duration(one.age), one.age > limits.transaction_limit ? look::bad : look::plain, one.age.count()};
}

}  // namespace

list_view commit_list_view(const model& state) {
  const auto add_rows = [&state](list_view& list, const commit_status& commit, const problem_list& problems) {
    const screen_place target{page::commits, commit.path};
    const look how = look_of(problems);
    if (commit.undecided.empty()) list.add({commit.path, target}, {{commit.path}, {"-"}, {"none undecided"}});
    for (const auto& each : commit.undecided)
      list.add({commit.path + ' ' + each.id, target}, {{commit.path, how}, age_cell(each, state.limits), {each.id}});
  };
  return list_of_survey(state, state.seen.commits,
                        {{"PATH", 0, false, 12, true}, {"FOR", 1, true}, {"TRANSACTION", 0, false, 12, true}},
                        add_rows);
}

void add_commit(sheet& to, const model& state, const std::string& path) {
  const auto* commit = find_by_path(state.seen.commits, path);
  if (!commit) return;
  to.add_subject("TWO-PHASE COMMIT", path, staleness(state));
  to.add_field("undecided", std::to_string(commit->undecided.size()));
  add_problems(to, problems_of(*commit, state.limits));
  const auto row = [&state](const auto& each) { return row_of(age_cell(each, state.limits), each.id); };
  to.add_table(table_of({{"FOR", 0, true}, {"TRANSACTION"}}, commit->undecided, row));
}

// The events since the start.

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

// The servers, and all that one of them tells.

list_view server_list_view(const model& state) {
  list_view list;
  const auto& servers = state.seen.servers;
  list.content = ensemble_table(servers, state.limits);
  for (const auto& each : servers) list.keys.push_back({each.server, screen_place{page::servers, each.server}});
  const auto banner = quorum_banner(servers);
  if (banner.look != look::good) list.remark = banner;
  return list;
}

void add_server(sheet& to, const model& state, const std::string& name) {
  const auto& servers = state.seen.servers;
  const auto is_it = [&name](const auto& each) { return each.server == name; };
  const auto found = std::find_if(servers.begin(), servers.end(), is_it);
  if (found == servers.end()) return;
  to.add_subject("SERVER", name);
  to.add_field("role", standing(*found));
  if (!found->error.empty()) to.add_field("error", found->error, look::warning);
  auto answers = *found;
  answers.error.clear();  // it would take the place of the figures
  const auto content = ensemble_table({&answers, 1}, state.limits);
  const auto& row = content.rows.front();
  for (std::size_t i = 2; i < row.size(); ++i)
    if (!row[i].text.empty()) to.add_field(content.columns[i].title, row[i].text);
  add_problems(to, problems_of(*found, servers, state.limits));
}

// The keys and the commands.

void add_help(sheet& to) {
  to.add_heading(title_of(page::help));
  for (const auto& each : key_table()) to.add_field(keys_of(each, "  "), each.what);
  to.add_heading("COMMANDS");
  for (const auto& each : all_pages()) to.add_field(":", each.commands);
  to.add_field(":/PATH", "details of what is at this path");
  to.add_field(":q", "quit");
  to.add_heading("FILTER");
  to.add_text(
      "A filter is a part of a line. Capitals in it count, otherwise it stands for both cases; ! in front inverts it.");
  to.add_text("This screen only reads. To intervene: zkadmin resign PATH");
}

}  // namespace zkadmin
