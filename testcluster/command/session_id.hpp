#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace testcluster::command {

/// The id of a session as text: hexadecimal after 0x, as ZooKeeper and zkadmin write it, else decimal. Nullopt for
/// anything else, 0 included, which is no session.
std::optional<std::int64_t> parse_session(const std::string& text);

/// How a session id is written, for error messages.
inline constexpr const char* session_syntax = "a session id: hexadecimal with 0x, as ZooKeeper writes it, or decimal";

}  // namespace testcluster::command
