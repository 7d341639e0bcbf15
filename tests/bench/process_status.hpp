// Figures of processes from the kernel.
#pragma once

#include <string>

#include <sys/types.h>

namespace bench {

/// A number of the status of a process in /proc, such as "VmHWM" (KiB) or "Threads".
long status_of(const std::string& field, const std::string& process = "self");

/// The processor time that a process has used, in milliseconds.
double processor_time_of(pid_t process);

}  // namespace bench
