// A candidate in a separate process, which can be killed.
#pragma once

#include <string>

namespace bench {

/// Campaigns at `path`. When it leads, it prints how many threads that added to the process; it ends when it reads a
/// line.
void stand_for(const std::string& hosts, const std::string& path);

}  // namespace bench
