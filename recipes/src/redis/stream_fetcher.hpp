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

/// By a connection of its own, which is made when it is needed first: that of the reader waits in XREAD. On the strand.
class stream_fetcher {
 public:
  using entries = std::vector<std::optional<stream_entry>>;

  stream_fetcher(redis_frame_ptr frame, std::string stream);

  /// In the order of the ids; nothing for those that have gone. Waits for the broker. Errors: as those of
  /// `redis_connection::ready`, and `foreign_data`.
  awaitable<outcome<entries>> fetch(std::vector<stream_id> ids);
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
