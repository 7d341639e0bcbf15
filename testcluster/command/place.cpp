#include "place.hpp"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>

#include <testcluster/error.hpp>

#include "register.hpp"

namespace testcluster::command {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

fs::path record_of(const fs::path& dir) { return dir / "cluster.json"; }

fs::path draft_of(const fs::path& dir) { return dir / "cluster.json.new"; }

error already_up(const fs::path& dir) {
  return error("a cluster is already up in " + dir.string() + "; end it with: testcluster down --dir " + dir.string());
}

/// Whether the supervisor that wrote this record made its directory. Nullopt: no supervisor wrote it.
std::optional<bool> made_in(const detail::descriptor& file) {
  char text[4096];  // a record is much shorter
  const auto size = ::read(file.get(), text, sizeof text);
  boost::system::error_code unreadable;
  const auto record = json::parse(json::string_view(text, size > 0 ? static_cast<std::size_t>(size) : 0), unreadable);
  if (unreadable || !record.is_object()) return std::nullopt;
  const auto* supervisor = record.get_object().if_contains("supervisor");
  const auto* made = record.get_object().if_contains("made");
  if (supervisor == nullptr || !supervisor->is_int64() || made == nullptr || !made->is_bool()) return std::nullopt;
  return made->get_bool();
}

// Does not wait for a writer if a pipe has this name.
detail::descriptor open_record(const fs::path& dir) {
  return detail::descriptor(::open(record_of(dir).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

/// Removes the draft of a supervisor that was killed before its record had a name: nobody holds it. One that is just
/// being begun may be taken for such a draft: its supervisor then finds nothing to name, and ends.
void remove_left_draft(const fs::path& dir) {
  const auto draft = draft_of(dir);
  const detail::descriptor file(::open(draft.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!file || ::flock(file.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::error_code failed;
  if (fs::is_empty(draft, failed) || made_in(file)) ::unlink(draft.c_str());
}

/// Removes what a dead supervisor left in the directory that the user named. Throws if a cluster is up in it.
fs::path without_leftovers(const fs::path& wanted) {
  if (wanted.empty()) return wanted;
  auto dir = normal(wanted);
  remove_left_draft(dir);
  const auto now = examine(dir);
  if (now == condition::foreign) throw foreign_record(dir);
  if (now == condition::live) throw already_up(dir);
  if (now == condition::stale) remove_stale(dir);
  return dir;
}

}  // namespace

place::place(const fs::path& wanted, const std::string& name) : name_(name), files_(without_leftovers(wanted)) {
  // sockaddr_un has room for 107 characters and a final zero.
  if (socket().string().size() > 107) throw error("dir: " + path().string() + " is too long for a socket in it");
  if (files_.temporary()) keeper_.emplace(path());
  lock();
  try {
    enter_register(path(), name_);
  } catch (...) {
    ::unlink(record_of(path()).c_str());
    throw;
  }
}

place::~place() {
  leave_register(path());
  ::unlink(socket().c_str());
  ::unlink(record_of(path()).c_str());
}

// The record gets its name when it is complete and locked. A process that examines the directory meanwhile therefore
// never takes this cluster for a stale one, and never holds the lock that this one needs.
void place::lock() {
  const auto name = record_of(path());
  const auto draft = draft_of(path());
  lock_ = detail::descriptor(::open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!lock_ && errno == EEXIST) throw already_up(path());
  if (!lock_) throw error("could not write " + draft.string() + ": " + std::strerror(errno));
  const auto record = json::serialize(json::object{{"supervisor", ::getpid()}, {"made", files_.made()}}) + "\n";
  const auto open_file = "/proc/self/fd/" + std::to_string(lock_.get());  // the draft may be another's by now
  const bool done = ::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0 &&
                    ::write(lock_.get(), record.data(), record.size()) == static_cast<ssize_t>(record.size()) &&
                    ::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  const int reason = errno;
  ::unlink(draft.c_str());
  if (!done && reason == EEXIST) throw already_up(path());
  if (!done) throw error("could not write " + name.string() + ": " + std::strerror(reason));
}

fs::path normal(const fs::path& dir) {
  const auto full = fs::absolute(dir).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

error foreign_record(const fs::path& dir) {
  return error(record_of(dir).string() +
               " is not a file of testcluster, so nothing in this directory was touched; name another directory, or "
               "move the file away");
}

condition examine(const fs::path& dir) {
  const auto file = open_record(dir);
  if (!file) return condition::none;
  if (!made_in(file)) return condition::foreign;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 ? condition::stale : condition::live;
}

void remove_stale(const fs::path& dir) {
  const bool made = made_in(open_record(dir)).value_or(false);
  std::error_code ignored;
  fs::remove_all(dir / "ensemble", ignored);
  fs::remove(socket_of(dir), ignored);
  fs::remove(record_of(dir), ignored);
  if (made) fs::remove(dir, ignored);
  leave_register(dir);
}

}  // namespace testcluster::command
