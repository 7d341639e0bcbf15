#include <algorithm>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <zkrecipes/session.hpp>

#include "base/failure.hpp"
#include "brokers/broker_reader.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/queue.hpp"
#include "cluster/recipe_status.hpp"
#include "cluster/recipe_survey.hpp"
#include "cluster/topic.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/targets.hpp"
#include "problems/verdict.hpp"
#include "settings/recipe_kind.hpp"

namespace zkadmin {
namespace {

// Finds and reads all recipes that have rules for problems.

/// One operation at a time. After its deadline an operation sends no further requests, and what was left out is noted.
class inspector {
 public:
  /// Looks at and below each of the roots, at the queues, and at the recipes that are declared.
  inspector(zkrecipes::session session, const std::vector<std::string>& roots, std::vector<std::string> queues,
            wanted_kinds kinds, std::vector<declared_recipe> recipes = {});

  /// Searches the tree. Throws `failure`.
  boost::asio::awaitable<void> search(deadline limit);

  /// Reads what the last search has found. A kind that can not be read is missing in the findings, and `trouble` says
  /// why. Does not touch the servers there.
  boost::asio::awaitable<void> read(findings& into, deadline limit);

 private:
  boost::asio::awaitable<void> read_queues(findings& into, deadline limit);
  boost::asio::awaitable<void> read_others(findings& into, deadline limit);

  zkrecipes::session session_;
  wanted_kinds kinds_;
  std::vector<std::string> queues_;
  std::vector<declared_recipe> declared_;
  std::vector<std::unique_ptr<collector>> places_;
};

namespace asio = boost::asio;

/// The survey of one kind at all places, and how to read it at one of them.
template <class Survey>
struct kind_of_recipe {
  bool is_wanted;
  std::optional<Survey>& into;
  std::function<asio::awaitable<Survey>(collector&)> read;
};

template <class Item>
void append_all(std::vector<Item>& to, std::vector<Item> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

template <class Survey>
void merge_into(Survey& all, Survey more) {
  append_all(all.found, std::move(more.found));
  append_all(all.notes, std::move(more.notes));
  all.complete = all.complete && more.complete;
  all.refused = all.refused || more.refused;
}

template <class Survey>
asio::awaitable<void> read_kind(kind_of_recipe<Survey> kind, const std::vector<std::unique_ptr<collector>>& places,
                                std::string& trouble) {
  kind.into.reset();
  if (!kind.is_wanted) co_return;
  try {
    Survey all;
    for (const auto& each : places) {
      auto more = co_await kind.read(*each);
      merge_into(all, std::move(more));
    }
    kind.into = std::move(all);
  } catch (const failure& error) {
    if (trouble.empty()) trouble = error.what();
  }
}

/// Reads the recipes of a kind that a place has found.
template <class Status>
std::function<asio::awaitable<survey<Status>>(collector&)> reading_with(zkrecipes::session session, recipe which,
                                                                        reader<Status> read, deadline limit) {
  return [=](collector& at) -> asio::awaitable<survey<Status>> {
    const auto outline = at.outline();
    survey<Status> all{{}, outline.notes, outline.complete, outline.refused};
    const path_hook is_gone = [&at, which](const std::string& path) { at.forget(which, path); };
    const reading_options how{true, is_gone};  // a temporary would be destroyed twice (GCC 12)
    co_await read_each<Status>(session, at.found(which), read, limit, all, how);
    co_return all;
  };
}

/// A queue that was declared and is not there has another path, or nobody has put anything yet.
void record_missing(queue_survey& all, const std::string& path) {
  const auto is_it = [&path](const auto& each) { return each.path == path; };
  if (std::any_of(all.found.begin(), all.found.end(), is_it) || std::any_of(all.notes.begin(), all.notes.end(), is_it))
    return;
  all.complete = false;
  all.notes.push_back({path, "there is no queue"});
}

inspector::inspector(zkrecipes::session session, const std::vector<std::string>& roots, std::vector<std::string> queues,
                     wanted_kinds kinds, std::vector<declared_recipe> recipes)
    : session_(std::move(session)), kinds_(kinds), queues_(std::move(queues)), declared_(std::move(recipes)) {
  for (const auto& each : roots) places_.push_back(std::make_unique<collector>(session_, each));
}

asio::awaitable<void> inspector::search(deadline limit) {
  const bool is_needed = kinds_.elections || kinds_.groups || kinds_.topics || kinds_.commits || kinds_.recipes;
  if (!is_needed) co_return;  // queues are declared
  for (const auto& each : places_) co_await each->search(limit);
}

asio::awaitable<void> inspector::read(findings& into, deadline limit) {
  into.trouble.clear();
  kind_of_recipe<election_survey> elections{kinds_.elections, into.elections,
                                            [limit](collector& at) { return at.elections(limit); }};
  kind_of_recipe<group_survey> groups{kinds_.groups, into.groups, [limit](collector& at) { return at.groups(limit); }};
  kind_of_recipe<topic_survey> topics{kinds_.topics, into.topics,
                                      reading_with<topic_status>(session_, recipe::topic, read_topic, limit)};
  kind_of_recipe<commit_survey> commits{
      kinds_.commits, into.commits,
      reading_with<commit_status>(session_, recipe::two_phase_commit, read_commit, limit)};
  co_await read_kind(std::move(elections), places_, into.trouble);
  co_await read_kind(std::move(groups), places_, into.trouble);
  co_await read_kind(std::move(topics), places_, into.trouble);
  co_await read_kind(std::move(commits), places_, into.trouble);
  co_await read_queues(into, limit);
  co_await read_others(into, limit);
}

asio::awaitable<void> inspector::read_others(findings& into, deadline limit) {
  into.recipes.reset();
  if (!kinds_.recipes) co_return;
  recipe_survey all;
  for (const auto& each : places_) {
    const auto outline = each->outline();
    append_all(all.notes, outline.notes);
    all.complete = all.complete && outline.complete;
    all.refused = all.refused || outline.refused;
  }
  const auto found = [this](recipe which) {
    std::vector<std::string> paths;
    for (const auto& each : places_) append_all(paths, each->found(which));
    return paths;
  };
  const auto sites = other_sites(found, declared_, kinds_.queues ? queues_ : std::vector<std::string>());
  co_await read_sites(session_, sites, some_participants, limit, all, [this](const recipe_site& gone) {
    for (auto& each : places_) each->forget(gone.which, gone.path);
  });
  into.recipes = std::move(all);
}

asio::awaitable<void> inspector::read_queues(findings& into, deadline limit) {
  into.queues.reset();
  if (!kinds_.queues) co_return;
  try {
    queue_survey all;
    const reading_options how{true, {}};  // a temporary would be destroyed twice (GCC 12)
    co_await read_each<queue_status>(session_, queues_, read_queue, limit, all, how);
    for (const auto& path : queues_) record_missing(all, path);
    into.queues = std::move(all);
  } catch (const failure& error) {
    if (into.trouble.empty()) into.trouble = error.what();
  }
}

/// The result of a look. The command and the look share it, because the look may go on after the command has stopped
/// waiting.
struct examination : contact {
  examination(const settings& with, targets of, std::optional<broker_place> asked)
      : contact(asked ? with_log_of(*asked, with) : with, "recipes"), what(std::move(of)), broker(std::move(asked)) {}
  targets what;
  std::optional<broker_place> broker;
  findings seen;
  bool is_done = false;
};

/// A broker that is there and does not tell is a gap in what is known; one that is away is a problem.
asio::awaitable<void> ask_brokers(examination& about, deadline limit) {
  if (!about.broker || !about.seen.recipes) co_return;
  auto& recipes = *about.seen.recipes;
  for (auto& each : recipes.found) {
    auto* const source = std::get_if<stream_status>(&each.original);
    if (!source) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(middle(limit) - deadline::clock::now());
    auto place = *about.broker;
    place.limit = std::clamp(left, std::chrono::milliseconds(10), place.limit);
    std::string gap;
    try {
      co_await ask_broker(*about.session, place, *source);
      if (source->broker && !source->broker->is_away) gap = source->broker->trouble;
    } catch (const failure& error) {
      gap = error.what();
    }
    if (gap.empty()) continue;
    recipes.complete = false;
    recipes.notes.push_back({each.path, "its broker does not tell: " + gap});
  }
}

asio::awaitable<void> examine_recipes(std::shared_ptr<examination> shared, deadline limit) {
  const std::vector<std::string> everything{shared->wanted.root};
  const auto& paths = shared->what.paths;
  inspector look(*shared->session, paths.empty() ? everything : paths, shared->what.queues, shared->what.kinds,
                 shared->what.recipes);
  co_await look.search(middle(limit));
  co_await look.read(shared->seen, middle(limit));
  co_await ask_brokers(*shared, limit);
}

asio::awaitable<void> examine(std::shared_ptr<examination> shared, deadline limit) {
  try {
    if (shared->what.kinds.has_recipes()) {
      co_await make_contact(shared);
      co_await examine_recipes(shared, limit);
    } else {
      co_await ask_servers(shared);
    }
  } catch (const std::exception& error) {
    shared->seen.trouble = error.what();
  }
  shared->is_done = true;
}

/// A path that was named and holds nothing is no evidence that all is well: its recipes may have another path.
void record_empty_paths(const examination& of, verdict& judged) {
  const auto& seen = of.seen;
  const auto holds_any = [&seen](const std::string& path) {
    const auto is_in = [&path](const auto& each) {
      return each.path == path || path == "/" || each.path.starts_with(path + "/");
    };
    const auto has = [&is_in](const auto& all) { return std::any_of(all.begin(), all.end(), is_in); };
    return (seen.elections && has(seen.elections->found)) || (seen.groups && has(seen.groups->found)) ||
           (seen.topics && has(seen.topics->found)) || (seen.commits && has(seen.commits->found)) ||
           (seen.queues && has(seen.queues->found)) || (seen.recipes && has(seen.recipes->found));
  };
  for (const auto& each : of.what.named)
    if (!holds_any(each)) judged.unknown.push_back({each, "nothing to check was found at or below it"});
}

}  // namespace

check_state check_cluster(surroundings& around, const settings& wanted, const std::vector<std::string>& only,
                          const std::optional<broker_place>& broker, output_format format) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto shared = std::make_shared<examination>(wanted, parse_targets(only, wanted.queues, wanted.recipes), broker);
  asio::co_spawn(around.io, examine(shared, limit), asio::detached);
  run_until(around.io, limit, [&shared] { return shared->is_done; });
  const bool is_refused = !shared->is_done && shared->session && shared->session->status().incarnation == 0;
  const auto since =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - shared->session_at);
  if (is_refused && since >= wanted.timeout / 2) shared->seen.without_session = since;
  if (!shared->is_done && shared->seen.trouble.empty()) shared->seen.trouble = out_of_time(*shared).what();
  shared->seen.servers = shared->servers;
  auto judged = judge(shared->seen, shared->what.kinds, wanted.limits);
  record_empty_paths(*shared, judged);
  end_contact(around.io, *shared, limit);
  return print_verdict(around, judged, format);
}

}  // namespace zkadmin
