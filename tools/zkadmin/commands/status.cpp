#include "cluster/collector.hpp"
#include "cluster/probe.hpp"
#include "commands/bounded.hpp"
#include "commands/commands.hpp"
#include "report/report.hpp"
#include "text.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <ostream>

namespace zkadmin {
namespace {

namespace asio = boost::asio;

/// What two tasks find out. They share it, since they may outlive the command that no longer waits for them.
struct findings {
  cluster_status cluster;
  bool has_ensemble = false;
  bool has_elections = false;
  std::optional<failure> trouble;  ///< Why there are no elections.
};

asio::awaitable<void> ask_servers(std::shared_ptr<const settings> wanted, std::shared_ptr<findings> found) {
  // Leaves time to report those that do not answer.
  found->cluster.ensemble = co_await probe_ensemble(wanted->servers, wanted->timeout * 4 / 5);
  found->has_ensemble = true;
}

asio::awaitable<void> ask_session(zkrecipes::session session, std::string root,
                                  std::shared_ptr<findings> found) {
  collector elections(std::move(session), std::move(root));
  try {
    co_await elections.find_elections();
    found->cluster.survey = co_await elections.look();
  } catch (const failure& error) {
    found->trouble = error;
  }
  found->has_elections = true;
}

bool is_any_reachable(const cluster_status& cluster) {
  const auto& servers = cluster.ensemble;
  return std::any_of(servers.begin(), servers.end(), [](const auto& each) { return each.reachable; });
}

bool is_any_refused(const election_survey& survey) {
  const auto& elections = survey.elections;
  return std::any_of(elections.begin(), elections.end(),
                     [](const auto& each) { return each.phase == refused_phase; });
}

/// A server that does not allow `srvr` may well serve.
bool may_serve(const server_status& server) {
  return server.reachable && server.role != server_role::not_serving;
}

bool is_done(const findings& found) {
  const auto& servers = found.cluster.ensemble;
  return found.has_ensemble &&
         (found.has_elections || std::none_of(servers.begin(), servers.end(), may_serve));
}

/// Why something is missing in what is printed, if it is.
std::optional<failure> shortcoming(const findings& found, const settings& wanted) {
  if (!is_any_reachable(found.cluster)) return failure(exit_code::unreachable, "none of the servers answers");
  if (found.trouble) return found.trouble;
  if (found.cluster.survey && is_any_refused(*found.cluster.survey))
    return failure(exit_code::auth,
                   "an election may not be read; give credentials (digest_file or ZKADMIN_DIGEST)");
  if (found.has_elections) return std::nullopt;
  const auto& servers = found.cluster.ensemble;
  if (std::none_of(servers.begin(), servers.end(), may_serve))
    return failure(exit_code::error, "no server is serving requests: the elections are not known");
  return failure(exit_code::error,
                 "no session within " + short_duration(wanted.timeout) + ": the elections are not known");
}

std::string formatted(const cluster_status& cluster, output_format format) {
  switch (format) {
    case output_format::table:
      return to_table(cluster);
    case output_format::json:
      return to_json(cluster);
    case output_format::tsv:
      return to_tsv(cluster);
  }
  return {};
}

}  // namespace

exit_code show_status(surroundings& around, const settings& wanted, output_format format) {
  const deadline limit = std::chrono::steady_clock::now() + wanted.timeout;
  const auto found = std::make_shared<findings>();
  auto session = make_session(around.io.get_executor(), wanted);
  asio::co_spawn(around.io, ask_servers(std::make_shared<settings>(wanted), found), asio::detached);
  asio::co_spawn(around.io, ask_session(session, wanted.root, found), asio::detached);
  run_until(around.io, limit, [&found] { return is_done(*found); });
  const auto missing = shortcoming(*found, wanted);
  const findings shown = *found;
  close_session(around.io, std::move(session), limit);

  around.out << formatted(shown.cluster, format) << std::flush;
  if (!around.out) throw failure(exit_code::error, "the output could not be written");
  if (shown.cluster.survey)
    for (const auto& note : shown.cluster.survey->notes) around.err << "zkadmin: note: " << note << '\n';
  if (!missing) return exit_code::ok;
  around.err << "zkadmin: " << missing->what() << '\n';
  return missing->code();
}

}  // namespace zkadmin
