#include "secrets.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "backend/guardian/guardian_message.hpp"

namespace guardian {

using zkrecipes::backend::longest_line;

line_buffer::~line_buffer() { ::explicit_bzero(text_.data(), text_.size()); }

void line_buffer::add(std::string_view arrived) {
  forget_read();
  if (text_.capacity() < text_.size() + arrived.size()) {  // copied by us, so that the old memory can be overwritten
    std::string larger;
    larger.reserve(2 * (text_.size() + arrived.size()));
    larger = text_;
    ::explicit_bzero(text_.data(), text_.size());
    text_.swap(larger);
  }
  text_.append(arrived);
}

std::optional<std::string_view> line_buffer::next() {
  const auto end = text_.find('\n', searched_);
  if (end == text_.npos) {
    searched_ = text_.size();
    return std::nullopt;
  }
  const auto line = std::string_view(text_).substr(read_, end - read_);
  read_ = searched_ = end + 1;
  return line;
}

bool line_buffer::is_too_long() const noexcept { return text_.size() - read_ >= longest_line; }

void line_buffer::forget_read() {
  ::explicit_bzero(text_.data(), read_);
  text_.erase(0, read_);
  searched_ -= read_;
  read_ = 0;
}

namespace {

constexpr unsigned capability_ipc_lock = 14;

/// With a limit, a later allocation would fail once all that may be locked is locked.
bool may_lock_everything() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("CapEff:")) return std::stoull(line.substr(7), nullptr, 16) >> capability_ipc_lock & 1;
  }
  return false;
}

std::string with_reason(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

}  // namespace

void wipe(std::string& text) {
  ::explicit_bzero(text.data(), text.size());
  text.clear();
}

void wipe(zkrecipes::backend::guarded_session& session) {
  wipe(session.key.password);
  for (auto& each : session.digest) wipe(each.password);
}

std::string harden_process() {
  const rlimit none{0, 0};
  std::string failed;
  const auto add = [&](const std::string& what) { failed.append(failed.empty() ? "" : "; ").append(what); };
  if (::setrlimit(RLIMIT_CORE, &none) != 0) add(with_reason("core dumps are not forbidden"));
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) add(with_reason("the process stays dumpable"));
  if (!may_lock_everything()) {
    add("memory is not locked: the limit of locked memory is neither lifted nor is there CAP_IPC_LOCK");
  } else if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
    add(with_reason("memory is not locked"));
  }
  return failed;
}

}  // namespace guardian
