#include "workspace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <testcluster/error.hpp>

#include "spawn.hpp"

namespace testcluster::detail {

namespace {

// The script ignores signals, because the kernel sends SIGHUP to an orphaned process group that contains a stopped
// process, such as a paused server. It kills the group from a new session, because otherwise it would kill itself
// before it has cleaned up. It repeats the removal, because a dying server may still be creating a file.
constexpr const char* script = R"(
trap '' HUP INT QUIT TERM
while read -r _; do :; done
setsid sh -c '
  kill -s KILL -- "-$1"
  tries=0
  until [ -z "$2" ] || rm -rf -- "$2" || [ $tries -eq 100 ]; do sleep 0.02; tries=$((tries + 1)); done
' testcluster-guard $$ "$1"
)";

}  // namespace

guard::guard(const std::filesystem::path& leftover) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  const descriptor watched(ends[0]);
  lifeline_ = descriptor(ends[1]);
  pid_ = spawn({.command = {"/bin/sh", "-c", script, "testcluster-guard", leftover.string()}, .input = watched.get()});
}

guard::~guard() {
  ::kill(-pid_, SIGKILL);
  await(pid_);
}

tls_folder::tls_folder(std::filesystem::path where)
    : folder_(std::move(where)), signer_(folder_.path()), client_(signer_.issue({.name = "client"})) {}

namespace fs = std::filesystem;

owned_folder::owned_folder(fs::path where) : path_(std::move(where)) {
  fs::create_directory(path_);
  fs::permissions(path_, fs::perms::owner_all);
}

owned_folder::~owned_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

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
