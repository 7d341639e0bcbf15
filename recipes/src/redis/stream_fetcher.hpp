// Reads single entries of a stream again.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/redis_connection.hpp"
#include "redis/stream_replies.hpp"
#include "session/completion.hpp"

namespace zkrecipes::detail {

/// By a connection of its own, which is made when it is needed first: that of the reader waits in XREAD. So the broker
/// may be one whose stream the reader has not compared yet, and it is asked in the same round trip whether it is a
/// primary, and whether an entry that is missing was removed or lost. On the strand.
class stream_fetcher {
 public:
  using entries = std::vector<std::optional<stream_entry>>;
  struct finding {
    entries found{};     ///< In the order of the ids; nothing for those that are not in the stream.
    std::string loss{};  ///< Why the broker has lost one of them. Empty: they were removed, as far as it tells.
  };

  stream_fetcher(redis_frame_ptr frame, std::string stream);

  /// `farthest`: the last entry that was consumed or read; entries behind it count as removed. Waits for the broker.
  /// Errors: as those of `redis_connection::ready`, and `foreign_data`.
  awaitable<outcome<finding>> fetch(std::vector<stream_id> ids, stream_id farthest);
  redis_connection& connection() noexcept { return connection_; }
  void close() { connection_.close(); }

 private:
  struct batch;

  awaitable<outcome<bool>> ask(std::shared_ptr<batch> all);
  void take(batch& all, std::size_t which, const redisReply& reply) const;

  redis_frame_ptr frame_;
  std::string stream_;  // its key
  redis_connection connection_;
};

}  // namespace zkrecipes::detail
