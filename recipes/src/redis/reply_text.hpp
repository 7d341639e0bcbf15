#pragma once

#include <string_view>

#include <hiredis/hiredis.h>

namespace zkrecipes::detail {

/// The text of a string, a status or an error. It is valid as long as the reply.
inline std::string_view text_in(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace zkrecipes::detail
