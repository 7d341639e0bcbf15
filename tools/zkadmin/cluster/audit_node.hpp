// The audit log in a node of the cluster, so that others see it.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/audit_entry.hpp"

namespace zkadmin {

/// Writes the entry into the log at `path`, which is made if it is missing. Other operators may do so at the same time:
/// each write is on condition of the version that was read. Throws `failure`, also if the node holds other data, or
/// is not of an audit log alone.
boost::asio::awaitable<void> write_audit_node(zkrecipes::session session, std::string path, audit_entry entry);

struct audit_log {
  std::vector<audit_entry> entries{};
  std::size_t unreadable = 0;  ///< Further entries, of a later version.
};

/// The log at `path`; an empty one if there is no node. Throws `failure`.
boost::asio::awaitable<audit_log> read_audit_node(zkrecipes::session session, std::string path);

}  // namespace zkadmin
