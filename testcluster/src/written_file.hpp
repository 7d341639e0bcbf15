#pragma once

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace testcluster::detail {

/// 128 random bits as 32 hexadecimal digits. Throws testcluster::error if there are none.
std::string drawn_secret();

/// A variable of this process's environment, or `otherwise` if it is empty or not set.
std::string environment(const char* name, const char* otherwise);

/// Writes a file, also in the place of another one: it is written aside and then renamed, so that another process sees
/// the old content or the new one, and never with other rights. Throws testcluster::error if that fails.
void write_file(const std::filesystem::path& name, const std::string& text, mode_t mode);

}  // namespace testcluster::detail
