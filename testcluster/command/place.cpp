#include "place.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

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

error already_up(const fs::path& dir) {
  return error("a cluster is already up in " + dir.string() + "; end it with: testcluster down --dir " + dir.string());
}

/// Removes what a dead supervisor left in the directory that the user named. Throws if a cluster is up in it.
fs::path without_leftovers(const fs::path& wanted) {
  if (wanted.empty()) return wanted;
  auto dir = normal(wanted);
  const auto now = examine(dir);
  if (now == condition::live) throw already_up(dir);
  if (now == condition::stale) remove_stale(dir);
  return dir;
}

bool was_made(const fs::path& dir) {
  std::ifstream file(record_of(dir));
  std::ostringstream text;
  text << file.rdbuf();
  boost::system::error_code unreadable;
  const auto record = json::parse(text.str(), unreadable);
  const auto* made = !unreadable && record.is_object() ? record.get_object().if_contains("made") : nullptr;
  return made != nullptr && made->is_bool() && made->get_bool();
}

}  // namespace

place::place(const fs::path& wanted, const std::string& name) : name_(name), files_(without_leftovers(wanted)) {
  // sockaddr_un has room for 107 characters and a final zero.
  if (socket().string().size() > 107) throw error("dir: " + path().string() + " is too long for a socket in it");
  if (files_.temporary()) keeper_.emplace(path());
  lock();
  enter_register(path(), name_);
}

place::~place() {
  leave_register(path());
  ::unlink(socket().c_str());
  ::unlink(record_of(path()).c_str());
}

void place::lock() {
  const auto name = record_of(path());
  lock_ = detail::descriptor(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock_) throw error("could not write " + name.string() + ": " + std::strerror(errno));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) != 0) throw already_up(path());
  const auto record = json::serialize(json::object{{"supervisor", ::getpid()}, {"made", files_.made()}}) + "\n";
  if (::write(lock_.get(), record.data(), record.size()) != static_cast<ssize_t>(record.size())) {
    throw error("could not write " + name.string() + ": " + std::strerror(errno));
  }
}

fs::path normal(const fs::path& dir) {
  const auto full = fs::absolute(dir).lexically_normal();
  return full.has_filename() ? full : full.parent_path();
}

condition examine(const fs::path& dir) {
  const detail::descriptor file(::open(record_of(dir).c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return condition::none;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 ? condition::stale : condition::live;
}

void remove_stale(const fs::path& dir) {
  const bool made = was_made(dir);
  std::error_code ignored;
  fs::remove_all(dir / "ensemble", ignored);
  fs::remove(socket_of(dir), ignored);
  fs::remove(record_of(dir), ignored);
  if (made) fs::remove(dir, ignored);
  leave_register(dir);
}

}  // namespace testcluster::command
