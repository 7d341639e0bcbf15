#include "cluster/live_place.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/group.hpp"
#include "cluster/queue.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr auto look_again_interval = 10ms;  // While first readings are waited for.
constexpr auto longest_first_reading = 5s;
constexpr auto report_interval = 1s;  // Between surveys in which only ages differ.

template <class Survey>
void add_outline(Survey& to, election_survey outline) {
  to.complete = to.complete && outline.complete;
  to.refused = to.refused || outline.refused;
  to.notes.insert(to.notes.begin(), std::make_move_iterator(outline.notes.begin()),
                  std::make_move_iterator(outline.notes.end()));
}

/// A reader that needs no more than the path.
template <class Status>
typename live_readings<Status>::read_site reading_at_path(asio::awaitable<reading<Status>> (*read)(zkrecipes::session,
                                                                                                   std::string)) {
  return
      [read](zkrecipes::session session, recipe_site site) { return read(std::move(session), std::move(site.path)); };
}

asio::awaitable<reading<recipe_status>> read_other(zkrecipes::session session, recipe_site site) {
  const recipe_reading how{some_participants, site.is_declared};
  return read_recipe(std::move(session), site.which, std::move(site.path), how);
}

std::vector<recipe_site> sites_at(recipe which, const std::vector<std::string>& paths, bool is_declared) {
  std::vector<recipe_site> all;
  for (const auto& each : paths) all.push_back({which, each, is_declared});
  return all;
}

void add_one(queue_survey& all, const recipe_site& site, reading<queue_status> seen) {
  if (seen.error == zkrecipes::errc::no_node) {
    all.complete = false;
    all.notes.push_back({site.path, "there is no queue"});
    return;
  }
  add_to(all, site.path, std::move(seen));
}

void add_one(recipe_survey& all, const recipe_site& site, reading<recipe_status> seen) {
  add_reading(all, site, std::move(seen));
}

template <class Status>
void add_one(survey<Status>& all, const recipe_site& site, reading<Status> seen) {
  add_to(all, site.path, std::move(seen));
}

/// Checks every few milliseconds, because nobody else waits for first readings.
asio::awaitable<void> wait_for(std::function<bool()> is_reached, deadline limit) {
  asio::steady_timer pause(co_await asio::this_coro::executor);
  while (!is_reached() && steady_clock::now() < limit) {
    pause.expires_after(look_again_interval);
    co_await pause.async_wait(as_result);
  }
}

/// Calls `callbacks` whenever the connection is lost (true) or back (false), for as long as the owner lives.
asio::awaitable<void> follow_connection(zkrecipes::session session,
                                        std::weak_ptr<std::function<void(bool)>> callbacks) {
  auto last = session.status();
  for (;;) {
    auto changed = co_await session.async_status_change(last.changes, as_result);
    if (std::get<0>(changed)) co_return;
    const auto now = std::move(std::get<1>(changed));
    const bool is_back = now.state == zkrecipes::session_state::connected;
    const bool was_lost = last.state == zkrecipes::session_state::connected || now.changes > last.changes + 1;
    last = now;
    const auto hook = callbacks.lock();
    if (!hook) co_return;
    (*hook)(!is_back || was_lost);
  }
}

}  // namespace

live_place::live_place(zkrecipes::session session, followed_place what, live_elections::hooks callbacks)
    : session_(session),
      what_(std::move(what)),
      search_(live_search::make(session, what_.root, callbacks.on_change)),
      elections_(live_elections::make(session, callbacks)),
      groups_(live_groups::make(session, callbacks.on_change)) {
  const auto forget = [search = search_](const recipe_site& gone) { search->forget(gone.which, gone.path); };
  topics_ =
      std::make_shared<live_readings<topic_status>>(session, reading_at_path(&read_topic), what_.interval,
                                                    live_readings<topic_status>::hooks{callbacks.on_change, forget});
  commits_ =
      std::make_shared<live_readings<commit_status>>(session, reading_at_path(&read_commit), what_.interval,
                                                     live_readings<commit_status>::hooks{callbacks.on_change, forget});
  queues_ =
      std::make_shared<live_readings<queue_status>>(session, reading_at_path(&read_queue), what_.interval,
                                                    live_readings<queue_status>::hooks{callbacks.on_change, forget});
  others_ = std::make_shared<live_readings<recipe_status>>(
      session, &read_other, what_.interval, live_readings<recipe_status>::hooks{callbacks.on_change, forget});
  // Readings that have begun without a connection may have failed, and would be tried again only after their pause.
  on_connection_ =
      std::make_shared<std::function<void(bool)>>([this](bool is_lost) { is_lost ? forget_watches() : read_again(); });
  connection_ = background_task(session.get_executor(), follow_connection(session, on_connection_));
}

void live_place::forget_watches() {
  proof_due_ = {};
  search_->forget_watches();
  elections_->forget_watches();
  groups_->forget_watches();
  topics_->forget_watches();
  commits_->forget_watches();
  queues_->forget_watches();
  others_->forget_watches();
}

void live_place::want_all() {
  search_->want_all();
  read_again();
}

void live_place::read_again() {
  topics_->read_again();
  commits_->read_again();
  queues_->read_again();
  others_->read_again();
}

void live_place::show(const shown_kinds& shown) {
  topics_->show(shown.topics);
  commits_->show(shown.commits);
  queues_->show(shown.others);
  others_->show(shown.others);
}

asio::awaitable<void> live_place::search(deadline limit) {
  if (search_->is_due()) co_await search_->renew(limit);
  follow_found();
  co_await elections_->follow(found(recipe::election), limit);
}

void live_place::follow_found() {
  groups_->follow(found(recipe::shard_group));
  topics_->follow(sites_at(recipe::topic, found(recipe::topic), false));
  commits_->follow(sites_at(recipe::two_phase_commit, found(recipe::two_phase_commit), false));
  queues_->follow(sites_at(recipe::queue, what_.queues, true));
  const auto paths_of_kind = [this](recipe which) { return found(which); };
  others_->follow(other_sites(paths_of_kind, what_.recipes, what_.queues));
}

election_survey live_place::outline() const {
  return {{}, search_->notes(), search_->is_complete(), search_->is_refused()};
}

asio::awaitable<void> live_place::prove(deadline limit) {
  if (!elections_->is_ready()) co_await elections_->follow(found(recipe::election), limit);
  groups_->follow(found(recipe::shard_group));
  if (steady_clock::now() < proof_due_) co_return;
  auto looked = co_await session_.async_exists(what_.root, as_result);
  check(std::get<0>(looked), "looking at " + what_.root);
  proof_due_ = steady_clock::now() + what_.proof_interval;
}

bool live_place::has_new_elections() const {
  return elections_->has_news() || elections_told_.revision != search_->revision();
}

asio::awaitable<election_survey> live_place::elections(deadline limit) {
  co_await prove(limit);
  co_return known_elections();
}

asio::awaitable<group_survey> live_place::groups(deadline limit) {
  const auto end = std::min<deadline>(limit, steady_clock::now() + longest_first_reading);
  co_await wait_for([this] { return groups_->is_ready(); }, end);
  co_return known_groups();
}

bool live_place::is_everything_read() const {
  return topics_->is_ready() && commits_->is_ready() && queues_->is_ready() && others_->is_ready();
}

asio::awaitable<void> live_place::read(findings& into, const wanted_kinds& kinds, deadline limit) {
  into.elections.reset(), into.groups.reset(), into.topics.reset(), into.commits.reset();
  into.queues.reset(), into.recipes.reset(), into.trouble.clear();
  try {
    auto elections = co_await this->elections(limit);
    auto groups = co_await this->groups(limit);
    co_await wait_for([this] { return is_everything_read(); }, limit);
    if (kinds.elections) into.elections = std::move(elections);
    if (kinds.groups) into.groups = std::move(groups);
    if (kinds.topics) into.topics = survey_of(*topics_);
    if (kinds.commits) into.commits = survey_of(*commits_);
    if (kinds.queues) into.queues = survey_of(*queues_);
    if (kinds.recipes) into.recipes = survey_of(*others_);
  } catch (const failure& error) {
    into.trouble = error.what();
  }
}

election_survey live_place::known_elections() {
  elections_told_.revision = search_->revision();
  auto all = elections_->survey();
  add_outline(all, outline());
  return all;
}

group_survey live_place::known_groups() const {
  const auto planner = [this](const std::string& group) {
    const auto path = group + "/_planner";
    auto known = planner_of(elections_->find(path));
    // What a search has left out may be there.
    known.is_unknown = known.is_unknown || elections_->is_unread(path) || (known.id.empty() && !search_->is_complete());
    return known;
  };
  auto all = groups_->survey(planner);
  add_outline(all, outline());
  return all;
}

template <class Status>
survey<Status> live_place::survey_of(live_readings<Status>& all) const {
  survey<Status> found;
  all.add_to_survey(
      found, [](auto& to, const recipe_site& site, reading<Status> seen) { add_one(to, site, std::move(seen)); });
  if constexpr (!std::is_same_v<Status, queue_status>) add_outline(found, outline());
  return found;
}

template <class Status>
std::optional<survey<Status>> live_place::renewed(live_readings<Status>& all, told& last) {
  const auto revision = search_->revision();
  if (revision == 0 || (last.revision == 0 && !all.is_ready())) return std::nullopt;
  const auto now = steady_clock::now();
  const bool has_grown_older = !all.is_empty() && now >= last.when + report_interval;
  if (!all.has_news() && revision == last.revision && !has_grown_older) return std::nullopt;
  last = {revision, now};
  return survey_of(all);
}

std::optional<group_survey> live_place::new_groups() {
  const auto now = steady_clock::now();
  if (!first_groups_due_) first_groups_due_ = now + longest_first_reading;
  if (!has_told_groups_ && !groups_->is_ready() && now < *first_groups_due_) return std::nullopt;
  has_told_groups_ = true;
  return known_groups();
}

std::optional<topic_survey> live_place::new_topics() { return renewed(*topics_, topics_told_); }
std::optional<commit_survey> live_place::new_commits() { return renewed(*commits_, commits_told_); }
std::optional<queue_survey> live_place::new_queues() { return renewed(*queues_, queues_told_); }
std::optional<recipe_survey> live_place::new_others() { return renewed(*others_, others_told_); }

}  // namespace zkadmin
