#include "register.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <sys/stat.h>
#include <unistd.h>

#include "place.hpp"

namespace testcluster::command {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && fs::is_directory(runtime)) return fs::path(runtime) / "testcluster";
  return fs::temp_directory_path() / ("testcluster." + std::to_string(::getuid()));
}

// Everybody can write to the folder for temporary files, so another user may have made a folder of this name first.
void require_own(const fs::path& name) {
  struct stat found {};
  if (::lstat(name.c_str(), &found) != 0) throw error("could not make " + name.string() + ": " + std::strerror(errno));
  if (!S_ISDIR(found.st_mode) || found.st_uid != ::getuid()) {
    throw error(name.string() + " belongs to another user; set XDG_RUNTIME_DIR to a folder of your own");
  }
}

}  // namespace

void enter_register(const fs::path& dir) {
  const auto where = folder();
  ::mkdir(where.c_str(), 0700);
  require_own(where);
  const auto entry = where / std::to_string(::getpid());
  std::error_code ignored;
  fs::remove(entry, ignored);  // left by a dead supervisor with the same process id
  fs::create_directory_symlink(dir, entry);
}

void leave_register(const fs::path& dir) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder(), ignored)) {
    if (fs::read_symlink(entry.path(), ignored) == dir) fs::remove(entry.path(), ignored);
  }
  ::rmdir(folder().c_str());
}

std::vector<fs::path> registered() {
  std::vector<fs::path> found;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder(), absent)) {
    const auto dir = fs::read_symlink(entry.path(), absent);
    if (absent) continue;
    if (fs::exists(dir)) {
      found.push_back(dir);
    } else {
      // Its supervisor was killed, and its temporary directory went with it.
      fs::remove(entry.path(), absent);
    }
  }
  if (found.empty()) ::rmdir(folder().c_str());
  return found;
}

fs::path only_cluster() {
  std::vector<fs::path> live;
  std::string left, choice;
  for (const auto& dir : registered()) {
    if (examine(dir) == condition::live) {
      live.push_back(dir);
      choice += "\n  --dir " + dir.string();
    } else {
      left += " " + dir.string();
    }
  }
  if (live.size() == 1) return live.front();
  if (live.size() > 1) throw error("several clusters are up; choose one:" + choice);
  if (left.empty()) throw error("no cluster is up; start one with: testcluster up");
  throw error("no cluster is up, but one ended without cleaning up:" + left + "; remove it with: testcluster down");
}

}  // namespace testcluster::command
