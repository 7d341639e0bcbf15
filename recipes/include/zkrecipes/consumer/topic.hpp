// A partitioned log kept in ZooKeeper.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/message_feed.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/consumer/topic_types.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

/// How long the batches of a topic are kept. A batch that all of `groups` have consumed is removed; with `age` or
/// `bytes` not before it is older than that, or its shard holds more than that. So nothing is removed that a named
/// group has still to consume. Without `groups`, `age` and `bytes` remove batches whether they were consumed or not.
/// Without any of the three, what all groups that have begun have consumed is removed while its shard holds more than
/// 10 000 batches; a group that comes later does not get it. All consumers of a topic should state the same.
struct topic_retention {
  /// Names of groups: see `topic::feed`.
  std::vector<std::string> groups{};
  /// By the clocks of the servers and of the consumers' machines. 1 s or more.
  std::optional<std::chrono::milliseconds> age{};
  /// The data of a shard. 1 or more.
  std::optional<std::uint64_t> bytes{};
};

/// Settings of a `topic`.
struct topic_options {
  /// Written into the topic by the first that uses it, and the same for all from then on. 1 to 10 000.
  std::uint32_t shards = 256;
  topic_retention retention{};
};

/// A place in a shard of a topic, where a group is to go on.
class topic_position {
 public:
  /// In front of all that is kept.
  static topic_position begin() noexcept { return {kind::begin, 0, 0}; }
  /// Behind all that is there.
  static topic_position end() noexcept { return {kind::end, 0, 0}; }
  /// In front of a message: that with the name "<batch>.<index>" (`message::name`). If it is not kept any more, in
  /// front of what comes behind it.
  static topic_position at(std::int32_t batch, std::uint32_t index = 0) noexcept { return {kind::at, batch, index}; }

  enum class kind { begin, end, at };
  kind what() const noexcept { return what_; }
  std::int32_t batch() const noexcept { return batch_; }
  std::uint32_t index() const noexcept { return index_; }

 private:
  topic_position(kind what, std::int32_t batch, std::uint32_t index) noexcept
      : what_(what), batch_(batch), index_(index) {}

  kind what_;
  std::int32_t batch_;
  std::uint32_t index_;
};

namespace detail {
class topic_core;
}

/// Messages with a key, in shards. A message is put at the end of the shard of its key (`topic_producer`), and consumed
/// in order, shard by shard, by a `queue_consumer` that is made of a `feed`. Consumers of different groups each get all
/// messages; a group's position in a shard is kept in ZooKeeper, and moves in the same transaction as the effects.
/// Messages stay for as long as `topic_options::retention` says. docs/recipes/topic.md has an example, costs and
/// limits. Thread safety: safe.
class topic {
 public:
  using executor_type = boost::asio::any_io_executor;

  topic() = default;  ///< Stands for nothing, like one that was moved from: operations complete with `closed`.
  /// The number of shards is compared with that of the topic at `path` when it is used first: `size_mismatch`.
  /// \throws std::invalid_argument naming the bad path or option.
  topic(session over, std::string path, topic_options options);
  topic(session over, std::string path) : topic(std::move(over), std::move(path), topic_options()) {}

  std::uint32_t shard_of(std::string_view key) const noexcept { return zkrecipes::shard_of(key, options().shards); }

  /// The messages of one shard, for a `queue_consumer` of this group: one process at a time should consume a shard for
  /// a group, under an election or a shard group. The first use of a name makes the group: it begins with the first
  /// message that is there.
  /// \throws std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without
  /// slash and what ZooKeeper refuses in paths, or if the topic was made by default.
  message_feed feed(std::uint32_t shard, std::string group) const;

  /// Lets a group go on at another place of a shard: replay, or skip. Messages are processed again, or not at all, as
  /// the place says; their effects, too. A consumer that is at work notices before its next commit: nothing of what it
  /// has in hand is committed, and it goes on at the new place. A replay finds what is still kept. With
  /// `queue_consumer_options::repeats` numbers that are in the group's marks are acknowledged unprocessed: for a replay
  /// of all, stop the consumer and remove the marks first.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `bad_arguments` (no such shard, no name of a group, or a batch with a number below 0), `size_mismatch`,
  /// `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types; the position may have been written.
  /// Thread safety: as the class says.
  /// Cost: 2 round trips, 2 requests; for `topic_position::end` 1 more with the list of the shard, for a new group 2
  /// more; after a lost reply 1 look more, which tells whether the position was written.
  template <token_for<> Token = default_token>
  auto async_seek(std::uint32_t shard, std::string group, topic_position where, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_seek, core_, shard, std::move(group), where);
  }

  /// Reads what a group has still to consume, for each shard, as our server shows it. A group without a position has to
  /// consume everything.
  ///
  /// Signature: `void(error_code, std::vector<topic_lag>)`.
  /// Errors: `no_node` (there is no topic yet), `bad_arguments` (no name of a group), `size_mismatch`, `foreign_data`,
  /// `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 2 for each hundred shards; 1 request, and 3 for each shard, one of whose replies has the
  /// names of all batches.
  template <token_for<std::vector<topic_lag>> Token = default_token>
  auto async_lag(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<topic_lag>)>(token, &start_lag, core_, std::move(group));
  }

  /// Reads what is kept of each shard, as our server shows it.
  ///
  /// Signature: `void(error_code, std::vector<topic_shard>)`.
  /// Errors: `no_node` (there is no topic yet), `size_mismatch`, `foreign_data`, `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred shards; 1 request, and 2 for each shard.
  template <token_for<std::vector<topic_shard>> Token = default_token>
  auto async_shards(Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<topic_shard>)>(token, &start_shards, core_);
  }

  /// Reads the dead letters of a group, oldest first. `dead_letter::item` is the shard, a slash, and the message's
  /// name. With an error the letters are those that were read before it.
  ///
  /// Signature: `void(error_code, std::vector<dead_letter>)`.
  /// Errors: `bad_arguments` (no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, and 1 for each hundred letters; 1 request, and 1 for each letter.
  template <token_for<std::vector<dead_letter>> Token = default_token>
  auto async_dead_letters(std::string group, Token&& token = Token()) {
    return detail::initiate<void(error_code, std::vector<dead_letter>)>(token, &start_dead_letters, core_,
                                                                        std::move(group));
  }

  /// Puts a dead letter back at the end of its shard, as a new message with its key and data. All groups get it, those
  /// that had processed it, too.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node` (the letter is not there any more, or its shard is not), `outcome_unknown` (a reply was lost,
  /// and the letter has gone: by us, or by another client that revived or discarded it in that moment), `bad_arguments`
  /// (`which` is no letter of this topic, or no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been put back.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request; after a lost reply 1 more.
  template <token_for<> Token = default_token>
  auto async_revive(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_revive, core_, std::move(group), std::move(which));
  }

  /// Removes a dead letter for good.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `outcome_unknown` (as `async_revive`), `bad_arguments` (a name with a slash, or no name of a
  /// group), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been removed.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<> Token = default_token>
  auto async_discard(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_discard, core_, std::move(group), std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  const topic_options& options() const noexcept;
  executor_type get_executor() const noexcept { return session_.get_executor(); }

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::topic_core>;
  const core_ptr& get_topic() const noexcept { return core_; }

 private:
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;
  static void start_seek(handler<>, core_ptr, std::uint32_t, std::string, topic_position);
  static void start_lag(handler<std::vector<topic_lag>>, core_ptr, std::string);
  static void start_shards(handler<std::vector<topic_shard>>, core_ptr);
  static void start_dead_letters(handler<std::vector<dead_letter>>, core_ptr, std::string);
  static void start_revive(handler<>, core_ptr, std::string, dead_letter);
  static void start_discard(handler<>, core_ptr, std::string, dead_letter);

  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
