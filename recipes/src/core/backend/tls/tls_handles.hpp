// Objects of OpenSSL with an owner.
#pragma once

#include <memory>

#include <openssl/ssl.h>

namespace zkrecipes::backend {

struct tls_deleter {
  void operator()(SSL_CTX* what) const noexcept { SSL_CTX_free(what); }
  void operator()(SSL* what) const noexcept { SSL_free(what); }
  void operator()(SSL_SESSION* what) const noexcept { SSL_SESSION_free(what); }
};

using ssl_context_handle = std::unique_ptr<SSL_CTX, tls_deleter>;
using ssl_handle = std::unique_ptr<SSL, tls_deleter>;
using ssl_session_handle = std::unique_ptr<SSL_SESSION, tls_deleter>;

}  // namespace zkrecipes::backend
