// `zkadmin check --security`.
#include "security/check_security.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/tasks.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/targets.hpp"
#include "security/access_reader.hpp"
#include "security/security_verdict.hpp"
#include "servers/prober.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

constexpr std::size_t servers_at_a_time = 64;

/// The command and its look share it, because the look may go on after the command has stopped waiting.
struct security_look : contact {
  security_look(const settings& with, targets of) : contact(with, "access rights"), what(std::move(of)) {
    seen.is_secure = with.tls.has_value();
  }
  targets what;
  security_findings seen;
  std::unique_ptr<access_reader> reader{};
  bool is_done = false;
};

asio::awaitable<void> look_at_rights(std::shared_ptr<security_look> shared, deadline limit) {
  const std::vector<std::string> everything{shared->wanted.root};
  const auto& what = shared->what;
  const auto& roots = what.paths.empty() ? everything : what.paths;
  const auto found = co_await find_access_sites(*shared->session, what, roots, middle(limit));
  shared->reader = std::make_unique<access_reader>(*shared->session, found.sites, roots);
  co_await shared->reader->run(middle(limit));
  auto rights = shared->reader->survey();
  rights.notes.insert(rights.notes.begin(), found.notes.begin(), found.notes.end());
  shared->seen.rights = std::move(rights);
}

asio::awaitable<void> look_at_servers(std::shared_ptr<security_look> shared, deadline limit) {
  const auto& wanted = shared->wanted;
  const auto tls = secure_connections(wanted);
  std::vector<server_exposure> exposures(wanted.servers.size());
  const auto ask_one = [&](std::size_t i) -> asio::awaitable<void> {
    exposures[i] = co_await ask_about_exposure(wanted.servers[i], wanted.admin_port, tls, limit);
  };
  co_await for_each_index(exposures.size(), servers_at_a_time, ask_one);
  shared->seen.exposures = std::move(exposures);
}

asio::awaitable<void> examine_security(std::shared_ptr<security_look> shared, deadline limit) {
  try {
    co_await ask_servers(shared);
    if (shared->what.kinds.servers) co_await look_at_servers(shared, middle(limit));
    if (shared->what.kinds.has_recipes()) {
      co_await open_session(shared);
      co_await look_at_rights(shared, limit);
    }
  } catch (const std::exception& error) {
    shared->seen.trouble = error.what();
  }
  shared->is_done = true;
}

}  // namespace

check_state check_security(surroundings& around, const settings& wanted, const std::vector<std::string>& only,
                           output_format format) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto shared = std::make_shared<security_look>(wanted, parse_targets(only, wanted.queues, wanted.recipes));
  asio::co_spawn(around.io, examine_security(shared, limit), asio::detached);
  run_until(around.io, limit, [&shared] { return shared->is_done; });
  if (!shared->is_done && shared->seen.trouble.empty())
    shared->seen.trouble = shared->what.kinds.has_recipes() ? out_of_time(*shared).what() : "the time was over";
  shared->seen.servers = shared->servers;
  const auto judged = judge_security(shared->seen, shared->what.kinds);
  end_contact(around.io, *shared, limit);
  return print_verdict(around, judged, format);
}

namespace {

bool is_wanted_kind(recipe which, const wanted_kinds& kinds) noexcept {
  switch (which) {
    case recipe::election: return kinds.elections;
    case recipe::shard_group: return kinds.groups;
    case recipe::topic: return kinds.topics;
    case recipe::two_phase_commit: return kinds.commits;
    default: return kinds.recipes;
  }
}

}  // namespace

asio::awaitable<access_sites> find_access_sites(zkrecipes::session session, const targets& wanted,
                                                const std::vector<std::string>& roots, deadline limit) {
  std::map<std::string, recipe> found;
  for (const auto& each : wanted.named) found[each] = recipe::none;
  access_sites all;
  const auto& kinds = wanted.kinds;
  const bool needs_search = kinds.elections || kinds.groups || kinds.topics || kinds.commits || kinds.recipes;
  for (const auto& root : roots) {
    if (!needs_search) break;  // queues are declared
    tree_search search(session, root, {.is_known_root = true});
    co_await search.run(limit);
    for (const auto which : all_recipes())
      if (is_wanted_kind(which, wanted.kinds))
        for (const auto& path : search.found(which)) found[path] = which;
    auto notes = search.notes();
    if (search.is_gone()) notes.push_back({root, "there is no such node"});
    std::move(notes.begin(), notes.end(), std::back_inserter(all.notes));
  }
  for (const auto& each : wanted.queues) found[each] = recipe::queue;
  for (const auto& each : wanted.recipes) found[each.path] = each.kind;
  for (const auto& [path, which] : found) all.sites.push_back({which, path, false});
  co_return all;
}

}  // namespace zkadmin
