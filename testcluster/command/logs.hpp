#pragma once

#include <filesystem>
#include <iosfwd>

namespace testcluster::command {

/// Prints the logs of the servers of a cluster, or of one of them if `id` is not 0, in the order of time, and then, if
/// `follow`, what they go on to log until the cluster ends. Each line of several servers begins with "ID | ". Throws
/// testcluster::error if there is no such cluster or no such server.
void print_logs(std::ostream& out, const std::filesystem::path& dir, int id, bool follow);

}  // namespace testcluster::command
