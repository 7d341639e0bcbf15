#include "settings/private_file.hpp"

#include <stdexcept>

#include <sys/stat.h>

namespace zkadmin {

void require_private(const std::string& path, const std::string& what) {
  struct ::stat seen {};
  if (::stat(path.c_str(), &seen) != 0 || !S_ISREG(seen.st_mode)) return;
  if (seen.st_mode & S_IROTH)
    throw std::invalid_argument("everybody may read " + what + " in " + path + "; chmod o-r makes the file private");
  if (seen.st_mode & S_IWOTH)
    throw std::invalid_argument("everybody may change " + what + " in " + path + "; chmod o-w forbids it");
}

}  // namespace zkadmin
