// The summary, for people and for programs.
#pragma once

#include <string>

#include "summary.hpp"

namespace demo {

std::string to_json(const summary& outcome);
std::string to_text(const summary& outcome);

}  // namespace demo
