#include "ensemble_impl.hpp"

#include <array>
#include <system_error>

#include <openssl/evp.h>

#include "written_file.hpp"

namespace testcluster::detail {

peer_links::peer_links(const std::vector<std::unique_ptr<server>>& all)
    : servers_(all.size()), links_(servers_ * servers_) {
  // Servers with higher numbers call back those with lower ones, so the proxies from higher to lower numbers are made
  // first: the others need their addresses.
  for (const auto& from : all) {
    for (const auto& to : all) {
      if (from->id() > to->id()) connect(*from, *to);
    }
  }
  for (const auto& from : all) {
    for (const auto& to : all) {
      if (from->id() < to->id()) connect(*from, *to);
    }
  }
}

peer_links::link& peer_links::find(int from, int to) { return links_[(from - 1) * servers_ + (to - 1)]; }

void peer_links::connect(const server& from, const server& to) {
  auto& made = find(from.id(), to.id());
  proxy_options options{.protocol = proxy_protocol::opaque, .listen = made.address.text()};
  made.quorum = std::make_unique<proxy>(to.address(1), options);
  if (from.id() < to.id()) options.callback = at(to.id(), from.id(), peer_port::election).address();
  made.election = std::make_unique<proxy>(to.address(2), options);
}

proxy& peer_links::at(int from, int to, peer_port port) {
  auto& found = find(from, to);
  return port == peer_port::quorum ? *found.quorum : *found.election;
}

std::string peer_links::quorum_address(int from, int to) {
  const auto& found = find(from, to);
  const auto election = found.election->address();
  return found.quorum->address() + election.substr(election.rfind(':'));
}

std::vector<proxy*> peer_links::between(int one, int other) {
  std::vector<proxy*> all;
  for (auto port : {peer_port::quorum, peer_port::election}) {
    all.push_back(&at(one, other, port));
    all.push_back(&at(other, one, port));
  }
  return all;
}

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
