#pragma once

#include <vector>

#include <zkrecipes/session_options.hpp>

#include "backend/endpoint.hpp"
#include "backend/session_key.hpp"

namespace zkrecipes::backend {

/// Which server a link connects to, and for which session.
struct link_options {
  endpoint server;
  session_key key;
  std::vector<credentials> digest;
};

}  // namespace zkrecipes::backend
