// The recipes that have no page of their own, all in one form: locks, semaphores, barriers, queues, ...
#include "problems/order.hpp"
#include "problems/recipe_rules.hpp"
#include "screen/page_content.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

/// A queue that the settings declare.
recipe_status recipe_of(const queue_status& queue) {
  recipe_status status;
  status.path = queue.path;
  status.kinds = {recipe::queue};
  status.state = queue.items > 0 ? "items" : "empty";
  status.waiting = queue.items;
  if (queue.items > 0) status.age = queue.oldest;
  const auto count = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
  status.facts = {{"items", count(queue.items)},
                  {"claimed", count(queue.claimed)},
                  {"waiting_takers", count(queue.takers)},
                  {"dead_letters", count(queue.dead_letters)}};
  status.original = queue;
  return status;
}

/// Those that were found and the queues that are declared, in one survey; nothing as long as either is not known.
std::optional<recipe_survey> all_recipes_of(const model& state) {
  if (state.kinds.recipes && !state.seen.recipes) return std::nullopt;
  if (state.kinds.queues && !state.seen.queues) return std::nullopt;
  recipe_survey all = state.seen.recipes.value_or(recipe_survey{});
  if (!state.seen.queues) return all;
  const auto& queues = *state.seen.queues;
  for (const auto& each : queues.found) all.found.push_back(recipe_of(each));
  all.notes.insert(all.notes.end(), queues.notes.begin(), queues.notes.end());
  all.complete = all.complete && queues.complete;
  put_problems_first(all.found, state.limits);
  return all;
}

std::string dash_if_none(const std::string& text) { return text.empty() ? "-" : text; }

table_cell age_cell(const std::optional<std::chrono::milliseconds>& age) {
  return age ? table_cell{short_duration(*age), look::plain, age->count()} : table_cell{"-"};
}

template <class Number>
std::string number_text(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string session_text(std::int64_t session) {
  return session == 0 ? "none" : hexadecimal(static_cast<std::uint64_t>(session));
}

table participant_table(const recipe_status& status) {
  table content;
  content.columns = {{"POS", 0, true},   {"ROLE"},         {"ID"},     {"SESSION"},
                     {"TOKEN", 0, true}, {"FOR", 0, true}, {"DETAIL"}, {"NODE"}};
  for (const auto& each : status.participants)
    content.rows.push_back({{number_text(each.position)},
                            {each.role, each.is_orphan ? look::warning : look::plain},
                            {dash_if_none(each.id)},
                            {each.session ? session_text(*each.session) : "-"},
                            {number_text(each.token)},
                            age_cell(each.age),
                            {each.is_readable ? dash_if_none(each.detail) : "may not be read"},
                            {dash_if_none(each.node)}});
  return content;
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
             {{status.path, look_of(problems)},
              {kind_text(status)},
              {is_readable ? dash_if_none(status.state) : to_string(status.access)},
              {dash_if_none(status.holder)},
              {number_text(status.waiting)},
              age_cell(status.age)});
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
  to.add_field("state", dash_if_none(status->state));
  if (!status->holder.empty()) to.add_field("holder", status->holder);
  if (status->session) to.add_field("session", session_text(*status->session));
  if (status->age) to.add_field("for", short_duration(*status->age));
  add_facts(to, *status);
  add_problems(to, problems_of(*status, state.limits));
  to.add_table(participant_table(*status));
  if (status->not_read > 0) to.add_text("and " + std::to_string(status->not_read) + " more, which were not read");
}

}  // namespace zkadmin
