#pragma once

#include <filesystem>

#include <testcluster/authority.hpp>

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

}  // namespace testcluster::detail
