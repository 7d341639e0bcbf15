// Tables as text, at the width at which nothing is cut.
#pragma once

#include <string>

#include "screen/table.hpp"

namespace zkadmin {

std::string printed(const table& content);

}  // namespace zkadmin
