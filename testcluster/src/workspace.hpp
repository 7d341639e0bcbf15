#pragma once

#include <filesystem>

namespace testcluster::detail {

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
