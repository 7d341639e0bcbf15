#pragma once

#include <zkrecipes/error.hpp>

namespace zkrecipes::backend {

/// For a value of `errno`.
inline error_code system_error(int number) { return {number, boost::system::system_category()}; }

}  // namespace zkrecipes::backend
