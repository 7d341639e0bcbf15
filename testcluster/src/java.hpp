#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <testcluster/ensemble.hpp>

namespace testcluster::detail {

/// The command that runs one server with this configuration. Throws testcluster::error naming the Debian package if
/// java or ZooKeeper is not installed.
std::vector<std::string> server_command(const std::filesystem::path& config, const ensemble_options& options);

}  // namespace testcluster::detail
