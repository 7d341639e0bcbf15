#pragma once

#include <filesystem>

namespace testcluster::detail {

/// The directory of a cluster. At the end, a temporary one is removed with all that is in it, and one that
/// was made here is removed if it is empty by then. What else was made in it is its makers' affair.
class workspace {
 public:
  /// `wanted` empty: a temporary directory. Throws std::invalid_argument if it is in use, testcluster::error
  /// if it can not be made or written to.
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
