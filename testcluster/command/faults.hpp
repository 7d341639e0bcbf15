#pragma once

#include "fault_options.hpp"

#include <testcluster/ensemble.hpp>

namespace testcluster::command {

/// Injects a fault into the clients' line to a server, or into the links between it and another one.
void inject(ensemble& cluster, int id, const fault_options& fault);

/// Ends all faults, and waits until the servers serve again if enough of them run.
void heal(ensemble& cluster);

}  // namespace testcluster::command
