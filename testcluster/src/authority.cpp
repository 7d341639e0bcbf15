#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <boost/asio/ip/address.hpp>

#include <testcluster/authority.hpp>

#include "written_file.hpp"

namespace testcluster {

namespace fs = std::filesystem;
using detail::write_file;

namespace {

struct openssl_deleter {
  void operator()(EVP_PKEY* what) const noexcept { EVP_PKEY_free(what); }
  void operator()(X509* what) const noexcept { X509_free(what); }
  void operator()(X509_CRL* what) const noexcept { X509_CRL_free(what); }
  void operator()(ASN1_STRING* what) const noexcept { ASN1_STRING_free(what); }  // also numbers and times
  void operator()(BIO* what) const noexcept { BIO_free(what); }
  void operator()(X509_EXTENSION* what) const noexcept { X509_EXTENSION_free(what); }
};
template <class T>
using owned = std::unique_ptr<T, openssl_deleter>;

void require(bool done, const char* what) {
  if (!done) throw error(std::string("could not make a certificate: ") + what);
}

std::string text_of(BIO* from) {
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(from, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* certificate) {
  owned<BIO> to(BIO_new(BIO_s_mem()));
  require(to && PEM_write_bio_X509(to.get(), certificate) == 1, "writing it");
  return text_of(to.get());
}

std::string pem_of(EVP_PKEY* key, const std::string& password) {
  owned<BIO> to(BIO_new(BIO_s_mem()));
  auto* secret = reinterpret_cast<unsigned char*>(const_cast<char*>(password.data()));
  const bool is_written = to && PEM_write_bio_PrivateKey(to.get(), key, password.empty() ? nullptr : EVP_aes_256_cbc(),
                                                         password.empty() ? nullptr : secret,
                                                         static_cast<int>(password.size()), nullptr, nullptr) == 1;
  require(is_written, "writing its key");
  return text_of(to.get());
}

void add_extension(X509* to, X509V3_CTX* context, int type, const std::string& value) {
  owned<X509_EXTENSION> extension(X509V3_EXT_conf_nid(nullptr, context, type, value.c_str()));
  require(extension && X509_add_ext(to, extension.get(), -1) == 1, "an extension");
}

std::string alternative_names(const std::vector<std::string>& hosts) {
  std::string list;
  for (const auto& each : hosts) {
    boost::system::error_code not_numeric;
    boost::asio::ip::make_address(each, not_numeric);
    list += (list.empty() ? "" : ",") + std::string(not_numeric ? "DNS:" : "IP:") + each;
  }
  return list;
}

/// A list of extensions' values is divided at commas, and the end of a line ends one, so a path needs the form of a
/// URI.
std::string file_uri(const fs::path& file) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string uri = "file://";
  for (const unsigned char c : fs::absolute(file).string()) {
    const bool is_plain = std::isalnum(c) || c == '/' || c == '-' || c == '_' || c == '.' || c == '~';
    uri += is_plain ? std::string(1, static_cast<char>(c)) : std::string{'%', digits[c >> 4], digits[c & 0xf]};
  }
  return uri;
}

owned<X509> unsigned_certificate(const std::string& name, EVP_PKEY* key, std::chrono::seconds begin,
                                 std::chrono::seconds end) {
  owned<X509> made(X509_new());
  require(made != nullptr, "memory");
  std::array<unsigned char, 16> serial{};
  require(RAND_bytes(serial.data(), serial.size()) == 1, "random numbers");
  serial[0] &= 0x7f;
  auto* number = BN_bin2bn(serial.data(), serial.size(), nullptr);
  BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made.get()));
  BN_free(number);
  X509_set_version(made.get(), 2);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), begin.count());
  X509_gmtime_adj(X509_getm_notAfter(made.get()), end.count());
  X509_set_pubkey(made.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  return made;
}

void require_name(const std::string& name) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; };
  if (!name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), fits)) return;
  throw std::invalid_argument("certificate_options::name: '" + name + "' can not be the name of a file");
}

}  // namespace

struct authority::impl {
  fs::path folder;
  fs::path file;
  owned<EVP_PKEY> key;
  owned<X509> certificate;
  fs::path list_file;
  std::string chain;  // what leads from here to an authority without an issuer, in PEM
  std::vector<owned<ASN1_INTEGER>> revoked;

  void write_list();
  void sign(X509* what) { require(X509_sign(what, key.get(), EVP_sha256()) > 0, "signing it"); }
};

void authority::impl::write_list() {
  const owned<X509_CRL> list(X509_CRL_new());
  const owned<ASN1_TIME> begin(X509_gmtime_adj(nullptr, -3600)), end(X509_gmtime_adj(nullptr, 24 * 3600));
  require(list && begin && end, "memory");
  X509_CRL_set_version(list.get(), 1);
  X509_CRL_set_issuer_name(list.get(), X509_get_subject_name(certificate.get()));
  X509_CRL_set1_lastUpdate(list.get(), begin.get());
  X509_CRL_set1_nextUpdate(list.get(), end.get());
  for (const auto& serial : revoked) {
    auto* each = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(each, serial.get());
    X509_REVOKED_set_revocationDate(each, begin.get());
    X509_CRL_add0_revoked(list.get(), each);
  }
  X509_CRL_sort(list.get());
  require(X509_CRL_sign(list.get(), key.get(), EVP_sha256()) > 0, "signing a list of revoked ones");
  const owned<BIO> to(BIO_new(BIO_s_mem()));
  require(to && PEM_write_bio_X509_CRL(to.get(), list.get()) == 1, "writing a list of revoked ones");
  write_file(list_file, text_of(to.get()), 0644);
}

authority::authority(fs::path folder, const std::string& name) : authority(std::move(folder), name, nullptr) {}

authority::authority(const authority& issuer, const std::string& name)
    : authority(issuer.impl_->folder, name, &issuer) {}

authority::authority(fs::path folder, const std::string& name, const authority* issuer)
    : impl_(std::make_unique<impl>()) {
  require_name(name);
  impl_->file = folder / (name + ".pem");
  impl_->folder = std::move(folder);
  impl_->key.reset(EVP_EC_gen("P-256"));
  require(impl_->key != nullptr, "its key");
  using namespace std::chrono_literals;
  impl_->certificate = unsigned_certificate(name, impl_->key.get(), -1h, 24h);
  auto* own = impl_->certificate.get();
  auto& signs = issuer ? *issuer->impl_ : *impl_;
  X509_set_issuer_name(own, X509_get_subject_name(signs.certificate.get()));
  X509V3_CTX context;
  X509V3_set_ctx(&context, signs.certificate.get(), own, nullptr, nullptr, 0);
  add_extension(own, &context, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, &context, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(own, &context, NID_subject_key_identifier, "hash");
  signs.sign(own);
  if (issuer) impl_->chain = pem_of(own) + signs.chain;
  write_file(impl_->file, pem_of(own), 0644);
  impl_->list_file = fs::path(impl_->file).replace_extension("crl");
  impl_->write_list();
}

authority::~authority() = default;

const fs::path& authority::certificate() const { return impl_->file; }

const fs::path& authority::revocations() const { return impl_->list_file; }

void authority::revoke(const fs::path& certificate) {
  const owned<BIO> from(BIO_new_file(certificate.c_str(), "r"));
  const owned<X509> read(from ? PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr) : nullptr);
  if (!read) throw error("could not read a certificate in " + certificate.string());
  impl_->revoked.emplace_back(ASN1_INTEGER_dup(X509_get0_serialNumber(read.get())));
  impl_->write_list();
}

certificate_files authority::issue(const certificate_options& what) {
  require_name(what.name);
  const owned<EVP_PKEY> key(what.rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256"));
  require(key != nullptr, "its key");
  const auto made = unsigned_certificate(what.name, key.get(), what.begin, what.end);
  X509_set_issuer_name(made.get(), X509_get_subject_name(impl_->certificate.get()));
  X509V3_CTX context;
  X509V3_set_ctx(&context, impl_->certificate.get(), made.get(), nullptr, nullptr, 0);
  add_extension(made.get(), &context, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made.get(), &context, NID_key_usage, "critical,digitalSignature");
  add_extension(made.get(), &context, NID_ext_key_usage, "serverAuth,clientAuth");
  add_extension(made.get(), &context, NID_authority_key_identifier, "keyid:always");
  add_extension(made.get(), &context, NID_crl_distribution_points, "URI:" + file_uri(impl_->list_file));
  if (!what.hosts.empty()) add_extension(made.get(), &context, NID_subject_alt_name, alternative_names(what.hosts));
  impl_->sign(made.get());
  const auto path = [&](const char* ending) { return impl_->folder / (what.name + ending); };
  certificate_files files{path(".pem"), path(".key"), path(".both.pem")};
  const auto certificate = pem_of(made.get()) + impl_->chain;
  const auto secret = pem_of(key.get(), what.key_password);
  write_file(files.certificate, certificate, 0644);
  write_file(files.key, secret, 0600);
  write_file(files.both, secret + certificate, 0600);
  return files;
}

}  // namespace testcluster
