// The numbers of the requests.
#pragma once

#include <cstdint>

namespace zkrecipes::test {

inline constexpr std::int32_t op_exists = 3;
inline constexpr std::int32_t op_get = 4;
inline constexpr std::int32_t op_set = 5;
inline constexpr std::int32_t op_get_acl = 6;
inline constexpr std::int32_t op_sync = 9;
inline constexpr std::int32_t op_ping = 11;
inline constexpr std::int32_t op_children = 12;
inline constexpr std::int32_t op_multi = 14;
inline constexpr std::int32_t op_create = 15;
inline constexpr std::int32_t op_authenticate = 100;
inline constexpr std::int32_t op_close = -11;

}  // namespace zkrecipes::test
