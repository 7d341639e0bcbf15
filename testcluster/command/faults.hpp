#pragma once

#include <testcluster/ensemble.hpp>

#include "fault_options.hpp"

namespace testcluster::command {

/// Injects a fault into the connections of clients to a server or, if `fault.peer` is set, between that server and
/// `id`.
void inject(ensemble& cluster, int id, const fault_options& fault);

/// Ends such a fault, or a partition (kind "partition"). The other faults of the connections stay, unless it is
/// half-open or blackhole, which only end together with all others.
void mend(ensemble& cluster, int id, const fault_options& fault);

/// Ends all faults. If a quorum of the voters runs, waits until they serve again.
void heal(ensemble& cluster);

}  // namespace testcluster::command
