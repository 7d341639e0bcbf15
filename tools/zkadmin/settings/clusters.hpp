// The clusters that the configuration file names: [clusters.NAME], each with settings of its own. Among the settings of
// the file these have a prefix.
#pragma once

#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace zkadmin {

/// "clusters.NAME.", before the keys of its settings, and alone for the cluster itself.
std::string cluster_prefix(const std::string& name);

/// The layers in growing precedence. The settings of the cluster that is asked for win over the others of the file; if
/// its name stands on the command line also over the environment, so that it is this cluster and no other, and the
/// environment's credentials and root are left out. Its settings are left out if a layer above the one that names it
/// has other `hosts`. Throws `failure` (usage) if the file has no such cluster.
std::vector<raw_settings> in_precedence(const raw_settings& file, const raw_settings& variables,
                                        const raw_settings& given);

}  // namespace zkadmin
