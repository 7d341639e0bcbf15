// Files that hold a secret.
#pragma once

#include <string>

namespace zkadmin {

/// Throws std::invalid_argument if everybody may read or change the file. `what` names its content: "the key". A file
/// that is not there is no matter of this function.
void require_private(const std::string& path, const std::string& what);

/// The content of a file with credentials. `form`: what it has to contain, "one line, user:password". Throws
/// std::invalid_argument: as `require_private`, if it can not be read, or if it has more than 4 096 bytes.
std::string read_private_file(const std::string& path, const std::string& form);

}  // namespace zkadmin
