#pragma once

#include "command/signals.hpp"
#include "ordered_broker.hpp"

namespace testcluster::command {

/// Reads orders from standard input, one a line, until its end or a signal. An order that fails is told, and the next
/// one is read.
void obey(ordered_broker& broker, signals& arriving);

}  // namespace testcluster::command
