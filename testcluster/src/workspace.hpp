#pragma once

#include <filesystem>

#include <sys/types.h>

#include <testcluster/authority.hpp>

#include "descriptor.hpp"

namespace testcluster::detail {

/// Makes sure that the servers do not outlive their owner. A small process leads the process group that the servers
/// join, and reads from a pipe whose other end only this object holds. When the owner ends, in whatever way, the kernel
/// closes that end, and the small process kills the group. PR_SET_PDEATHSIG is not enough, because it follows the
/// thread that started the child.
class guard {
 public:
  /// If the owner ends without running its destructors, `leftover` is removed as well; it may be empty.
  explicit guard(const std::filesystem::path& leftover);

  /// Kills all processes that are left in the group.
  ~guard();
  guard(const guard&) = delete;
  guard& operator=(const guard&) = delete;

  pid_t group() const { return pid_; }

 private:
  descriptor lifeline_;
  pid_t pid_ = 0;
};

/// A folder for the owner of the process only. It goes with the object and with all that is in it by then.
class owned_folder {
 public:
  /// Makes it. Throws std::filesystem::filesystem_error if it can not.
  explicit owned_folder(std::filesystem::path where);
  ~owned_folder();
  owned_folder(const owned_folder&) = delete;
  owned_folder& operator=(const owned_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The certificates of an ensemble or a broker, in a folder of their own that is removed with the object, also if a
/// certificate can not be made.
class tls_folder {
 public:
  explicit tls_folder(std::filesystem::path where);
  tls_folder(const tls_folder&) = delete;
  tls_folder& operator=(const tls_folder&) = delete;

  authority& signer() { return signer_; }
  const certificate_files& client() const { return client_; }

 private:
  owned_folder folder_;
  authority signer_;
  certificate_files client_;
};

/// The directory of a cluster. At the end a temporary directory is removed with its content. A directory that this
/// object created is removed if it is empty by then. Other content must be removed by the code that created it.
class workspace {
 public:
  /// `wanted` empty: a temporary directory. Throws std::invalid_argument if the directory is not empty,
  /// testcluster::error if it can not be created or written to.
  explicit workspace(const std::filesystem::path& wanted);
  ~workspace();
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool temporary() const { return temporary_; }
  bool made() const { return made_; }

 private:
  std::filesystem::path path_;
  bool temporary_ = false;
  bool made_ = true;
};

}  // namespace testcluster::detail
