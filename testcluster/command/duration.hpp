#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace testcluster::command {

/// "500ms", "2s", "3m" or "1h": a whole number and its unit, without a blank. Nullopt for anything else.
std::optional<std::chrono::milliseconds> parse_duration(const std::string& text);

/// "500ms" or, where nothing is lost, "2s".
std::string to_text(std::chrono::milliseconds duration);

}  // namespace testcluster::command
