#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "brokers/broker_reader.hpp"
#include "cluster/inspector.hpp"
#include "commands/commands.hpp"
#include "commands/contact.hpp"
#include "commands/errand.hpp"
#include "commands/targets.hpp"
#include "problems/verdict.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;

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
  if (!shared->is_done && shared->seen.trouble.empty()) shared->seen.trouble = out_of_time(*shared).what();
  shared->seen.servers = shared->servers;
  auto judged = judge(shared->seen, shared->what.kinds, wanted.limits);
  record_empty_paths(*shared, judged);
  end_contact(around.io, *shared, limit);
  return print_verdict(around, judged, format);
}

}  // namespace zkadmin
