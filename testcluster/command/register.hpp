#pragma once

#include <filesystem>
#include <string>
#include <vector>

// The register of this user's clusters: a folder in XDG_RUNTIME_DIR, or else in the folder for temporary files, with
// one symbolic link for each cluster. The link is called as the cluster, or else as the supervisor's process id.
namespace testcluster::command {

struct registered_cluster {
  std::string name;  // empty: it has none
  std::filesystem::path dir;
};

/// The mistake in the name of a cluster; empty if there is none.
std::string name_problem(const std::string& name);

/// `name` empty: no name. Throws testcluster::error if another cluster that is up, or that ended without cleaning up,
/// has the name.
void enter_register(const std::filesystem::path& dir, const std::string& name);
void leave_register(const std::filesystem::path& dir);

/// The name of the cluster in a directory; empty if it has none.
std::string name_of(const std::filesystem::path& dir);

/// All clusters, by name and directory. Forgets those whose directory is gone. Throws testcluster::error if the
/// register is another user's.
std::vector<registered_cluster> registered();

/// The directory that a command without --dir and --name means. Throws testcluster::error if there is none or more than
/// one.
std::filesystem::path only_cluster();

/// The directory of the cluster of this name. Throws testcluster::error, which lists the names there are.
std::filesystem::path named_cluster(const std::string& name);

}  // namespace testcluster::command
