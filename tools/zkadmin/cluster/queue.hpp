// The state of a queue at one moment: plain data.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include <zkrecipes/session.hpp>

#include "cluster/status.hpp"

namespace zkadmin {

/// The names of items: `qn-N`, `entry-PPP-N`, `at-TIME-N`; and `queue-N`, as Curator's DistributedQueue writes it.
bool is_item_name(std::string_view name) noexcept;

struct queue_status {
  std::string path;
  std::uint64_t items = 0;  ///< Claimed ones included.
  std::uint64_t claimed = 0;
  std::uint64_t takers = 0;        ///< Takers that wait for an item.
  std::uint64_t dead_letters = 0;  ///< Not handed out any more.
  /// How long the first item has been there or, in a delay queue, has been due; by this machine's clock against the
  /// server's. Negative: it is not due yet.
  std::chrono::milliseconds oldest{0};
  std::string order{};                     ///< By the names of the items: "FIFO", "priority", "delay", "mixed".
  std::vector<std::string> claim_paths{};  ///< The nodes of some of the claims, by number of the item.
  std::string letter_folder{};             ///< Where its dead letters are, if there are any.
  /// For how long the first taker has waited, if items wait and none is claimed; nothing if it is not so.
  std::optional<std::chrono::milliseconds> taker_waits{};
  std::uint64_t parked_keys = 0;  ///< Keys whose messages become dead letters until an operator revives them.
  std::string parked_key{};       ///< One of them; empty: there is none, or it may not be read.
  std::optional<std::chrono::milliseconds> parked_for{};  ///< For how long that one has been.
  bool is_strange = false;                                ///< Other nodes are at its path, and nothing of a queue.
  friend bool operator==(const queue_status&, const queue_status&) = default;
};

/// The age to be shown of the first item: 0 while it is not due, or if there is none.
inline std::chrono::milliseconds age_of_first(const queue_status& queue) noexcept {
  return std::max(queue.oldest, std::chrono::milliseconds(0));
}

/// What the names below a queue's path tell.
struct queue_names {
  std::uint64_t items = 0;
  std::uint64_t claimed = 0;
  std::int64_t last = -1;             ///< The highest number of an item.
  std::string oldest{};               ///< The name of the item that was put first or, in a delay queue, is due first.
  std::string order{};                ///< The order of all items, as in `queue_status`.
  std::vector<std::string> claims{};  ///< Names of the first claims, at most 1 000.
  std::optional<std::chrono::milliseconds> due{};  ///< When that item of a delay queue is due, since 1970.
};

/// Other names than those of items and claims are ignored.
queue_names read_names(const std::vector<std::string>& names);

/// Whether these children are no queue although they bear names of items, as effects do that are named after their
/// messages: nothing else of a queue is there, and a number is above those that this folder has given. It has given
/// one to each of the `created` children that it ever had.
bool are_borrowed(const std::vector<std::string>& names, std::uint32_t created);

using queue_survey = survey<queue_status>;

// Reads a queue, which takes a ZooKeeper session.

/// The present state of the queue at `path`. It writes nothing. Errors: `no_node`, `no_auth`. Throws `failure` for
/// others.
boost::asio::awaitable<reading<queue_status>> read_queue(zkrecipes::session session, std::string path);

}  // namespace zkadmin
