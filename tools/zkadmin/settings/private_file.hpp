// Files that hold a secret.
#pragma once

#include <string>

namespace zkadmin {

/// Throws std::invalid_argument if everybody may read or change the file. `what` names its content: "the key". A file
/// that is not there is no matter of this function.
void require_private(const std::string& path, const std::string& what);

}  // namespace zkadmin
