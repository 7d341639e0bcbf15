#include "settings/private_file.hpp"

#include <fstream>
#include <ios>
#include <stdexcept>

#include <sys/stat.h>

namespace zkadmin {
namespace {

constexpr std::streamsize longest_private_file = 4096;

/// A name with a colon may be the credentials themselves.
std::string shown_file(const std::string& path) {
  return path.find(':') == path.npos ? "the file " + path
                                     : "the file that it names (what has a colon is not shown: it may be credentials, "
                                       "which belong into a file)";
}

}  // namespace

void require_private(const std::string& path, const std::string& what) {
  struct ::stat seen {};
  if (::stat(path.c_str(), &seen) != 0 || !S_ISREG(seen.st_mode)) return;
  if (seen.st_mode & S_IROTH)
    throw std::invalid_argument("everybody may read " + what + " in " + path + "; chmod o-r makes the file private");
  if (seen.st_mode & S_IWOTH)
    throw std::invalid_argument("everybody may change " + what + " in " + path + "; chmod o-w forbids it");
}

std::string read_private_file(const std::string& path, const std::string& form) {
  require_private(path, "the credentials");
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(longest_private_file) + 1, '\0');
  if (!file || (file.read(text.data(), longest_private_file + 1), file.bad()))
    throw std::invalid_argument("cannot read " + shown_file(path));
  if (file.gcount() > longest_private_file)
    throw std::invalid_argument("the file " + path + " is longer than " + std::to_string(longest_private_file) +
                                " bytes; it must contain " + form);
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace zkadmin
