#pragma once

#include <vector>

#include <zkrecipes/error.hpp>

#include "backend/endpoint.hpp"

namespace zkrecipes::backend {

/// One host name and its numeric addresses. No address: it could not be resolved, for the reason that the system gave;
/// `timed_out`: it gives no answer.
struct resolved_name {
  endpoint name;
  std::vector<endpoint> addresses;
  error_code error{};
};

}  // namespace zkrecipes::backend
