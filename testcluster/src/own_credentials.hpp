#pragma once

#include <filesystem>
#include <string>

#include <testcluster/ensemble.hpp>

namespace testcluster::detail {

/// The digest credentials by which testcluster itself speaks to the servers: those of the superuser, or others if the
/// servers only demand some. A file with those of the superuser is removed with the object.
class own_credentials {
 public:
  /// Writes the file of the superuser to `folder`. Throws testcluster::error if that fails.
  own_credentials(const ensemble_options& options, const std::filesystem::path& folder);
  ~own_credentials();
  own_credentials(const own_credentials&) = delete;
  own_credentials& operator=(const own_credentials&) = delete;

  /// "user:password"; empty if the servers need none.
  const std::string& secret() const { return secret_; }

  /// The file with the superuser's; empty if there is no superuser.
  const std::filesystem::path& file() const { return file_; }

  /// The lines of zoo.cfg, which have the hash of the password only.
  const std::string& lines() const { return lines_; }

 private:
  std::string secret_;
  std::filesystem::path file_;
  std::string lines_;
};

}  // namespace testcluster::detail
