// The dead letters of a queue, or of a group of consumers of a topic or of a source outside: plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/node.hpp>
#include <zkrecipes/queue_base.hpp>

namespace zkadmin {

struct letter_status {
  zkrecipes::dead_letter letter;
  std::int32_t version = 0;  ///< That of its node, as the next.
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
  std::uint64_t not_read = 0;            ///< So many more are behind them.
  zkrecipes::acl access{};               ///< For the nodes of items that are put back. Empty: open to everybody.
  std::uint64_t foreign = 0;             ///< Nodes in the folder that are no letters, as far as they were read.
};

}  // namespace zkadmin
