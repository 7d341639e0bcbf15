#include "written_file.hpp"

#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

#include <testcluster/error.hpp>

namespace testcluster::detail {

void write_file(const std::filesystem::path& name, const std::string& text, mode_t mode) {
  const auto aside = name.string() + ".new";
  ::unlink(aside.c_str());
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  const bool is_written = file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (file >= 0) ::close(file);
  if (!is_written || std::rename(aside.c_str(), name.c_str()) != 0) throw error("could not write " + name.string());
}

}  // namespace testcluster::detail
