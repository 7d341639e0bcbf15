#pragma once

#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/endpoint.hpp"
#include "backend/session_key.hpp"

namespace zkrecipes::backend {

class tls_context;

/// Which server a link connects to, and for which session.
struct link_options {
  endpoint server;
  session_key key;
  std::vector<credentials> digest{};
  std::shared_ptr<tls_context> tls{};  ///< Null: plain text.
  std::vector<std::string> names{};    ///< Those that the user has written for this server.
};

}  // namespace zkrecipes::backend
