// The commands of zkadmin. Each throws `failure`. Work that a command leaves running on the context may be
// abandoned.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "failure.hpp"
#include "hold/hold_options.hpp"
#include "problems/verdict.hpp"
#include "settings/command_line.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The context and the streams of a command. The context must outlive all work that was started on it.
struct surroundings {
  boost::asio::io_context& io;
  std::ostream& out;
  std::ostream& err;
  std::string command{};  ///< As typed, for the audit log.
};

/// Prints the cluster's status once. Missing information is reported on `err` and by the exit code.
exit_code show_status(surroundings& around, const settings& wanted, output_format format);

/// Asks the leader at `path` to give up; without `read_write` only shows the request that it would send. With `wait`
/// follows the hand-over to its end.
exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                              const resignation_options& how);

/// Prints the last terms of the election at `path`.
exit_code show_history(surroundings& around, const settings& wanted, const std::string& path, output_format format);

/// Prints the audit logs that the settings name.
exit_code show_audit(surroundings& around, const settings& wanted, output_format format);

/// Ends the session of a process that is known to be dead, as a guardian does: the records of its terms say that the
/// leader has died. Without `read_write` only shows what it would do.
exit_code expire_session(surroundings& around, const settings& wanted, const std::string& session,
                         const std::string& because, bool read_write);

/// Prints the shard groups once or, if the path is not empty, the one at the path.
exit_code show_groups(surroundings& around, const settings& wanted, const std::string& path, output_format format);

/// Freezes the group at `path`, or ends that; without `read_write` only shows the request that it would send.
exit_code freeze_group(surroundings& around, const settings& wanted, const std::string& path, bool frozen,
                       bool read_write);

/// Takes a shard, or all, out of quarantine; without `read_write` only shows the requests that it would send.
exit_code release_shards(surroundings& around, const settings& wanted, const std::string& path,
                         std::optional<std::uint32_t> which, bool read_write);

/// Decides a transaction of the two-phase commit at `path` by the rule of its coordinator; without `read_write` only
/// shows the requests that it would send.
exit_code decide_transaction(surroundings& around, const settings& wanted, const std::string& path,
                             const std::string& transaction, bool read_write);

/// Prints the topics once or, if the path is not empty, the one at the path.
exit_code show_topics(surroundings& around, const settings& wanted, const std::string& path, output_format format);

/// Prints the sources of messages outside of ZooKeeper once or, if the path is not empty, the one at the path. Asks the
/// broker what waits there, if there is one to be asked. A broker that does not tell is reported on `err` and by the
/// exit code.
exit_code show_streams(surroundings& around, const settings& wanted, const std::string& path,
                       const std::optional<broker_place>& broker, output_format format);

/// Prints the recipes of all kinds once, or of the one that `kind` names if it is not empty; or, if the path is not
/// empty, all that is known of the one at the path.
exit_code show_recipes(surroundings& around, const settings& wanted, const std::string& path, const std::string& kind,
                       output_format format);

/// Prints the sessions once or, if `session` is not empty, that one with its nodes.
exit_code show_sessions(surroundings& around, const settings& wanted, const std::string& session, output_format format);

/// Prints the problems of the cluster, or of the part that `only` names (see targets.hpp), and what is not known of it.
/// Returns the state for monitoring. `broker`: asked about each source of messages outside of ZooKeeper.
check_state check_cluster(surroundings& around, const settings& wanted, const std::vector<std::string>& only,
                          const std::optional<broker_place>& broker, output_format format);

/// The same for access rights, and for what the servers tell everybody.
check_state check_security(surroundings& around, const settings& wanted, const std::vector<std::string>& only,
                           output_format format);

/// Serves metrics over HTTP until a signal ends it.
exit_code run_exporter(surroundings& around, const settings& wanted);

/// Runs a command while it has the lock, or the permit, at `path`. Returns the exit status: see hold_status.hpp.
int run_locked(surroundings& around, const settings& wanted, const std::string& path, const hold_options& how);

/// Runs a command while it leads at `path`. Returns the exit status: see hold_status.hpp.
int run_leading(surroundings& around, const settings& wanted, const std::string& path, hold_options how);

/// The live screen, until the user or a signal ends it.
exit_code run_dashboard(surroundings& around, const settings& wanted);

}  // namespace zkadmin
