#pragma once

#include <string>
#include <string_view>

namespace testcluster::command {

/// The text with \xNN in place of each byte of a control character, in ASCII or in UTF-8, so that it can not give
/// orders to a terminal, and a mistake in a file can be seen.
std::string printable(std::string_view text);
/// The same for a line of a log, whose tabs stay.
std::string printable_log_line(std::string_view text);

}  // namespace testcluster::command
