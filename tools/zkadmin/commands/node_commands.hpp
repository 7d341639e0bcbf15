// The commands about single nodes. Each throws `failure`.
#pragma once

#include "commands/commands.hpp"
#include "settings/node_request.hpp"

namespace zkadmin {

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
