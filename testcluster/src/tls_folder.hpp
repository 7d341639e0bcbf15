#pragma once

#include <filesystem>

#include <testcluster/authority.hpp>

#include "owned_folder.hpp"

namespace testcluster::detail {

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
