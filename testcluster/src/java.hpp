#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace testcluster::detail {

/// The command that runs one server with this configuration. `heap_mib` 0: as the flags say. Throws testcluster::error
/// naming the Debian package if java or ZooKeeper is not installed.
std::vector<std::string> server_command(const std::filesystem::path& config, int heap_mib);

}  // namespace testcluster::detail
