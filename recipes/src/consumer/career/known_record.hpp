// The term record of an election as it was last read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "election/term_record.hpp"
#include "session/core.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

/// The record as it was last read, perhaps a while ago.
struct known_record {
  term_record record;
  std::int32_t version = 0;
  std::int64_t mzxid = 0;
  std::int64_t mtime = 0;  ///< 0: the record is known to have been written since.
};

/// Nothing if the node's data is not a term record.
std::optional<known_record> to_known(const backend::reply& node);

/// Reads the record, and sets a watch on it. Errors besides the server's: `foreign_data`; `connection_loss` after a
/// session timeout without a connection.
awaitable<outcome<known_record>> read_record(core_ptr session, std::string path, incarnation_ptr bound);

}  // namespace zkrecipes::detail
