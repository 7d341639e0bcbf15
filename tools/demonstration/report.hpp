// The summary, for people and for programs.
#pragma once

#include <string>

#include "balance_summary.hpp"
#include "summary.hpp"

namespace demo {

std::string to_json(const summary& outcome);
std::string to_text(const summary& outcome);
std::string to_json(const shard_summary& outcome);
std::string to_text(const shard_summary& outcome);
std::string to_json(const balance_summary& outcome);
std::string to_text(const balance_summary& outcome);

}  // namespace demo
