#include "cluster/audit_file.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "failure.hpp"
#include "format/shown_text.hpp"
#include "text.hpp"

namespace zkadmin {
namespace {

constexpr std::size_t most_request_bytes = 64 * 1024;
constexpr std::streamoff most_read = 1024 * 1024;

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw failure(exit_code::error, "audit_file: " + printable(file) + ": " + why);
}

std::string last_error() { return std::generic_category().message(errno); }

class open_file {
 public:
  // Not blocking: a pipe without a reader would make us wait for one.
  explicit open_file(const std::string& name)
      : descriptor_(::open(name.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600)) {
    if (descriptor_ < 0) refuse(name, last_error());
  }
  ~open_file() { ::close(descriptor_); }
  open_file(const open_file&) = delete;
  int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

bool is_regular(int descriptor) {
  struct ::stat about {};
  return ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

/// Takes a part of a line away, unless somebody else has appended behind it.
void take_back(int descriptor, ::ssize_t written) {
  struct ::stat about {};
  const auto end = ::lseek(descriptor, 0, SEEK_CUR);  // where the part ends
  if (end < written || ::fstat(descriptor, &about) != 0 || about.st_size != end) return;
  if (::ftruncate(descriptor, end - written) != 0) return;  // then it stays, and is counted as no entry
}

}  // namespace

void append_audit_line(const std::string& file, const audit_entry& entry) {
  const open_file to(file);
  if (!is_regular(to.descriptor())) refuse(file, "not a regular file");
  const std::string line = zkrecipes::detail::coded_json(to_json_line(entry, most_request_bytes)) + "\n";
  const auto written = ::write(to.descriptor(), line.data(), line.size());
  if (written < 0) refuse(file, last_error());
  if (static_cast<std::size_t>(written) != line.size()) {
    take_back(to.descriptor(), written);
    refuse(file, "it was not written in full");
  }
  if (::fdatasync(to.descriptor()) != 0) refuse(file, last_error());
}

audit_lines read_audit_lines(const std::string& file) {
  audit_lines found;
  struct ::stat about {};
  if (::stat(file.c_str(), &about) != 0) {
    if (errno == ENOENT) return found;
    refuse(file, last_error());
  }
  if (!S_ISREG(about.st_mode)) refuse(file, "not a regular file");
  std::ifstream from(file, std::ios::binary | std::ios::ate);
  if (!from) refuse(file, "cannot be read");
  const std::streamoff size = from.tellg();
  found.is_cut = size > most_read;
  from.seekg(found.is_cut ? size - most_read : 0);
  std::string line;
  if (found.is_cut) std::getline(from, line);  // perhaps a part of one
  while (std::getline(from, line)) {
    auto entry = parse_audit_entry(line);
    if (entry) {
      put(found.entries, std::move(*entry));
    } else {
      ++found.unreadable;
    }
  }
  return found;
}

}  // namespace zkadmin
