#pragma once

#include <filesystem>
#include <optional>

#include <testcluster/error.hpp>

#include "descriptor.hpp"
#include "workspace.hpp"

namespace testcluster::command {

enum class condition { none, foreign, stale, live };

/// The state of a directory: no cluster, a file cluster.json that is not of this command, the files that a dead
/// supervisor left, or a running cluster.
condition examine(const std::filesystem::path& dir);

/// The error for condition::foreign.
error foreign_record(const std::filesystem::path& dir);

/// A directory named by a user, as an absolute normalized path, so that two such paths can be compared.
std::filesystem::path normal(const std::filesystem::path& dir);

/// Removes the files that a dead supervisor left, and nothing else. Only for condition::stale.
void remove_stale(const std::filesystem::path& dir);

inline std::filesystem::path socket_of(const std::filesystem::path& dir) { return dir / "control.sock"; }

/// The directory of one cluster of this command, as long as its supervisor lives:
///   cluster.json   the supervisor's process id, and whether it made the directory; locked while the supervisor lives
///   control.sock   takes requests
///   ensemble/      the files of testcluster::ensemble
class place {
 public:
  /// `wanted` is a new or empty directory, or one left by a supervisor that died. Empty: a temporary directory. `name`
  /// may be empty, too.
  place(const std::filesystem::path& wanted, const std::string& name);
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  const std::filesystem::path& path() const { return files_.path(); }
  std::filesystem::path socket() const { return socket_of(path()); }
  const std::string& name() const { return name_; }
  std::filesystem::path ensemble() const { return path() / "ensemble"; }

 private:
  void lock();
  std::string name_;
  detail::workspace files_;
  detail::descriptor lock_;
  std::optional<detail::guard> keeper_;  // removes a temporary directory when the supervisor is killed
};

}  // namespace testcluster::command
