// What the command `queue` is asked for.
#pragma once

#include <optional>
#include <string>

namespace zkadmin {

struct queue_request {
  std::string path;   ///< That of the queue, of a topic, or of streams.
  std::string group;  ///< The group of a topic or of streams; empty: it is a queue.
  /// The name of a letter's node; empty: all.
  std::string letter;
  bool all = false;
  std::string key;                   ///< A parked key, or the name of its mark.
  std::optional<std::string> yes{};  ///< The path once more, in place of the question.
  bool read_write = false;
};

}  // namespace zkadmin
