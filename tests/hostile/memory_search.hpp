// A search of the memory of another process: it finds what a core file would show.
#pragma once

#include <cstddef>
#include <string>

#include <sys/types.h>

namespace zkrecipes::test {

/// How often the text stands in the memory of the process that may be written: its heap, its stacks, and its variables.
/// \throws std::runtime_error if the memory can not be read.
std::size_t count_in_memory(pid_t process, const std::string& text);

/// A file of /proc/PID, such as "cmdline".
std::string file_of_process(pid_t process, const std::string& name);

}  // namespace zkrecipes::test
