#pragma once

#include <zkrecipes/tls_options.hpp>

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

/// Connections of this context remember that the server has asked for a certificate. `tls_reason` needs it.
void record_certificate_requests(SSL_CTX* context);

/// Why a connection failed: a `tls_errc`, if TLS was the reason. `is_accepted`: the server has sent data, so it had
/// taken our certificate, or did without one.
error_code tls_reason(const error_code& failure, const SSL* connection, bool is_accepted = false);

}  // namespace zkrecipes::backend
