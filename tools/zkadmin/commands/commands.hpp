// The commands of zkadmin. Each throws `failure`; without `read_write` one that changes something only shows the
// requests that it would send. Work that a command leaves running on the context may be abandoned.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include "base/failure.hpp"
#include "brokers/broker_reader.hpp"
#include "change/letter_change.hpp"
#include "cluster/recipe_survey.hpp"
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

/// Prints the last terms of the election at `path`.
exit_code show_history(surroundings& around, const settings& wanted, const std::string& path, output_format format);

/// Prints the audit logs that the settings name.
exit_code show_audit(surroundings& around, const settings& wanted, output_format format);

/// Ends the session of a process that is known to be dead, as a guardian does: the records of its terms say that the
/// leader has died. Without `read_write` only shows what it would do. A session that a server has a connection of is
/// ended only if `yes` names it, or the user types it.
exit_code expire_session(surroundings& around, const settings& wanted, const std::string& session,
                         const std::string& because, bool read_write, const std::optional<std::string>& yes = {});

/// Prints the shard groups once or, if the path is not empty, the one at the path.
exit_code show_groups(surroundings& around, const settings& wanted, const std::string& path, output_format format);

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

/// Serves metrics over HTTP until a signal ends it.
exit_code run_exporter(surroundings& around, const settings& wanted);

/// The live screen, until the user or a signal ends it.
exit_code run_dashboard(surroundings& around, const settings& wanted);

/// The commands that prepare requests at a path, and send them with --rw; those that wait follow them to their end:
/// resign, revoke, evict, those about shard groups and services, and `commit decide`, which decides a transaction by
/// the rule of its coordinator.
exit_code change_recipe(surroundings& around, const settings& wanted, const invocation& asked);

/// What may be at the path: the kind that the command names, else what the settings declare or the nodes tell.
recipe_query query_of_line(const settings& wanted, const line_request& how);

/// Prints the oldest dead letters of a queue, or of a group of a topic.
exit_code show_letters(surroundings& around, const settings& wanted, const queue_request& asked, output_format format);

/// Puts letters back, or deletes them; without `read_write` only shows the requests.
exit_code change_letters(surroundings& around, const settings& wanted, const queue_request& asked, letter_fate fate);

/// Puts all letters of a parked key back; without `read_write` only shows the first request.
exit_code revive_key(surroundings& around, const settings& wanted, const queue_request& asked);

/// The children of a node or, with `recursive`, all nodes below it; at most 10 000.
exit_code list_nodes(surroundings& around, const settings& wanted, const node_request& asked);

/// The node and all below it; at most 10 000.
exit_code show_tree(surroundings& around, const settings& wanted, const node_request& asked);

/// The data. To a pipe or a file the bytes as they are; to a terminal only what it can show.
exit_code show_data(surroundings& around, const settings& wanted, const node_request& asked);

exit_code show_stat(surroundings& around, const settings& wanted, const node_request& asked);

/// Prints a line for each change until a signal, the number of changes, or the end of the reader ends it.
exit_code watch_node(surroundings& around, const settings& wanted, const node_request& asked);

/// Writes the data of a node; without `read_write` only shows the request.
exit_code set_data(surroundings& around, const settings& wanted, const node_request& asked);

/// Deletes a node or, with `recursive`, all below it too; without `read_write` only shows the requests.
exit_code delete_nodes(surroundings& around, const settings& wanted, const node_request& asked);

}  // namespace zkadmin
