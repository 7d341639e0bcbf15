// Reads the entries of a stream in order, from the position of a group on.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "delivery/read_ahead.hpp"
#include "redis/redis_connection.hpp"
#include "redis/stream_position.hpp"
#include "redis/stream_replies.hpp"
#include "redis/stream_trimmer.hpp"
#include "session/operation.hpp"
#include "source/log_source.hpp"

namespace zkrecipes::detail {

/// Reads single entries of a stream again.
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

/// One XREAD is under way, which waits in the broker if there is nothing to read. What it brings is kept until it is
/// received. With each new connection the stream is compared with what was consumed, and with each XREAD the broker is
/// asked whether it is still a primary: one that becomes a replica has the data of another broker from then on, and
/// keeps the connections. On the strand.
class stream_reader {
 public:
  /// `position`: of the group. If it is outdated, nothing is received until `open`.
  stream_reader(redis_frame_ptr frame, std::uint32_t shard, std::string group, position_node& position);

  /// Forgets everything and ends the connection. What was read is still compared with the stream.
  void open();
  /// As those of `message_source`.
  awaitable<outcome<std::vector<message>>> receive(std::size_t most);
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names);
  std::string problem_of(const std::string& name) const;

  stream_progress& progress() noexcept { return progress_; }
  /// The position has gone back to the end of the stream, and is not stored yet. Nothing is read before it is: new
  /// entries can have ids in front of the stored position, and the next consumer would pass over them.
  bool wants_write() const noexcept { return is_unwritten_; }
  /// The position was written.
  void on_settled();
  void forget_problem(const std::string& name) { problems_.erase(name); }

 private:
  struct look_at_stream;

  awaitable<error_code> read_position();
  awaitable<error_code> get_connection();
  awaitable<error_code> check_stream();
  void log_length(std::uint64_t length);
  error_code answer_loss(redis_connection& by, const std::string& loss);
  awaitable<error_code> await_more();
  awaitable<void> trim();
  void compare(const std::vector<stream_id>& consumed);
  bool is_checked() const noexcept { return connection_.is_up() && checked_ == connection_.number(); }
  void ask();
  void take_role(const redisReply* reply);
  void take(const redisReply* reply);
  message make_message(stream_entry entry);
  bool may_hand_out() const;
  bool is_trimming() const noexcept { return is_comparing_ || removable_.has_value(); }
  bool is_going_back() const noexcept { return end_of_rest_.has_value() || is_unwritten_; }
  bool goes_back();

  redis_frame_ptr frame_;
  std::string stream_;  // its key
  position_node& position_;
  condition changed_;
  stream_progress progress_;
  stream_id cursor_;                      // of the last entry that was read
  stream_id read_before_;                 // the same, before `open`; none: a loss was told since, or we were moved
  std::string seek_;                      // the last that an operator has asked for
  std::optional<stream_id> end_of_rest_;  // the stream has lost what was behind it: we go back there
  bool is_unwritten_ = false;             // see `wants_write`
  std::deque<message> ready_;
  read_ahead ahead_;                             // the bytes of these
  std::map<std::string, std::string> problems_;  // by the name of the message
  std::uint64_t checked_ = 0;                    // the number of the connection whose stream was compared
  bool is_asking_ = false;
  bool has_told_length_ = false;
  bool is_comparing_ = false;           // whether the last entries that the groups have consumed are in the stream
  std::optional<stream_id> removable_;  // all in front of it, if the groups have still consumed it
  lease_clock::time_point answer_by_{};
  std::optional<error_code> failure_;  // of the last XREAD
  std::string words_;                  // of the broker, on it
  stream_trimmer trimmer_;
  stream_fetcher fetcher_;
  redis_connection connection_;  // its handlers refer to the rest, so it is destroyed first
};

}  // namespace zkrecipes::detail
