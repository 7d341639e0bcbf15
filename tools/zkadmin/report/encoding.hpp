// Data of any bytes as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace zkadmin {

bool is_utf8(std::string_view data);

/// Whether a terminal can show it: UTF-8 without control characters other than tabs and line ends.
bool is_showable(std::string_view data);

/// As RFC 4648 defines it, in one line.
std::string base64(std::string_view data);

/// "00000000  68 65 6c 6c 6f ...  |hello|", 16 bytes a line, as `hexdump -C` prints it.
std::string hex_dump(std::string_view data);

/// "2026-01-31T12:00:00.123Z" of milliseconds since 1970.
std::string utc_timestamp(std::int64_t ms);

}  // namespace zkadmin
