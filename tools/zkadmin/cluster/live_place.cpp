#include "cluster/live_place.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/group.hpp"
#include "cluster/nodes.hpp"
#include "cluster/queue.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {

namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using std::chrono::steady_clock;
using zkrecipes::errc;
using zkrecipes::error_code;

constexpr std::size_t most_nodes = 10'000;
constexpr std::size_t most_alike = 1'000;  // Each that is known is watched, and delays the next search.
constexpr std::size_t most_folders = 100;
constexpr std::size_t most_watched_children = 1'000;
constexpr auto shortest_pause = 60s;        // Between two searches of the whole tree.
constexpr auto pause_for_a_node = 3s;       // So much longer with each node: a visit takes one or two requests.
constexpr auto pause_of_a_late_one = 1min;  // For a search that was cut off by its deadline.
constexpr auto refusal_interval = 1min;     // No watch tells that a node may be read now.

/// The nodes of an ordered set or map that are below a path.
template <class Nodes>
auto below(Nodes& nodes, const std::string& path) {
  const auto begin = path == "/" ? path : path + "/";
  auto end = begin;
  ++end.back();
  return std::pair(nodes.upper_bound(begin), nodes.lower_bound(end));  // the root itself is called "/"
}

template <class Nodes>
void erase_below(Nodes& nodes, const std::string& path) {
  const auto [first, last] = below(nodes, path);
  nodes.erase(first, last);
}

bool may_be_watched(const visited_node& node) {
  const auto& names = node.listed.names;
  const bool is_quiet = node.which == recipe::none || node.which == recipe::shard_group;
  return is_quiet && names.size() <= most_watched_children && std::none_of(names.begin(), names.end(), is_leaf_name);
}

}  // namespace

std::shared_ptr<live_search> live_search::make(zkrecipes::session session, std::string root,
                                               std::function<void()> on_change) {
  return std::shared_ptr<live_search>(new live_search(std::move(session), std::move(root), std::move(on_change)));
}

live_search::live_search(zkrecipes::session session, std::string root, std::function<void()> on_change)
    : session_(std::move(session)), root_(std::move(root)), on_change_(std::move(on_change)) {}

bool live_search::is_due() const {
  const auto now = steady_clock::now();
  return wants_all_ || !changed_.empty() || now >= all_due_ || (is_refused() && now >= refusals_due_);
}

asio::awaitable<void> live_search::renew(deadline limit) {
  // One search of everything visits many nodes at a time; those of single folders follow one another.
  if (wants_all_ || changed_.size() > most_folders || steady_clock::now() >= all_due_) {
    co_await search_all(limit);
  } else {
    if (steady_clock::now() >= refusals_due_) retry_refusals();
    co_await search_changed(limit);
  }
  found_ = paths_of(told_);
  ++revision_;
}

void live_search::forget_watches() {
  watches_.clear();
  wants_all_ = true;
}

void live_search::retry_refusals() {
  for (const auto& [path, each] : notes_)
    if (each.is_refused) changed_.insert(path);
  refusals_due_ = steady_clock::now() + refusal_interval;
}

asio::awaitable<void> live_search::search_changed(deadline limit) {
  while (!changed_.empty() && steady_clock::now() < limit) {
    auto node = changed_.extract(changed_.begin());
    try {
      co_await search_below(node.value(), limit);
    } catch (const failure&) {
      changed_.insert(std::move(node));
      throw;
    }
  }
}

asio::awaitable<void> live_search::search_all(deadline limit) {
  wants_all_ = false;
  changed_.clear();
  auto before = std::exchange(visited_, {});
  auto known = std::exchange(told_, {});
  tree_search search(
      session_, root_,
      {.most = most_nodes, .most_alike = most_alike, .on_visited = [this](const auto& node) { keep(node); }});
  try {
    co_await search.run(limit);
  } catch (const failure&) {
    visited_.merge(before);
    told_.merge(known);
    wants_all_ = true;
    is_root_gone_ |= search.is_gone();
    throw;
  }
  is_root_gone_ = false;
  notes_.clear();
  keep_notes(search);
  // An incomplete search may have missed some that are known, so they are kept.
  if (!is_complete()) told_.merge(known);
  std::erase_if(watches_, [this](const auto& each) { return !visited_.contains(each.first); });
  const auto pause = std::max<std::chrono::seconds>(shortest_pause, visited_.size() * pause_for_a_node);
  all_due_ = steady_clock::now() + pause;
  if (search.is_late()) hasten();
  was_late_ = search.is_late();
  refusals_due_ = steady_clock::now() + refusal_interval;
}

/// Visits a node again, and those of its children that are new.
asio::awaitable<void> live_search::search_below(std::string folder, deadline limit) {
  const auto left = most_nodes - std::min(visited_.size(), most_nodes - 1);
  const auto is_known = [this](const std::string& path) { return visited_.contains(path); };
  const auto keep_one = [this, folder](const visited_node& node) {
    if (node.path == folder) forget_missing(node);
    keep(node);
  };
  tree_search search(session_, folder,
                     {.most = left, .most_alike = 0, .skips = is_known, .on_visited = keep_one, .is_known_root = true});
  co_await search.run(limit);
  if (search.is_gone()) forget_below(folder);
  if (search.is_gone() && folder == root_) wants_all_ = is_root_gone_ = true;  // which fails until it is back
  notes_.erase(folder);
  erase_below(notes_, folder);
  keep_notes(search);
  if (search.is_late()) hasten();
}

/// The first search that is late may have lost its time to an outage, so another one follows at once.
void live_search::hasten() {
  const auto pause = std::exchange(was_late_, true) ? pause_of_a_late_one : 0min;
  all_due_ = std::min<steady_clock::time_point>(all_due_, steady_clock::now() + pause);
}

void live_search::keep_notes(const tree_search& search) {
  for (auto& each : search.notes()) notes_.insert_or_assign(each.path, each);
}

std::vector<survey_note> live_search::notes() const {
  std::vector<survey_note> all;
  for (const auto& [path, each] : notes_) all.push_back(each);
  return all;
}

bool live_search::is_refused() const noexcept {
  return std::any_of(notes_.begin(), notes_.end(), [](const auto& each) { return each.second.is_refused; });
}

void live_search::keep(const visited_node& node) {
  visited_.insert(node.path);
  if (node.tells.which != recipe::none) {
    told_.insert_or_assign(node.path, node.tells);
  } else {
    told_.erase(node.path);
  }
  if (may_be_watched(node)) {
    watch(node.path, node.listed.stat.pzxid);
  } else {
    watches_.erase(node.path);
  }
}

void live_search::watch(const std::string& path, std::int64_t seen) {
  if (watches_.contains(path)) return;
  watches_.emplace(path, background_task(session_.get_executor(), await_change(path, seen)));
}

/// Does not keep the search alive: its end cancels the task.
asio::awaitable<void> live_search::await_change(std::string path, std::int64_t seen) {
  const auto weak = weak_from_this();
  auto session = session_;
  auto changed = co_await session.async_children_change(path, seen, as_result);
  const error_code error = std::get<0>(changed);
  const auto self = weak.lock();
  const bool is_over = error == asio::error::operation_aborted || error == errc::closed || error == errc::auth_failed;
  if (!self || is_over) co_return;
  // Another error says that the watch is gone, with a session for example: the node has to be read again.
  self->changed_.insert(path);
  const auto done = self->watches_.extract(path);  // which is this task
  if (self->on_change_) self->on_change_();
}

void live_search::forget(recipe which, const std::string& path) {
  std::erase_if(told_, [gone = recipe_place{which, path}](const auto& each) { return each.second == gone; });
  std::erase(found_[which], path);
  // It may come back before its parent is searched, which visits only what is not known.
  visited_.erase(path);
  erase_below(visited_, path);
}

/// The node is gone, and so is everything below it.
void live_search::forget_below(const std::string& path) {
  visited_.erase(path);
  watches_.erase(path);
  erase_below(visited_, path);
  erase_below(watches_, path);
  told_.erase(path);
  erase_below(told_, path);
}

/// Forgets the children that are known and not in the list.
void live_search::forget_missing(const visited_node& node) {
  const std::set<std::string> names(node.listed.names.begin(), node.listed.names.end());
  const auto begin = join(node.path, "");
  std::set<std::string> gone;
  const auto [first, last] = below(visited_, node.path);
  for (auto it = first; it != last; ++it) {
    const auto name = it->substr(begin.size(), it->find('/', begin.size()) - begin.size());
    if (!names.contains(name)) gone.insert(begin + name);
  }
  for (const auto& each : gone) forget_below(each);
}

std::vector<std::string> live_search::found(recipe which) const {
  const auto paths = found_.find(which);
  return paths == found_.end() ? std::vector<std::string>() : paths->second;
}

namespace {

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
  if (search_->is_root_gone()) throw missing_root(what_.root);
  if (!elections_->is_ready()) co_await elections_->follow(found(recipe::election), limit);
  groups_->follow(found(recipe::shard_group));
  if (steady_clock::now() < proof_due_) co_return;
  // A server that is cut off from the leader would answer a read.
  const auto present = co_await session_.async_sync(as_result);
  check(std::get<0>(present), "catching up with the leader");
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
