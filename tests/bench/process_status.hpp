// Figures of this process from the kernel.
#pragma once

#include <string>

namespace bench {

/// A number of /proc/self/status, such as "VmHWM" (KiB) or "Threads".
long status_of(const std::string& field);

}  // namespace bench
