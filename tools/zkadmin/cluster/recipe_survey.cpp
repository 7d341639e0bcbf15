#include "cluster/recipe_survey.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/nodes.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;

constexpr std::size_t recipes_at_a_time = 8;

std::vector<recipe_site> sites_of(tree_search& search, const std::optional<recipe>& wanted) {
  std::vector<recipe_site> sites;
  for (const auto which : all_recipes()) {
    if (!may_be(which, wanted)) continue;
    for (const auto& path : search.found(which)) sites.push_back({which, path, false});
  }
  return sites;
}

void drop_other_kinds(std::vector<recipe_status>& all, const std::optional<recipe>& wanted) {
  if (!wanted) return;
  std::erase_if(all, [&wanted](const recipe_status& each) {
    return std::find(each.kinds.begin(), each.kinds.end(), *wanted) == each.kinds.end();
  });
}

std::vector<declared_recipe> declared_of_kind(const recipe_query& query) {
  auto declared = query.declared;
  if (query.kind) std::erase_if(declared, [&query](const auto& each) { return each.kind != *query.kind; });
  return declared;
}

/// One of the sites, and what came of reading it.
struct site_reading {
  const recipe_site& site;
  reading<recipe_status> seen{};
  std::string trouble{};  ///< Why it could not be read.
};

asio::awaitable<void> read_site(zkrecipes::session session, std::size_t participants, deadline limit,
                                site_reading& into) {
  if (std::chrono::steady_clock::now() >= limit) {
    into.trouble = "it was not looked at: the time was over; choose a longer --timeout";
    co_return;
  }
  const recipe_reading how{participants, into.site.is_declared};
  try {
    into.seen = co_await read_recipe(std::move(session), into.site.which, into.site.path, how);
  } catch (const failure& error) {
    into.trouble = error.what();
  }
}

void record_gap(recipe_survey& all, const std::string& path, std::string why) {
  all.complete = false;
  all.notes.push_back({path, std::move(why)});
}

recipe_status missing_at(const recipe_site& site) {
  recipe_status status;
  status.path = site.path;
  status.kinds = {site.which};
  status.access = recipe_access::missing;
  status.state = to_string(status.access);
  return status;
}

/// Only the node is known of a participant that may not be read.
void record_withheld(recipe_survey& all, const recipe_status& one) {
  const auto is_withheld = [](const participant_status& who) { return !who.is_readable; };
  const auto count = std::count_if(one.participants.begin(), one.participants.end(), is_withheld);
  if (count == 0) return;
  all.refused = true;
  record_gap(all, one.path, std::to_string(count) + " of its nodes may not be read with these credentials");
}

/// Those that the query or the settings name, else those that the nodes tell.
asio::awaitable<std::vector<recipe_site>> sites_at(zkrecipes::session session, const std::string& path,
                                                   const recipe_query& query, deadline limit) {
  std::vector<recipe_site> sites;
  if (query.kind) {
    sites.push_back({*query.kind, path, true});
    co_return sites;
  }
  for (const auto& each : query.declared)
    if (each.path == path) sites.push_back({each.kind, path, true});
  if (!sites.empty()) co_return sites;
  auto looked = co_await session.async_exists(path, as_result);
  if (std::get<0>(looked) == errc::no_node) throw failure(exit_code::error, "there is no node " + printable(path));
  tree_search search(session, path, {.levels = 1});
  co_await search.run(limit);
  sites = sites_of(search, std::nullopt);
  std::erase_if(sites, [&path](const auto& each) { return each.path != path; });
  co_return sites;
}

}  // namespace

bool may_be(recipe found, const std::optional<recipe>& wanted) noexcept {
  if (!wanted || found == *wanted) return true;
  const auto is_one_of = [&wanted](std::initializer_list<recipe> all) {
    return std::find(all.begin(), all.end(), *wanted) != all.end();
  };
  if (found == recipe::shard_group) return *wanted == recipe::shared_limiter;
  if (found == recipe::lock) return is_one_of({recipe::read_write_lock, recipe::election});
  return found == recipe::membership && is_one_of({recipe::persistent_node, recipe::double_barrier, recipe::semaphore});
}

void declare(std::vector<recipe_site>& sites, const std::vector<declared_recipe>& declared) {
  std::erase_if(sites, [&declared](const auto& site) {
    return std::any_of(declared.begin(), declared.end(), [&site](const auto& each) { return each.path == site.path; });
  });
  for (const auto& each : declared) sites.push_back({each.kind, each.path, true});
  std::sort(sites.begin(), sites.end(),
            [](const auto& a, const auto& b) { return std::tie(a.path, a.which) < std::tie(b.path, b.which); });
}

std::vector<recipe_site> other_sites(const std::function<std::vector<std::string>(recipe)>& found,
                                     const std::vector<declared_recipe>& declared,
                                     const std::vector<std::string>& queues) {
  std::vector<recipe_site> sites;
  for (const auto which : other_recipes())
    for (const auto& path : found(which)) sites.push_back({which, path, false});
  declare(sites, declared);
  std::erase_if(sites, [&queues](const recipe_site& each) {
    return each.which == recipe::queue && std::find(queues.begin(), queues.end(), each.path) != queues.end();
  });
  return sites;
}

void add_reading(recipe_survey& all, const recipe_site& site, reading<recipe_status> seen) {
  if (seen.error == errc::no_node) {
    if (!site.is_declared) return;
    record_gap(all, site.path, std::string("there is no ") + to_string(site.which));
    all.found.push_back(missing_at(site));
    return;
  }
  if (seen.status.access == recipe_access::no_access) {
    all.refused = true;
    record_gap(all, site.path, "may not be read with these credentials");
  }
  record_withheld(all, seen.status);
  all.found.push_back(std::move(seen.status));
}

asio::awaitable<void> read_sites(zkrecipes::session session, const std::vector<recipe_site>& sites,
                                 std::size_t participants, deadline limit, recipe_survey& all,
                                 std::function<void(const recipe_site&)> is_gone) {
  std::vector<site_reading> readings;
  for (const auto& each : sites) readings.push_back({each});
  const auto read_one = [&](std::size_t i) { return read_site(session, participants, limit, readings[i]); };
  co_await for_each_index(readings.size(), recipes_at_a_time, read_one);
  for (auto& each : readings) {
    const bool has_gone = each.trouble.empty() && each.seen.error == errc::no_node && !each.site.is_declared;
    if (has_gone && is_gone) is_gone(each.site);
    if (!each.trouble.empty()) {
      record_gap(all, each.site.path, std::move(each.trouble));
    } else {
      add_reading(all, each.site, std::move(each.seen));
    }
  }
}

asio::awaitable<recipe_survey> survey_all_recipes(zkrecipes::session session, std::string root, recipe_query query,
                                                  deadline search_limit, deadline limit) {
  tree_search search(session, std::move(root));
  co_await search.run(search_limit);
  recipe_survey all{{}, search.notes(), search.is_complete(), search.is_refused()};
  auto sites = sites_of(search, query.kind);
  declare(sites, declared_of_kind(query));
  co_await read_sites(session, sites, some_participants, limit, all);
  drop_other_kinds(all.found, query.kind);
  co_return all;
}

asio::awaitable<recipe_survey> survey_recipe_at(zkrecipes::session session, std::string path, recipe_query query,
                                                deadline limit) {
  const auto sites = co_await sites_at(session, path, query, limit);
  if (sites.empty())
    throw failure(exit_code::error, "nothing tells what " + printable(path) + " is; name its kind with --kind");
  recipe_survey all;
  co_await read_sites(session, sites, many_participants, limit, all);
  co_return all;
}

}  // namespace zkadmin
