// What goes through a queue, and how a queue is set up.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <zkrecipes/error.hpp>
#include <zkrecipes/node.hpp>

namespace zkrecipes {

/// An item that was handed out.
struct message {
  std::string name;  ///< Of its node: unique in the queue, growing in order of arrival.
  std::string data;
  zkrecipes::stat stat;
  /// How often it has been handed out, this time included, also to those who died of it. Claims that were taken back before
  /// anybody was told of it do not count. Kept by the server. Of `async_next`: how often before.
  std::int32_t attempts = 0;
};

/// Where an item goes that is given back.
enum class return_to {
  place,  ///< Where it was: it is the next to be taken.
  end,    ///< Behind all others (of its priority): it does not keep them waiting. It gets a new name.
};

struct queue_options {
  /// Most items, 1 or more; 0: no limit. It is exact if every producer of the queue states it (those of other libraries
  /// know of none). Putting costs no additional round trip while nobody else puts.
  std::size_t limit = 0;
  /// An item that has been handed out so often and was not acknowledged is not handed out again: it becomes a dead
  /// letter. 0 to 100; 0: no limit.
  std::int32_t most_attempts = 0;
  /// A server sends the names of all items at once. Where these are more bytes, clients of Java (1 048 575 by default,
  /// their `jute.maxbuffer`) can not read the queue any more: a put fails with `full` before it comes to that. Looked at
  /// from time to time: exact but for what is put between two looks. 0: not looked at.
  std::size_t most_list_bytes = 1'000'000;
  /// Told once per object and item that can not be handed out (its rights, or nodes below it, forbid it): it stays where
  /// it is, and the others go ahead. A hook: see docs/operations.md.
  std::function<void(error_code why, const std::string& name)> on_trouble{};
};

/// An item that nobody is to be bothered with any more.
struct dead_letter {
  std::string name;    ///< Of its node among the dead letters.
  std::string item;    ///< The name that it had in the queue.
  std::string data;
  std::string reason;  ///< At most 1 000 bytes.
  std::int32_t attempts = 0;
  std::int64_t since = 0;  ///< Milliseconds since 1970, by the server's clock.
};

struct queue_status {
  std::size_t items = 0;     ///< Claimed ones included.
  std::size_t claimed = 0;
  std::size_t dead = 0;      ///< Dead letters.
  std::size_t foreign = 0;   ///< Nodes under the path that nobody here knows: not handed out, and not touched.
  std::size_t list_bytes = 0;  ///< See `queue_options::most_list_bytes`.
  /// For how long the first item has been there (since it was given back, if that was to the end), by the clock of the
  /// ensemble's leader at both ends.
  std::chrono::milliseconds oldest{0};
};

}  // namespace zkrecipes
