#pragma once

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

/// Connections of this context remember that the server has asked for a certificate. `tls_reason` needs it.
void record_certificate_requests(SSL_CTX* context);

/// Why a connection failed before it could be used: a `tls_errc`, if TLS was the reason.
error_code tls_reason(const error_code& failure, const SSL* connection);

}  // namespace zkrecipes::backend
