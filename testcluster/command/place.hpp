#pragma once

#include "descriptor.hpp"
#include "guard.hpp"
#include "workspace.hpp"

#include <testcluster/error.hpp>

#include <filesystem>
#include <optional>

namespace testcluster::command {

enum class condition { none, stale, live };

/// What is in a directory: no cluster, what a dead supervisor left, or a cluster.
condition examine(const std::filesystem::path& dir);

/// A directory as a user names it, in the form in which it is compared.
std::filesystem::path normal(const std::filesystem::path& dir);

/// Removes what a dead supervisor left, and nothing else.
void remove_stale(const std::filesystem::path& dir);

inline std::filesystem::path socket_of(const std::filesystem::path& dir) {
  return dir / "control.sock";
}

/// The directory of one cluster of this command, as long as its supervisor lives:
///   cluster.json   who made the directory; locked by the supervisor, so that its death shows
///   control.sock   takes requests
///   ensemble/      what testcluster::ensemble makes
class place {
 public:
  /// Takes a new or empty directory, or one left by a supervisor that died; empty: a temporary one.
  explicit place(const std::filesystem::path& wanted);
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  const std::filesystem::path& path() const { return files_.path(); }
  std::filesystem::path socket() const { return socket_of(path()); }
  std::filesystem::path ensemble() const { return path() / "ensemble"; }

 private:
  void lock();
  detail::workspace files_;
  detail::descriptor lock_;
  std::optional<detail::guard> keeper_;  // removes a temporary directory when the supervisor is killed
};

}  // namespace testcluster::command
