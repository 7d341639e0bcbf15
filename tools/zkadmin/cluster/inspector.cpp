#include "cluster/inspector.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "cluster/collector.hpp"
#include "cluster/commit.hpp"
#include "cluster/queue.hpp"
#include "cluster/topic.hpp"

namespace zkadmin {
namespace {

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

}  // namespace

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

bool inspector::is_complete() const noexcept {
  return std::all_of(places_.begin(), places_.end(), [](const auto& each) { return each->outline().complete; });
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

}  // namespace zkadmin
