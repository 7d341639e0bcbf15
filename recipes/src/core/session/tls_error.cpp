#include <zkrecipes/tls_options.hpp>

namespace zkrecipes {

namespace {

const char* text(tls_errc value) {
  switch (value) {
    case tls_errc::unknown_authority: return "the server's certificate is of no authority that is trusted";
    case tls_errc::wrong_name: return "the server's certificate is for another name";
    case tls_errc::expired: return "the server's certificate has expired";
    case tls_errc::not_yet_valid: return "the server's certificate is not valid yet";
    case tls_errc::revoked: return "the server's certificate is revoked";
    case tls_errc::unusable_certificate: return "the server's certificate must not be used, or is malformed";
    case tls_errc::certificate_required: return "the server asks for a certificate";
    case tls_errc::own_authority_unknown: return "the server does not know the authority of our certificate";
    case tls_errc::own_certificate_expired: return "our certificate has expired";
    case tls_errc::own_certificate_revoked: return "the server says that our certificate is revoked";
    case tls_errc::own_certificate_refused:
      return "the server refused our certificate, or went no further when it had asked for it";
    case tls_errc::no_common_version: return "the server speaks other versions of TLS only";
    case tls_errc::not_tls: return "the server did not answer in TLS";
    case tls_errc::handshake_failed: return "TLS failed";
  }
  return "unknown error";
}

struct tls_category final : boost::system::error_category {
  const char* name() const noexcept override { return "zkrecipes.tls"; }
  std::string message(int value) const override { return text(static_cast<tls_errc>(value)); }
};

}  // namespace

const boost::system::error_category& tls_error_category() noexcept {
  static const tls_category instance;
  return instance;
}

error_code make_error_code(tls_errc value) noexcept { return {static_cast<int>(value), tls_error_category()}; }

}  // namespace zkrecipes
