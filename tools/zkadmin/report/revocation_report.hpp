// A revocation as it is followed: one line for each holder that is asked or has gone, and how it ended.
#pragma once

#include <string>

#include "cluster/revocation_progress.hpp"

namespace zkadmin {

/// "    +0 ms  asked         worker-1", or "gone" once it has.
std::string to_line(const holder_progress& holder);
/// {"event":"asked",...} or {"event":"gone",...}
std::string to_ndjson(const holder_progress& holder);

/// "worker-1 holds /db/lock no more, 312 ms after the request; worker-2 holds it", with a line end.
std::string result_line(const revocation_progress& progress);
/// {"event":"end",...}. `problem`: empty if all have gone, else why they are not followed any longer.
std::string to_ndjson(const revocation_progress& progress, const std::string& problem);

/// "worker-1 and 2 more still hold /db/lock".
std::string remainder_text(const revocation_progress& progress);

}  // namespace zkadmin
