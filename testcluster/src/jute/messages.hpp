#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace testcluster::jute {

/// Builds one frame: four bytes of length, then the fields in order, big-endian.
class writer {
 public:
  writer& int32(std::int32_t value);
  writer& int64(std::int64_t value);
  writer& boolean(bool value);
  writer& string(std::string_view value);
  std::string frame() const;

 private:
  std::string body_;
};

/// Reads the fields of one frame's body. Throws testcluster::error if the body ends too early.
class reader {
 public:
  explicit reader(std::string_view body) : rest_(body) {}
  std::int32_t int32();
  std::int64_t int64();
  std::string string();

 private:
  std::uint64_t big_endian(std::size_t bytes);
  std::string_view rest_;
};

// The part of ZooKeeper's wire format that this library uses: for its own probes, and for the proxies, which have to
// tell one request from another.

inline constexpr std::int32_t ephemeral = 1;
inline constexpr std::int32_t auth_xid = -4;
inline constexpr std::int32_t no_node = -101;
inline constexpr std::int32_t node_exists = -110;
inline constexpr std::int32_t not_empty = -111;

struct session {
  std::int64_t id = 0;
  std::string password = std::string(16, '\0');
  std::int32_t timeout_ms = 0;  // 0 in a reply: there is no such session
};

std::string connect_request(const session& wanted);
session connect_reply(std::string_view body);
/// Digest credentials "user:password". The reply has auth_xid.
std::string auth_request(std::string_view secret);
std::string create_request(std::int32_t xid, std::string_view path, std::string_view data, std::int32_t flags);
std::string exists_request(std::int32_t xid, std::string_view path);
std::string sync_request(std::int32_t xid, std::string_view path);
std::string children_request(std::int32_t xid, std::string_view path);
std::string delete_request(std::int32_t xid, std::string_view path);
std::string close_request(std::int32_t xid);

/// The field ephemeralOwner of the Stat that the reply to `exists` consists of. 0: no session owns the node.
std::int64_t owner_in(std::string_view exists_reply);

/// The names in the reply to `getChildren`.
std::vector<std::string> names_in(std::string_view children_reply);

/// The password that a server gives to a session, computed in the same way: java.util.Random seeded from the id.
std::string password_of(std::int64_t session_id);

}  // namespace testcluster::jute
