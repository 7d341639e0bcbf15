#include "cluster/collector.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/failure.hpp"
#include "base/tasks.hpp"
#include "base/text.hpp"
#include "cluster/group.hpp"
#include "cluster/status.hpp"

namespace zkadmin {
namespace {

namespace asio = boost::asio;
using zkrecipes::errc;
using zkrecipes::error_code;
using namespace std::chrono_literals;

void renew(std::vector<std::string>& known, std::vector<std::string> found, bool keeps_known) {
  if (keeps_known) {
    found.insert(found.end(), known.begin(), known.end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  }
  known = std::move(found);
}

}  // namespace

zkrecipes::session_options to_session_options(const settings& wanted, const std::vector<endpoint>& servers) {
  zkrecipes::session_options options;
  for (const auto& each : servers) options.hosts += (options.hosts.empty() ? "" : ",") + each.name;
  options.hosts += wanted.hosts.substr(std::min(wanted.hosts.find('/'), wanted.hosts.size()));
  options.retry.max_pause = 500ms;
  if (wanted.digest) options.digest.push_back({wanted.digest->user, wanted.digest->password});
  options.tls = wanted.tls;
  options.log = wanted.log;
  return options;
}

zkrecipes::session make_session(const asio::any_io_executor& executor, const settings& wanted,
                                const std::vector<endpoint>& servers, std::chrono::milliseconds connect_limit) {
  auto options = to_session_options(wanted, servers);
  options.connect_timeout = std::max<std::chrono::milliseconds>(connect_limit, 100ms);
  options.retry.limit = wanted.timeout;
  try {
    return {executor, std::move(options)};
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

void check(const error_code& error, const std::string& doing) {
  if (!error) return;
  if (error == errc::auth_failed) throw failure(exit_code::auth, "the servers refuse the credentials");
  if (error == errc::no_auth)
    throw failure(exit_code::auth,
                  printable(doing) + ": not allowed; give credentials (digest_file or ZKADMIN_DIGEST)");
  throw failure(exit_code::error, printable(doing) + ": " + error.message());
}

asio::awaitable<std::optional<zkrecipes::node_stat>> find_stat(zkrecipes::session session, std::string path) {
  auto looked = co_await session.async_exists(path, as_result);
  const error_code error = std::get<0>(looked);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "looking at " + path);
  co_return std::get<1>(looked);
}

asio::awaitable<std::optional<zkrecipes::node_data>> find_node(zkrecipes::session session, std::string path) {
  auto reading = co_await session.async_get(path, as_result);
  const error_code error = std::get<0>(reading);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "reading " + path);
  co_return std::move(std::get<1>(reading));
}

asio::awaitable<std::optional<std::vector<std::string>>> find_children(zkrecipes::session session, std::string path) {
  auto listing = co_await session.async_children(path, as_result);
  const error_code error = std::get<0>(listing);
  if (error == errc::no_node) co_return std::nullopt;
  check(error, "reading " + path);
  co_return std::move(std::get<1>(listing).names);
}

collector::collector(zkrecipes::session session, std::string root)
    : session_(std::move(session)), root_(std::move(root)) {}

asio::awaitable<void> collector::search(deadline limit) {
  tree_search walk(session_, root_);
  co_await walk.run(limit);
  // An incomplete search may have missed some that are known, so they are kept.
  const bool keeps_known = !walk.is_complete();
  for (const auto which : all_recipes()) renew(paths_[which], walk.found(which), keeps_known);
  outline_ = {{}, walk.notes(), walk.is_complete(), walk.is_refused()};
}

/// The result of a look at one election. `seen` is empty if the election is gone, if there was no time (`is_late`), or
/// if it failed.
struct collector::glance {
  std::string path;
  std::optional<election_status> seen{};
  bool is_late = false;
  std::optional<failure> trouble{};
};

asio::awaitable<void> collector::look_at(glance& one, deadline limit) {
  one.is_late = std::chrono::steady_clock::now() >= limit;
  if (one.is_late) co_return;
  try {
    one.seen = co_await view_election(session_, one.path);
  } catch (const failure& error) {
    one.trouble = error;
  }
}

std::vector<std::string> collector::found(recipe which) const {
  const auto paths = paths_.find(which);
  return paths == paths_.end() ? std::vector<std::string>() : paths->second;
}

asio::awaitable<group_survey> collector::groups(deadline limit) {
  group_survey all{{}, outline_.notes, outline_.complete, outline_.refused};
  const path_hook is_gone = [this](const std::string& path) { forget(recipe::shard_group, path); };
  const reading_options how{true, is_gone};  // a temporary would be destroyed twice (GCC 12)
  co_await read_each<group_status>(session_, found(recipe::shard_group), read_group, limit, all, how);
  co_return all;
}

asio::awaitable<election_survey> collector::elections(deadline limit) {
  std::vector<glance> glances;
  for (const auto& each : paths_[recipe::election]) glances.push_back({each});
  const auto look_at_one = [this, &glances, limit](std::size_t i) { return look_at(glances[i], limit); };
  co_await for_each_index(glances.size(), requests_at_a_time, look_at_one);
  const auto has_failed = [](const glance& each) { return each.trouble.has_value(); };
  if (!glances.empty() && std::all_of(glances.begin(), glances.end(), has_failed)) throw *glances.front().trouble;
  election_survey survey = outline_;
  for (auto& each : glances) {
    if (each.seen) {
      survey.refused |= each.seen->phase == refused_phase;
      survey.found.push_back(std::move(*each.seen));
    } else if (each.trouble) {
      survey.complete = false;
      survey.notes.push_back({each.path, each.trouble->what()});
    } else if (each.is_late) {
      survey.complete = false;
      survey.notes.push_back({each.path, "it was not looked at: the time was over; choose a longer --timeout"});
    } else {
      std::erase(paths_[recipe::election], each.path);
    }
  }
  co_return survey;
}

}  // namespace zkadmin
