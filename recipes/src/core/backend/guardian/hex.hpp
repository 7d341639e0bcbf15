// Bytes and session ids as hexadecimal text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zkrecipes::backend {

/// Two lower-case digits for each byte.
std::string to_hex(std::string_view bytes);
/// Nothing unless the text is what `to_hex` writes.
std::optional<std::string> from_hex(std::string_view text);

/// 1 to 16 lower-case digits, without leading zeros.
std::string session_to_hex(std::int64_t id);
/// Nothing for 0 either, which is no session.
std::optional<std::int64_t> session_from_hex(std::string_view text);

}  // namespace zkrecipes::backend
