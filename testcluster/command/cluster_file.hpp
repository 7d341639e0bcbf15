#pragma once

#include <filesystem>
#include <string>

#include <testcluster/ensemble.hpp>

namespace testcluster::command {

/// What a cluster file says; README.md, "The cluster file", has its keys.
struct cluster_settings {
  std::string name;  // empty: not given
  ensemble_options ensemble;
};

/// Throws testcluster::error "FILE:LINE: KEY: ..." for what can not be used.
cluster_settings read_cluster_file(const std::filesystem::path& file);

}  // namespace testcluster::command
