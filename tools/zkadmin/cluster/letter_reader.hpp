// Reads dead letters, which takes a ZooKeeper session.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/letter_status.hpp"
#include "cluster/tree_search.hpp"

namespace zkadmin {

inline constexpr std::uint64_t most_letters = 1000;
inline constexpr std::uint64_t most_letter_bytes = 32 * 1024 * 1024;

/// The letters to read: those of the queue at `path`, or of a group of the topic, or of the source outside, there.
struct letter_source {
  std::string path;
  std::string group{};
  std::string only{};  ///< The name of one letter; empty: the oldest ones.
};

/// The oldest 1 000 letters, or fewer if they have more than 32 MiB, or if the deadline comes first. Throws `failure`:
/// if there is no queue or topic, or not the letter that is asked for.
boost::asio::awaitable<letter_list> read_dead_letters(zkrecipes::session session, letter_source from, deadline until);

}  // namespace zkadmin
