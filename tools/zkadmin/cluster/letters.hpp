// The dead letters of a queue, or of a group of consumers of a topic or of a source outside: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/node.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

#include "cluster/tree_search.hpp"

namespace zkadmin {

struct letter_status {
  zkrecipes::dead_letter letter;
  std::int32_t version = 0;  ///< Version of the node of the letter, as is `czxid`.
  std::int64_t czxid = 0;
  bool is_parked = false;  ///< Its key is parked: it is put back with the others of its key only.
};

struct letter_list {
  std::string path;                      ///< That of the queue, the topic or the source.
  std::string group{};                   ///< The group of consumers; empty: it is a queue.
  std::uint32_t shards = 0;              ///< The number of those of the topic or the source.
  bool is_outside = false;               ///< The messages of the source are not in ZooKeeper.
  bool is_apart = false;                 ///< A priority queue: its letters are not below its path.
  std::uint64_t items = 0;               ///< Nodes below the path of a queue.
  std::string folder{};                  ///< Where the letters are.
  std::vector<letter_status> letters{};  ///< The oldest first.
  std::uint64_t not_read = 0;            ///< How many more are behind them.
  zkrecipes::acl access{};               ///< For the nodes of items that are put back. Empty: open to everybody.
  std::uint64_t foreign = 0;             ///< Nodes in the folder that are no letters, as far as they were read.
};

// Reads dead letters, which takes a ZooKeeper session.

/// What a letter takes: anybody who may write there may have put anything in its place, also a long reason.
std::uint64_t letter_bytes(const zkrecipes::dead_letter& letter) noexcept;

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
