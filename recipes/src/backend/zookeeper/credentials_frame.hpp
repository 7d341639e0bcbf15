// The request that shows credentials to a server.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/session_options.hpp>

namespace zkrecipes::backend {

/// The frames that show all of these, one after the other. To be wiped.
std::string credentials_frames(const std::vector<credentials>& all);
/// The frame that shows "user:password". To be wiped.
std::string credentials_frame(std::string_view secret);

}  // namespace zkrecipes::backend
