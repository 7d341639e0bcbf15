// A guardian of the session's own, where the machine has none: the program as a child of this process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// For a value of `errno`.
inline error_code system_error(int number) { return {number, boost::system::system_category()}; }

/// The program to start, if `session_options::guardian` names one ("child:/usr/bin/zkrecipes-guardian") and no socket.
std::optional<std::string> guardian_program(std::string_view guardian);

/// A guardian that was started. It goes on when this has gone.
class guardian_child {
 public:
  guardian_child() noexcept = default;
  /// Takes the pidfd.
  explicit guardian_child(int pidfd) noexcept : pidfd_(pidfd) {}
  guardian_child(guardian_child&& other) noexcept : pidfd_(std::exchange(other.pidfd_, -1)) {}
  guardian_child& operator=(guardian_child&& other) noexcept {
    std::swap(pidfd_, other.pidfd_);
    return *this;
  }
  ~guardian_child();

  /// Does nothing if there is none, or if it has ended.
  void kill() const noexcept;

 private:
  int pidfd_ = -1;
};

struct started_guardian {
  error_code error{};
  int socket = -1;  ///< Our end of the stream socket to it.
  guardian_child child{};
};

/// Starts the program. It is looked for in PATH if its name has no slash. It inherits stderr, where its log goes, and
/// no other descriptor. It has a session of its own (`setsid`), so that signals of a terminal do not end it together
/// with this process. Returns when it has been executed. Safe from every thread.
started_guardian start_guardian(const std::string& program);

}  // namespace zkrecipes::backend
