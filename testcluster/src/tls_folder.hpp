#pragma once

#include <filesystem>

#include <testcluster/authority.hpp>

namespace testcluster::detail {

/// The certificates of an ensemble, in a folder of their own that is removed with the object.
class tls_folder {
 public:
  explicit tls_folder(std::filesystem::path where);
  tls_folder(const tls_folder&) = delete;
  tls_folder& operator=(const tls_folder&) = delete;

  authority& signer() { return signer_; }
  const certificate_files& client() const { return client_; }

 private:
  /// Goes with all that is in it, also if a certificate can not be made.
  struct removed_folder {
    std::filesystem::path path;
    ~removed_folder();
  };

  removed_folder folder_;
  authority signer_;
  certificate_files client_;
};

}  // namespace testcluster::detail
