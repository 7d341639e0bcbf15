// Lines of fields for scripts.
#pragma once

#include <initializer_list>
#include <string>

namespace zkadmin {

/// One line. Tabs, line ends and backslashes in a field are escaped as \t, \n, \r and \\, other control characters as
/// \x1b.
std::string tsv_line(std::initializer_list<std::string> fields);

}  // namespace zkadmin
