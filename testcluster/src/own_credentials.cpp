#include "own_credentials.hpp"

#include <array>
#include <system_error>

#include <openssl/evp.h>

#include "drawn_secret.hpp"
#include "written_file.hpp"

namespace testcluster::detail {
namespace {

/// What ZooKeeper makes of "user:password": the user, and the hash of both in base64.
std::string hashed(const std::string& secret) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  if (EVP_Digest(secret.data(), secret.size(), hash.data(), &size, EVP_sha1(), nullptr) != 1)
    throw error("could not hash the superuser's password: this OpenSSL has no SHA-1");
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
  const auto length = EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(size));
  return secret.substr(0, secret.find(':') + 1) + std::string(text.data(), text.data() + length);
}

}  // namespace

own_credentials::own_credentials(const ensemble_options& options, const std::filesystem::path& folder) {
  if (options.digest_superuser) {
    secret_ = "super:" + drawn_secret();
    file_ = folder / "superuser";
    write_file(file_, secret_ + "\n", 0600);
    lines_ += "DigestAuthenticationProvider.superDigest=" + hashed(secret_) + "\n";
  }
  if (!options.auth_required) return;
  if (secret_.empty()) secret_ = "testcluster:" + drawn_secret();
  lines_ += "enforce.auth.enabled=true\nenforce.auth.schemes=";
  lines_ += options.tls ? "digest,x509\n" : "digest\n";
}

own_credentials::~own_credentials() {
  std::error_code ignored;
  if (!file_.empty()) std::filesystem::remove(file_, ignored);
}

}  // namespace testcluster::detail
