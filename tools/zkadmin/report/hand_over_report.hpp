// A hand-over as it is followed: one line for each state that is seen, and how long each took at the end.
#pragma once

#include <chrono>
#include <string>

#include "cluster/hand_over_progress.hpp"

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

}  // namespace zkadmin
