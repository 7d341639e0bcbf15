// Putting into Redis streams exactly once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic_types.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

namespace zkrecipes {

namespace detail {
class redis_producer_state;
}

/// Puts messages into Redis streams exactly once, each into the stream of the shard of its key: the key
/// `<stream>:producer:<name>` in the broker holds the number of the last message put, and one script puts messages and
/// changes it. So a put whose reply was lost is repeated without harm. Messages that are put while a script is under
/// way travel in the next one, up to 1 000 or 1 MiB of them. The object that has begun last has the name; it begins
/// with its first operation. Use one object for a name at a time. It keeps its connection to the broker until it is
/// destroyed or its session is closed. Needs the component `redis`. Thread safety: safe.
class redis_producer {
 public:
  using executor_type = session::executor_type;

  redis_producer() = default;  ///< Stands for nothing: operations complete with `closed`.
  /// `name`: 1 to 256 bytes, no slash, no control characters; the same name continues the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name, or if `into` was made by default.
  redis_producer(const redis_streams& into, std::string name);

  /// Appends one message to the stream of the shard of its key, and completes with its number when the broker has
  /// acknowledged it, however long the broker is away. Key and data together have at most 64 MiB. Messages put in order
  /// arrive in order within a stream. How much of what was acknowledged a crash of the broker leaves is decided by its
  /// persistence: docs/recipes/redis.md.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `too_large` (nothing was sent), `superseded` (another object of this name has begun since, or a try of
  /// this one to begin has come late; it was not put), `outcome_unknown` (the same, or a refusal, after a lost reply:
  /// it may have been put; `async_last` tells), `foreign_data` (the key of the stream or of the producer holds
  /// something else, or the path belongs to another recipe), `size_mismatch` (the path is used with another number of
  /// shards), `no_auth`, `redis_errc` (`unavailable` is waited out; `source_regressed`: the broker has lost messages of
  /// this producer that it had acknowledged, or its key, and `redis_options::regress` is `stop_the_run`), and those of
  /// `session`.
  /// Cancellation: all types; it ends the wait, and the message is put all the same.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip to the broker, 1 script for each batch; the first put, and the first after an error, 1 more,
  /// and 1 round trip to ZooKeeper (2 to 4 if the path is new). Each new connection 1 more.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(key),
                                                             std::move(data));
  }

  /// Appends many messages, in order, and completes when all of them are acknowledged: for more messages a second than
  /// `async_put` takes. The first that can not be put ends the call: none behind it is put. The result is how many were
  /// put, from the first on. No messages: it completes at once with 0.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `async_put`; `too_large` if one of the messages is (nothing was sent). With `outcome_unknown`, or
  /// an error of the session, messages behind those of the result may have been put, too.
  /// Cancellation: all types; it ends the wait, and the messages are put all the same.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put_all(std::vector<topic_message> messages, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put_all, state_, std::move(messages));
  }

  /// Reads the number of the last message of this name in the broker, 0 if there is none: it tells where to go on after
  /// a restart, and after an error. Like a put it takes the name over from other objects. It waits for the puts that
  /// were called before it. If it finds that another object has put messages, or that the broker has lost some, the
  /// puts that were called meanwhile end with `superseded` or `source_regressed`, as `async_put` says.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `async_put` but for `too_large`, `superseded`, `outcome_unknown` and `source_regressed`.
  /// Cancellation: all types; it ends the wait, and the name is taken over all the same.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip to the broker; for the first operation of an object, and the first after an error, that to
  /// ZooKeeper besides. Each new connection 1 more.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_last(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_last, state_);
  }

  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::redis_producer_state>;
  using handler = detail::handler_for<void(error_code, std::uint64_t)>;
  static void start_put(handler, state_ptr, std::string, std::string);
  static void start_put_all(handler, state_ptr, std::vector<topic_message>);
  static void start_last(handler, state_ptr);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
