// The request that shows credentials to a server.
#pragma once

#include <string>
#include <vector>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::backend {

/// The frames that show all of these, one after the other. To be wiped.
std::string credentials_frames(const std::vector<credentials>& all);
std::string credentials_frame(const credentials& one);

}  // namespace zkrecipes::backend
