// hiredis' parser of replies, with a bound for what a reply announces.
#pragma once

#include <cstddef>
#include <memory>

struct redisReader;

namespace zkrecipes::detail {

using reply_reader = std::unique_ptr<redisReader, void (*)(redisReader*)>;

/// hiredis 0.14 allocates an array as soon as its length is announced, so a few bytes could ask for any amount of
/// memory. A longer array is refused as if there were no memory for it.
inline constexpr std::size_t longest_reply_array = 1'000'000;

/// \throws std::bad_alloc
reply_reader make_reply_reader();

}  // namespace zkrecipes::detail
