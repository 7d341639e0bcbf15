#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// The codes of the requests in ZooKeeper's protocol.
namespace testcluster::op {

inline constexpr std::int32_t create = 1;
inline constexpr std::int32_t remove = 2;
inline constexpr std::int32_t exists = 3;
inline constexpr std::int32_t get_data = 4;
inline constexpr std::int32_t set_data = 5;
inline constexpr std::int32_t get_acl = 6;
inline constexpr std::int32_t set_acl = 7;
inline constexpr std::int32_t get_children = 8;
inline constexpr std::int32_t sync = 9;
inline constexpr std::int32_t ping = 11;
inline constexpr std::int32_t get_children2 = 12;
inline constexpr std::int32_t check = 13;
inline constexpr std::int32_t multi = 14;
inline constexpr std::int32_t create2 = 15;
inline constexpr std::int32_t check_watches = 17;
inline constexpr std::int32_t remove_watches = 18;
inline constexpr std::int32_t create_container = 19;
inline constexpr std::int32_t create_ttl = 21;
inline constexpr std::int32_t auth = 100;
inline constexpr std::int32_t set_watches = 101;
inline constexpr std::int32_t create_session = -10;  // the first frame of a connection; this frame carries no code
inline constexpr std::int32_t close_session = -11;

/// The code of the request with one of the names above. For any other name it throws std::invalid_argument, which lists
/// the names.
std::int32_t code_of(std::string_view name);

/// The name of a request, or its code as text if it has no name.
std::string name_of(std::int32_t code);

}  // namespace testcluster::op
