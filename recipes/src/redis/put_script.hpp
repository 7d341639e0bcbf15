// The scripts of a producer: what the broker is asked, and what it answers. They do no I/O.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "redis/redis_frame.hpp"

struct redisReply;

namespace zkrecipes::detail {

/// A message, and the stream that it goes into.
struct stream_put {
  std::string stream;
  std::string key;
  std::string data;
};

/// The answer of either script.
struct put_answer {
  std::uint64_t last = 0;  ///< The number of the last message of this producer.
  bool is_ours = false;    ///< Nobody else has taken the name over.
  std::string problem{};   ///< The broker's words about the message behind the last one.
};

/// Takes the producer's name over: `by` tells this object from all others.
std::vector<std::string> claim_command(const std::string& producer, const std::string& by);
/// Puts all if the last message has this number, and the name is ours; nothing otherwise. Puts none behind one that the
/// broker refuses.
std::vector<std::string> put_command(const redis_options& options, const std::string& producer, const std::string& by,
                                     std::uint64_t last, const std::vector<stream_put>& all);
/// Nothing if the reply is not of the form of our scripts.
std::optional<put_answer> parse_put_answer(const redisReply& reply);

}  // namespace zkrecipes::detail
