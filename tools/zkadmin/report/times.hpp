// Times of the servers or of this machine, as text.
#pragma once

#include <cstdint>
#include <string>

namespace zkadmin {

/// "2026-11-26 14:03:39 UTC" for milliseconds since 1970.
std::string utc_time(std::int64_t ms);

}  // namespace zkadmin
