#pragma once

#include <memory>

#include "settings/settings.hpp"

namespace zkrecipes::backend {
class tls_context;
}

namespace zkadmin {

/// Null: plain text.
using tls_context_ptr = std::shared_ptr<zkrecipes::backend::tls_context>;

/// What connections by TLS need; null if the settings ask for none. Throws `failure` (usage) if a file is of no use.
tls_context_ptr secure_connections(const settings& wanted);

}  // namespace zkadmin
