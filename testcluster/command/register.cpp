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

/// Opens the register; nothing, and a problem unless there is none. Everybody can write to the folder for temporary
/// files, so another user may have made a folder of this name first, to tell us of servers of his own.
detail::descriptor open_own(const fs::path& where, std::string& problem) {
  detail::descriptor folder(::open(where.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder && errno == ENOENT) return folder;
  struct stat found {};
  if (folder && ::fstat(folder.get(), &found) == 0 && found.st_uid == ::getuid()) return folder;
  problem = where.string() + ": " + (folder ? "it belongs to another user" : std::strerror(errno)) +
            "; set XDG_RUNTIME_DIR to a folder of your own";
  return detail::descriptor();
}

/// The same; throws if there is a problem.
detail::descriptor open_register(const fs::path& where) {
  std::string problem;
  auto folder = open_own(where, problem);
  if (!problem.empty()) throw error(problem);
  return folder;
}

/// Whether the folder is still the one of this name: another process may have removed it, and a third one made another.
bool stands_at(const fs::path& where, const detail::descriptor& folder) {
  struct stat mine {
  }, there{};
  return ::fstat(folder.get(), &mine) == 0 && ::stat(where.c_str(), &there) == 0 && mine.st_ino == there.st_ino;
}

/// Locks the register as long as the descriptor lives. Makes the folder first; another process may remove it at any
/// time while it is not locked.
detail::descriptor locked(const fs::path& where) {
  while (true) {
    if (::mkdir(where.c_str(), 0700) != 0 && errno != EEXIST)
      throw error("could not make " + where.string() + ": " + std::strerror(errno));
    auto lock = open_register(where);
    if (!lock) continue;
    ::flock(lock.get(), LOCK_EX);
    if (stands_at(where, lock)) return lock;
  }
}

/// The links in the register. Its name may lead to another folder by now, so they are read through the descriptor.
std::vector<registered_cluster> links_in(const detail::descriptor& folder) {
  std::vector<registered_cluster> all;
  if (!folder) return all;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd/" + std::to_string(folder.get()), failed)) {
    auto dir = fs::read_symlink(entry.path(), failed);
    if (!failed) all.push_back({entry.path().filename().string(), std::move(dir)});
  }
  return all;
}

/// Removes the links to directories that are gone: their supervisors were killed, and the temporary directories went
/// with them.
void forget_missing(const fs::path& where) {
  const auto lock = locked(where);
  for (const auto& [name, dir] : links_in(lock))
    if (std::error_code ignored; !fs::exists(dir, ignored)) ::unlinkat(lock.get(), name.c_str(), 0);
}

/// Removes the folder if it is empty and nobody is about to enter a cluster.
void remove_if_empty(const fs::path& where, const detail::descriptor& folder) {
  if (folder && ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 && stands_at(where, folder)) ::rmdir(where.c_str());
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
  const auto where = folder();
  std::string problem;  // then it has no link of ours
  const auto own = open_own(where, problem);
  for (const auto& each : links_in(own))
    if (each.dir == dir) ::unlinkat(own.get(), each.name.c_str(), 0);
  remove_if_empty(where, own);
}

std::vector<registered_cluster> registered() {
  const auto where = folder();
  const auto own = open_register(where);
  auto found = links_in(own);
  if (std::erase_if(found, [](const auto& each) { return !fs::exists(each.dir); }) > 0) forget_missing(where);
  if (found.empty()) remove_if_empty(where, own);
  for (auto& each : found)
    if (is_number(each.name)) each.name.clear();
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
