// A hand-over as it is followed: one line for each state that is seen, and how long each took at the end.
#pragma once

#include <chrono>
#include <string>

#include "change/resignation.hpp"
#include "change/waiting_line.hpp"

namespace zkadmin {

/// "  +12 ms  finishing     a -> b".
std::string to_line(const hand_over_step& step);
/// {"event":"state",...}
std::string to_ndjson(const hand_over_step& step);

/// A table with all states, and a line that says how it ended. `ending`: empty if the successor executes, else why it
/// is not followed any longer.
std::string to_text(const hand_over_progress& progress, const std::string& ending);
/// {"event":"end",...}
std::string to_ndjson(const hand_over_progress& progress, const std::string& ending);

/// "b executes term 8 of /e, 1.2 s after the request (clean)".
std::string result_line(const hand_over_progress& progress, const std::string& path);

// A revocation as it is followed: one line for each holder that is asked or has gone, and how it ended.

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
