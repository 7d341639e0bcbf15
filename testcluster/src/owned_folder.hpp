#pragma once

#include <filesystem>

namespace testcluster::detail {

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

}  // namespace testcluster::detail
