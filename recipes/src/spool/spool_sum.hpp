// The checksums in the file of a spooled producer.
#pragma once

struct sqlite3;

namespace zkrecipes::detail {

/// Gives SQL the function `spool_sum`: the CRC-32 (that of zlib) of its arguments in turn, of a number "n" and its
/// eight bytes from the highest on, of a text or blob "b", the number of its bytes in the same way, and the bytes.
/// SQLite has none for what it stores, and a message with another bit would be put as it is. \throws int, the result of
/// SQLite
void add_spool_sum(sqlite3* to);

}  // namespace zkrecipes::detail
