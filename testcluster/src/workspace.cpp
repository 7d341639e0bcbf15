#include "workspace.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include <unistd.h>

#include <testcluster/error.hpp>

namespace testcluster::detail {

namespace fs = std::filesystem;

workspace::workspace(const fs::path& wanted) : temporary_(wanted.empty()) {
  if (temporary_) {
    std::string name = (fs::temp_directory_path() / "testcluster-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw error("could not make " + name + ": " + std::strerror(errno));
    path_ = name;
    return;
  }
  path_ = fs::absolute(wanted);
  if (!path_.has_filename()) path_ = path_.parent_path();
  std::error_code failure;
  made_ = fs::create_directory(path_, failure);
  if (failure) throw error("dir: could not make " + path_.string() + ": " + failure.message());
  if (!fs::is_empty(path_, failure) && !failure) {
    throw std::invalid_argument("dir: " + path_.string() + " is not empty; name a new or an empty directory");
  }
  if (failure || ::access(path_.c_str(), W_OK | X_OK) != 0) {
    throw error("dir: " + path_.string() + " is not writable for this user");
  }
}

workspace::~workspace() {
  std::error_code ignored;
  if (temporary_) {
    fs::remove_all(path_, ignored);
  } else if (made_) {
    fs::remove(path_, ignored);
  }
}

}  // namespace testcluster::detail
