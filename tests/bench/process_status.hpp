// What the kernel says of this process.
#pragma once

#include <string>

namespace bench {

/// A number of /proc/self/status, such as "VmHWM" (KiB) or "Threads".
long status_of(const std::string& field);

}  // namespace bench
