// The four-letter word `srvr`, as ZooKeeper 3.5 to 3.9 answers it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cluster/status.hpp"

namespace zkadmin {

/// A server's answer is a few hundred bytes; more than this is not read.
inline constexpr std::size_t longest_answer = 16 * 1024;

/// Reads what it can from any answer: never fails, whatever the text.
server_status parse_srvr(std::string server, std::string_view answer);

}  // namespace zkadmin
