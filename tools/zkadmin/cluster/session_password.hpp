// The password of a session, without which no server ends it.
#pragma once

#include <cstdint>
#include <string>

namespace zkadmin {

/// The 16 bytes that every ZooKeeper server computes from the id of a session: those of java.util.Random, whose seed is
/// the id with a constant of ZooKeeper's source (SessionTracker has no other secret). So it proves nothing about the
/// one who knows it.
std::string password_of(std::int64_t session);

/// "0x1f", or the digits alone; up to 16 of them. Throws `failure` (usage).
std::int64_t parse_session(const std::string& text);

}  // namespace zkadmin
