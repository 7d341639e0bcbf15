#include "guard.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

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

}  // namespace testcluster::detail
