#pragma once

#include <zkrecipes/tls_error.hpp>

#include "backend/tls/tls_handles.hpp"

namespace zkrecipes::backend {

/// Why a connection failed before it could be used: a `tls_errc`, if TLS was the reason. `has_certificate`: we had one
/// to show.
error_code tls_reason(const error_code& failure, const SSL* connection, bool has_certificate);

}  // namespace zkrecipes::backend
