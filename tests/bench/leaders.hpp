// A candidate in a process of its own, which can be killed.
#pragma once

#include <string>

namespace bench {

/// Campaigns at `path`; says on standard output how many threads that added when it leads, and ends when a line comes in.
void stand_for(const std::string& hosts, const std::string& path);

}  // namespace bench
