#include "backend/tls/tls_files.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include <openssl/err.h>
#include <sys/stat.h>

namespace zkrecipes::backend {

namespace {

std::string text_of(unsigned long code) {
  const char* text = ERR_SYSTEM_ERROR(code) ? std::strerror(ERR_GET_REASON(code)) : ERR_reason_error_string(code);
  return text ? text : "OpenSSL does not tell why";
}

/// The cause of what failed, in OpenSSL's words, which name functions and formats, never contents. Behind the cause
/// stand errors such as "PEM lib": that another part of OpenSSL has failed.
std::string openssl_problem() {
  const auto first = ERR_peek_error();
  while (const auto code = ERR_get_error()) {
    if (ERR_SYSTEM_ERROR(code) || !(ERR_GET_REASON(code) & ERR_RFLAG_COMMON)) return text_of(code);
  }
  return text_of(first);
}

[[noreturn]] void refuse_file(const char* field, const std::string& path, const std::string& problem) {
  ERR_clear_error();
  throw std::invalid_argument("session_options::tls." + std::string(field) + ": " + path + ": " + problem);
}

/// Called by OpenSSL. Without it OpenSSL would ask at the terminal.
int give_password(char* to, int size, int, void* context) noexcept {
  const auto& ask = *static_cast<const std::function<std::string()>*>(context);
  if (!ask) return -1;
  try {
    auto password = ask();
    const int length = password.size() > static_cast<std::size_t>(size) ? -1 : static_cast<int>(password.size());
    if (length > 0) std::memcpy(to, password.data(), password.size());
    OPENSSL_cleanse(password.data(), password.size());
    return length;
  } catch (...) {
    return -1;
  }
}

/// Lists of revoked certificates count if there are any. In a folder OpenSSL looks for them only when it needs them.
/// With lists no session of TLS is taken up again, because OpenSSL does not look at a certificate then.
void heed_revocations(SSL_CTX* context) {
  auto* store = SSL_CTX_get_cert_store(context);
  const auto* objects = X509_STORE_get0_objects(store);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    if (X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, i)) != X509_LU_CRL) continue;
    X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);  // also of intermediate authorities
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return;
  }
}

void load_authorities(SSL_CTX* to, const std::string& path) {
  if (path.empty()) {
    SSL_CTX_set_default_verify_paths(to);
    return;
  }
  std::error_code unknown;
  const bool is_folder = std::filesystem::is_directory(path, unknown);
  const int done = is_folder ? SSL_CTX_load_verify_dir(to, path.c_str()) : SSL_CTX_load_verify_file(to, path.c_str());
  if (done != 1) refuse_file("authorities", path, openssl_problem());
  heed_revocations(to);
}

void load_certificate(SSL_CTX* to, const tls_options& options) {
  SSL_CTX_set_default_passwd_cb(to, &give_password);
  SSL_CTX_set_default_passwd_cb_userdata(to, const_cast<std::function<std::string()>*>(&options.key_password));
  if (SSL_CTX_use_certificate_chain_file(to, options.certificate.c_str()) != 1)
    refuse_file("certificate", options.certificate, openssl_problem());
  const int done = SSL_CTX_use_PrivateKey_file(to, options.key.c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_set_default_passwd_cb_userdata(to, nullptr);
  SSL_CTX_set_default_passwd_cb(to, nullptr);
  // OpenSSL itself compares them only if both are of one kind, such as RSA.
  if (done != 1 || SSL_CTX_check_private_key(to) != 1) refuse_file("key", options.key, openssl_problem());
}

using named_path = std::pair<const char*, const std::string*>;

/// The paths of the files that the options name, by the names of their fields.
std::array<named_path, 3> files_of(const tls_options& options) {
  return {
      named_path{"authorities", &options.authorities}, {"certificate", &options.certificate}, {"key", &options.key}};
}

/// They decide who is trusted, and who we are.
void refuse_what_everybody_may_change(const tls_options& options) {
  for (const auto& [field, path] : files_of(options)) {
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    const bool is_kept = S_ISREG(seen.st_mode) || S_ISDIR(seen.st_mode);
    if (is_kept && (seen.st_mode & S_IWOTH)) refuse_file(field, *path, "everybody may change it; chmod o-w mends that");
  }
}

}  // namespace

ssl_context_handle load_tls_files(const tls_options& options) {
  refuse_what_everybody_may_change(options);
  ERR_clear_error();
  ssl_context_handle context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw std::bad_alloc();
  const bool is_new = options.minimum_version == tls_version::tls1_3;
  SSL_CTX_set_min_proto_version(context.get(), is_new ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  load_authorities(context.get(), options.authorities);
  if (!options.certificate.empty()) load_certificate(context.get(), options);
  ERR_clear_error();
  return context;
}

void require_files(const tls_options& options) {
  for (const auto& [field, path] : files_of(options)) {
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    if (!S_ISREG(seen.st_mode) && !S_ISDIR(seen.st_mode))
      refuse_file(field, *path, "it has become something else than a file");
  }
}

std::vector<file_stamp> tls_file_stamps(const tls_options& options) {
  std::vector<file_stamp> stamps;
  const auto nanoseconds = [](const timespec& when) { return when.tv_sec * 1'000'000'000 + when.tv_nsec; };
  for (const auto& [field, path] : files_of(options)) {
    auto& stamp = stamps.emplace_back();
    struct ::stat seen {};
    if (path->empty() || ::stat(path->c_str(), &seen) != 0) continue;
    stamp = {seen.st_dev, seen.st_ino, seen.st_size, nanoseconds(seen.st_mtim), nanoseconds(seen.st_ctim)};
  }
  return stamps;
}

}  // namespace zkrecipes::backend
