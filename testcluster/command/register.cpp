#include "register.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.hpp"
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

/// Locks the register as long as the descriptor lives. Makes the folder first; another process may remove it at any
/// time while it is not locked.
detail::descriptor locked(const fs::path& where) {
  while (true) {
    ::mkdir(where.c_str(), 0700);
    require_own(where);
    detail::descriptor lock(::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!lock && errno == ENOENT) continue;
    if (!lock) throw error("could not open " + where.string() + ": " + std::strerror(errno));
    ::flock(lock.get(), LOCK_EX);
    struct stat mine {
    }, there{};
    if (::fstat(lock.get(), &mine) == 0 && ::stat(where.c_str(), &there) == 0 && mine.st_ino == there.st_ino)
      return lock;
  }
}

/// Removes the links to directories that are gone: their supervisors were killed, and the temporary directories went
/// with them.
void forget_missing(const fs::path& where) {
  const auto lock = locked(where);
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(where, ignored))
    if (entry.is_symlink(ignored) && !fs::exists(entry.path(), ignored)) fs::remove(entry.path(), ignored);
}

/// Removes the folder if it is empty and nobody is about to enter a cluster.
void remove_if_empty(const fs::path& where) {
  const detail::descriptor lock(::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) ::rmdir(where.c_str());
}

bool is_number(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

void require_free(const fs::path& entry, const std::string& name) {
  std::error_code absent;
  const auto other = fs::read_symlink(entry, absent);
  if (absent || name.empty()) return;
  const auto state = examine(other);
  if (state == condition::live)
    throw error("a cluster named " + name + " is up already; end it with: testcluster down --name " + name);
  if (state == condition::stale)
    throw error("a cluster named " + name +
                " ended without cleaning up; remove what is left with: testcluster down --name " + name);
}

}  // namespace

std::string name_problem(const std::string& name) {
  constexpr std::size_t longest = 64;
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  const bool good = !name.empty() && name.size() <= longest && std::isalpha(static_cast<unsigned char>(name[0])) &&
                    std::all_of(name.begin(), name.end(), fits);
  return good ? "" : "expected a name of up to 64 letters, digits, '-', '_' or '.' that begins with a letter";
}

void enter_register(const fs::path& dir, const std::string& name) {
  const auto where = folder();
  const auto lock = locked(where);
  const auto entry = where / (name.empty() ? std::to_string(::getpid()) : name);
  require_free(entry, name);
  std::error_code ignored;
  fs::remove(entry, ignored);  // left by a dead supervisor with the same process id or name
  fs::create_directory_symlink(dir, entry);
}

void leave_register(const fs::path& dir) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder(), ignored)) {
    if (fs::read_symlink(entry.path(), ignored) == dir) fs::remove(entry.path(), ignored);
  }
  remove_if_empty(folder());
}

std::vector<registered_cluster> registered() {
  std::vector<registered_cluster> found;
  bool missing = false;
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(folder(), absent)) {
    const auto dir = fs::read_symlink(entry.path(), absent);
    if (absent) continue;
    if (fs::exists(dir)) {
      const auto name = entry.path().filename().string();
      found.push_back({is_number(name) ? "" : name, dir});
    } else {
      missing = true;
    }
  }
  if (missing) forget_missing(folder());
  if (found.empty()) remove_if_empty(folder());
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return std::tie(a.name, a.dir) < std::tie(b.name, b.dir); });
  return found;
}

std::string name_of(const fs::path& dir) {
  for (const auto& each : registered())
    if (each.dir == dir) return each.name;
  return {};
}

fs::path only_cluster() {
  std::vector<fs::path> live;
  std::string left, choice;
  for (const auto& [name, dir] : registered()) {
    if (examine(dir) == condition::live) {
      live.push_back(dir);
      choice += "\n  --dir " + dir.string() + (name.empty() ? "" : "  or  --name " + name);
    } else {
      left += " " + dir.string();
    }
  }
  if (live.size() == 1) return live.front();
  if (live.size() > 1) throw error("several clusters are up; choose one:" + choice);
  if (left.empty()) throw error("no cluster is up; start one with: testcluster up");
  throw error("no cluster is up, but one ended without cleaning up:" + left + "; remove it with: testcluster down");
}

fs::path named_cluster(const std::string& name) {
  std::string others;
  for (const auto& each : registered()) {
    if (each.name == name) return each.dir;
    if (!each.name.empty()) others += " " + each.name;
  }
  throw error("no cluster named " + name + " is up; " +
              (others.empty() ? "none has a name: see testcluster list" : "the names are:" + others));
}

}  // namespace testcluster::command
