// Putting into a topic exactly once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic_types.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class topic_producer_state;
}

class topic;

/// Settings of a `topic_producer`.
struct topic_producer_options {
  /// Most messages that travel together in one transaction, 1 to 10 000.
  std::size_t max_batch = 4'000;
  /// Most bytes that travel together, keys and nodes' names included, or one message. 1 KiB to 512 KiB.
  std::size_t max_bytes = 512 * 1024;
  /// For how long the first message of a transaction waits for others, counted from its put. A full transaction is sent
  /// at once. If the session is closed while messages wait, their puts end with `closed`, and nothing is put. 0 to 60
  /// s.
  std::chrono::milliseconds linger{0};
};

/// Puts into a topic exactly once, whatever happens to replies, connections and sessions: a node
/// `_producers/<name>` of the topic holds the number of the last message put, and changes in the same transaction.
/// Messages that are put while a transaction is in flight travel in the next one, over all shards that they belong to;
/// those of one shard are packed into one node. So many messages cost few requests. Full transactions, up to 32 and
/// some 4 MiB, are sent without waiting for those before. Use one producer object per name at a time. Thread safety:
/// safe.
class topic_producer {
 public:
  using executor_type = boost::asio::any_io_executor;

  topic_producer() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// `name`: 1 to 256 bytes, no slash, no character that ZooKeeper refuses in paths, and neither "." nor "..";
  /// the same name continues the numbering after a restart.
  /// \throws std::invalid_argument naming the bad name or option.
  topic_producer(const topic& into, std::string name, topic_producer_options options);
  topic_producer(const topic& into, std::string name)
      : topic_producer(into, std::move(name), topic_producer_options()) {}

  /// Appends one message to the shard of its key, and completes with its number when it is in the topic. After
  /// `connection_loss` the message may have been put, or be put yet: `async_last` tells. The key has at most 1 000
  /// bytes, key and data together at most 1 000 000 (50 000 less if the topic has a path of more than 1 000 bytes).
  /// Messages put in order arrive in order within a shard. A topic that was removed meanwhile is made again, and the
  /// numbers begin anew.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `too_large` (nothing was sent), `size_mismatch` (the topic has another number of shards), `foreign_data`
  /// (another recipe uses the path, or the node of the producer is not ours), `superseded` (another producer of this
  /// name put something in between, or an earlier put of ours that had failed was done late), `outcome_unknown` (the
  /// same, or a refusal, after a lost reply: it may be in the topic), `full`
  /// (the shard has 40 000 batches: nothing removes them), `sequence_exhausted` (all numbers for batches of the shard
  /// but the last million are used up; nothing was put), `no_auth`, and those of `session`.
  /// Cancellation: all types; it ends the wait, and the message is put all the same, unless there is no connection for
  /// `retry_policy::limit`: then it is forgotten.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request for each transaction (up to `topic_producer_options::max_batch` messages), and
  /// before it the wait of up to `linger`; the first put 1 more to read the node (5 if the topic is new), the first of
  /// each shard 2 more if its folder is missing.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put(std::string key, std::string data, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put, state_, std::move(key),
                                                             std::move(data));
  }

  /// Appends many messages, each to the shard of its key, and completes when all of them are in the topic: for more
  /// messages a second than `async_put` takes, because a message costs no completion of its own. They travel in as many
  /// transactions as they need, in order; each is all or nothing, the whole is not. Their numbers are consecutive,
  /// unless the topic is removed meanwhile. The first message that can not be put ends the call: none behind it is put.
  /// The result is how many are known to be in the topic, from the first on. No messages: it completes at once with 0.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: those of `async_put`; `too_large` if one of the messages is (nothing was sent). With `outcome_unknown`, or
  /// an error of the session, messages behind those of the result may be in the topic, too, as far as the transactions
  /// under way hold.
  /// Cancellation: all types; it ends the wait, and the messages are put all the same, as `async_put` says.
  /// Thread safety: as the class says.
  /// Cost: as `async_put`; 1 request for each full transaction, and 1 round trip for up to 32 of them.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_put_all(std::vector<topic_message> messages, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_put_all, state_, std::move(messages));
  }

  /// Reads the number of the last message of this name in the topic, 0 if there is none: it tells where to go on after
  /// a restart. Creates the topic and the node of the producer if they are missing.
  ///
  /// Signature: `void(error_code, std::uint64_t)`.
  /// Errors: `foreign_data`, `no_auth`, and those of `session`; `size_mismatch` if the node was missing.
  /// Cancellation: all types; the nodes may have been created.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 2 requests; 5 round trips if the topic is new.
  template <token_for<std::uint64_t> Token = default_token>
  auto async_last(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::uint64_t)>(token, &start_last, state_);
  }

  const std::string& path() const noexcept;  ///< That of the topic.
  const session& get_session() const noexcept { return session_; }
  const topic_producer_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

 private:
  using state_ptr = std::shared_ptr<detail::topic_producer_state>;
  static void start_put(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr, std::string, std::string);
  static void start_put_all(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr,
                            std::vector<topic_message>);
  static void start_last(detail::handler_for<void(error_code, std::uint64_t)>, state_ptr);

  session session_;
  state_ptr state_;
};

}  // namespace zkrecipes
