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
#include "change/letter_change.hpp"
#include "cluster/recipe_survey.hpp"
#include "problems/verdict.hpp"
#include "settings/command_line.hpp"
#include "settings/requests.hpp"
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

/// Serves metrics over HTTP until a signal ends it.
exit_code run_exporter(surroundings& around, const settings& wanted);

/// The live screen, until the user or a signal ends it.
exit_code run_dashboard(surroundings& around, const settings& wanted);

// The commands about waiting lines and services: revoke, evict, service. Each throws `failure`, and without
// `read_write` only shows the requests that it would send.

/// Asks the holders of the recipe at `path` to give up; with `wait` follows it until they have gone.
exit_code revoke_place(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how);

/// Takes a waiter out of the line at `path`.
exit_code evict_waiter(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                       const line_request& how);

/// Marks an instance of the service at `path`, so that clients give it no more work; or ends that.
exit_code drain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                         const std::string& instance);
exit_code undrain_instance(surroundings& around, const settings& wanted, const std::string& path, bool read_write,
                           const std::string& instance);

/// What may be at the path: the kind that the command names, else what the settings declare or the nodes tell.
recipe_query query_of_line(const settings& wanted, const line_request& how);

// The commands that tell the planner of a shard group what an operator wants. Each throws `failure`; without
// `read_write` it only shows the requests.

/// The member is to give its shards to the others; the next ends that.
exit_code drain_member(surroundings& around, const settings& wanted, const std::string& path,
                       const group_request& asked, bool read_write);
exit_code undrain_member(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write);

/// The shard is to be owned by the member; the next ends that.
exit_code transfer_shard(surroundings& around, const settings& wanted, const std::string& path,
                         const group_request& asked, bool read_write);
exit_code unpin_shard(surroundings& around, const settings& wanted, const std::string& path, const group_request& asked,
                      bool read_write);

// The commands about dead letters. Each throws `failure`.

/// Prints the oldest dead letters of a queue, or of a group of a topic.
exit_code show_letters(surroundings& around, const settings& wanted, const queue_request& asked, output_format format);

/// Puts letters back, or deletes them; without `read_write` only shows the requests.
exit_code change_letters(surroundings& around, const settings& wanted, const queue_request& asked, letter_fate fate);

/// Puts all letters of a parked key back; without `read_write` only shows the first request.
exit_code unpark(surroundings& around, const settings& wanted, const queue_request& asked);

// The commands about single nodes. Each throws `failure`.

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
