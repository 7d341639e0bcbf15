#pragma once

#include <vector>

#include "backend/endpoint.hpp"

namespace zkrecipes::backend {

/// One host name and its numeric addresses. No address: it could not be resolved.
struct resolved_name {
  endpoint name;
  std::vector<endpoint> addresses;
};

}  // namespace zkrecipes::backend
