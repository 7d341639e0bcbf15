#include "cluster/secure_connections.hpp"

#include <stdexcept>

#include "backend/tls/tls_context.hpp"
#include "failure.hpp"

namespace zkadmin {

tls_context_ptr secure_connections(const settings& wanted) {
  if (!wanted.tls) return nullptr;
  try {
    return std::make_shared<zkrecipes::backend::tls_context>(*wanted.tls);
  } catch (const std::invalid_argument& error) {
    throw failure(exit_code::usage, error.what());
  }
}

}  // namespace zkadmin
