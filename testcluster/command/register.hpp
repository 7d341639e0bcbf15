#pragma once

#include <filesystem>
#include <vector>

// The register of this user's clusters: a folder in XDG_RUNTIME_DIR, or else in the folder for temporary files, with
// one symbolic link for each cluster.
namespace testcluster::command {

void enter_register(const std::filesystem::path& dir);
void leave_register(const std::filesystem::path& dir);
std::vector<std::filesystem::path> registered();

/// The directory that a command without --dir means. Throws testcluster::error if there is none or more than
/// one.
std::filesystem::path only_cluster();

}  // namespace testcluster::command
