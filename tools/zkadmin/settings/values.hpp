// Convert the text of a setting to its value. All throw std::invalid_argument, which says what is expected.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/settings.hpp"

namespace zkadmin {

/// "500ms", "2s", "1.5s", "1m", "1h"; from 100 ms to 1 h.
std::chrono::milliseconds parse_duration(std::string_view text);

/// The same, up to 1 000 h: how old something may become.
std::chrono::milliseconds parse_age(std::string_view text);

/// A whole number from 0 to 1 000 000 000 000.
std::int64_t parse_count(std::string_view text);

/// A port, or 0.
std::uint16_t parse_admin_port(std::string_view text);

/// "host:port" with an address of this machine; the port may be 0, which stands for any that is free.
endpoint parse_listen(std::string_view text);

bool parse_flag(std::string_view text);

/// "host:port[,host:port...][/root]"; the root is checked, but not returned.
std::vector<endpoint> parse_hosts(std::string_view text);

/// An absolute path without empty, "." and ".." parts; a slash at the end is dropped.
std::string parse_path(std::string_view text);

/// Absolute paths with commas between them.
std::vector<std::string> parse_paths(std::string_view text);

/// "KIND:PATH" with commas between them, such as "semaphore:/db/permits,lock:/db/lock"; or each in a line.
std::vector<declared_recipe> parse_recipes(std::string_view text);

/// The kind of a recipe, such as "read_write_lock".
recipe parse_kind(std::string_view text);

/// The path that a command is given. Unlike the others it throws `failure` (usage).
std::string parse_path_argument(const std::string& text);

/// The kind that a command is given by --kind. Unlike the others it throws `failure` (usage).
recipe parse_kind_argument(const std::string& text);

/// One line "user:password", with a line end or without; nothing for another text. The user may be empty.
std::optional<digest_credentials> find_credentials(std::string_view text);

/// "user:password". The password may hold colons; a line end behind it is dropped.
digest_credentials parse_digest(std::string_view text);

// Files that hold a secret.

/// Throws std::invalid_argument if everybody may read or change the file. `what` names its content: "the key". A file
/// that is not there is no matter of this function.
void require_private(const std::string& path, const std::string& what);

/// The content of a file with credentials. `form`: what it has to contain, "one line, user:password". Throws
/// std::invalid_argument: as `require_private`, if it can not be read, or if it has more than 4 096 bytes.
std::string read_private_file(const std::string& path, const std::string& form);

}  // namespace zkadmin
