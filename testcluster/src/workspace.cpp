#include "workspace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include <unistd.h>

#include <testcluster/error.hpp>

namespace testcluster::detail {

namespace fs = std::filesystem;

namespace {

/// Servers read paths from zoo.cfg as Java reads properties: with a '\\' that means something else, and in Latin-1.
void require_readable(const std::string& path) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\'; };
  if (std::all_of(path.begin(), path.end(), is_plain)) return;
  throw std::invalid_argument("dir: " + path +
                              " has a '\\' or a character that is not of ASCII, which servers misread in zoo.cfg; name "
                              "another directory, or another TMPDIR");
}

}  // namespace

workspace::workspace(const fs::path& wanted) : temporary_(wanted.empty()) {
  if (temporary_) {
    std::string name = (fs::temp_directory_path() / "testcluster-XXXXXX").string();
    require_readable(name);
    if (::mkdtemp(name.data()) == nullptr) throw error("could not make " + name + ": " + std::strerror(errno));
    path_ = name;
    return;
  }
  path_ = fs::absolute(wanted);
  if (!path_.has_filename()) path_ = path_.parent_path();
  require_readable(path_.string());
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
