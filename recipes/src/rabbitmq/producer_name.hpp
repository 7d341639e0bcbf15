// The name of a producer.
#pragma once

#include <string>

namespace zkrecipes::detail {

/// \throws std::invalid_argument if it has not 1 to 200 bytes, or has a slash or control characters, or is "." or "..".
void require_producer_name(const std::string& name);

}  // namespace zkrecipes::detail
