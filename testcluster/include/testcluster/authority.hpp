#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <testcluster/error.hpp>

namespace testcluster {

/// What a certificate says.
struct certificate_options {
  /// Its name (CN), which ZooKeeper's scheme `x509` shows as "CN=name", and the name of its files: letters, digits,
  /// '-',
  /// '_' and '.', not empty.
  std::string name;

  /// The host names and IP addresses of the server that it is for.
  std::vector<std::string> hosts{};

  /// From when until when it is valid, as seen from now.
  std::chrono::seconds begin{-3600};
  std::chrono::seconds end{24 * 3600};

  /// Encrypts the key. Empty: the key is not encrypted.
  std::string key_password{};

  /// The key is one of RSA, of 2048 bits, which takes a tenth of a second to make; otherwise on the curve P-256.
  bool rsa = false;
};

/// The files of a certificate, in PEM. Those with a key have the mode 0600.
struct certificate_files {
  std::filesystem::path certificate;
  std::filesystem::path key;
  std::filesystem::path both;  ///< The key and behind it the certificate: the form of ZooKeeper's `ssl.keyStore`.
};

/// An authority that signs certificates for tests. Its own key, on the curve P-256, is in memory only, and it is valid
/// for a day.
class authority {
 public:
  /// Writes its certificate to `folder`/`name`.pem. The folder has to exist. Throws testcluster::error if it can not.
  explicit authority(std::filesystem::path folder, const std::string& name = "authority");
  /// An authority whose own certificate `issuer` signs, with files in the folder of `issuer`. Behind each certificate
  /// that it issues stands its own in the same file. Throws as the other constructor.
  authority(const authority& issuer, const std::string& name);
  ~authority();
  authority(const authority&) = delete;
  authority& operator=(const authority&) = delete;

  /// Its own certificate, which the other side has to trust.
  const std::filesystem::path& certificate() const;

  /// Writes NAME.pem, NAME.key and NAME.both.pem, in the place of files that are there already: each is written aside,
  /// and then renamed. Throws std::invalid_argument if the name can not be that of a file, testcluster::error
  /// otherwise.
  certificate_files issue(const certificate_options& what);

  /// Adds a certificate of its own to the list of revoked ones. Throws testcluster::error if it can not be read.
  void revoke(const std::filesystem::path& certificate);

  /// The list of revoked certificates, FOLDER/NAME.crl. Each certificate names it as its distribution point.
  const std::filesystem::path& revocations() const;

 private:
  authority(std::filesystem::path folder, const std::string& name, const authority* issuer);

  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
