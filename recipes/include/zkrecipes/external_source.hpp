// A source of the user's for consumers: a log with positions, or a queue with acknowledgements.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <zkrecipes/external_log.hpp>
#include <zkrecipes/external_options.hpp>
#include <zkrecipes/external_queue.hpp>
#include <zkrecipes/message_feed.hpp>
#include <zkrecipes/queue_types.hpp>
#include <zkrecipes/session.hpp>

namespace zkrecipes {

namespace detail {
class external_core;
}

/// Messages that are kept elsewhere, and that the user's code reads, consumed under the fence of a leader or of a
/// shard's owner. The record of what is settled is written in the same transaction as the effects, so they happen once:
/// for a log the position of a group, for a queue the ids of the messages that were settled last. docs/own-source.md
/// says what the user's class has to do, and how it is tested. Thread safety: safe.
class external_source {
 public:
  using executor_type = session::executor_type;

  /// The group of the consumers of a queue, which has one only: for `async_dead_letters` and `async_discard`.
  static constexpr const char* queue_group = "consumers";

  external_source() = default;  ///< Stands for nothing: `feed` throws, and operations complete with `closed`.
  /// `path`: where positions, memories and dead letters are kept. Its record is compared when a feed is used first:
  /// `size_mismatch` (another number of shards), `foreign_data` (another source, a queue instead of a log, or no record
  /// of ours). \throws std::invalid_argument naming the bad path or option.
  external_source(session over, std::string path, external_options options);

  /// The messages of one shard of a log, for a `queue_consumer` of this group: one process at a time should consume a
  /// shard for a group, under an election or a shard group. The first use of a name makes the group: it begins with the
  /// first message that is there. An object is for one feed.
  ///
  /// The run of the consumer ends with `career_failed` for an exception of the log, for an id that is none, for
  /// `foreign_data` and `size_mismatch`. While the log reports errors, the consumer waits. An operator who removes the
  /// position (`/path/<shard>/_at/<group>`) lets the group begin anew.
  /// \throws std::invalid_argument if there is no such shard, if the name of the group is not 1 to 256 bytes without
  /// slash and what ZooKeeper refuses in paths, if `from` is null, or if this object was made by default.
  message_feed feed(std::shared_ptr<external_log> from, std::uint32_t shard, std::string group) const;

  /// The messages of one shard of a queue, for a `queue_consumer`: one process at a time should consume a shard, under
  /// an election or a shard group. An object is for one feed. Runs end as those with a log. An operator who removes the
  /// memory (`/path/<shard>/_at/consumers`) lets what is delivered again be processed again.
  /// \throws std::invalid_argument if there is no such shard, if `from` is null, or if this object was made by default.
  message_feed feed(std::shared_ptr<external_queue> from, std::uint32_t shard) const;

  /// Reads the dead letters of a group, oldest first. `dead_letter::item` is the shard, a slash, and the id of the
  /// message. To process one again, put its key and data into the source, and discard the letter. With an error the
  /// letters are those that were read before it.
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

  /// Removes a dead letter for good.
  ///
  /// Signature: `void(error_code)`.
  /// Errors: `no_node`, `outcome_unknown` (a reply was lost, and the letter has gone), `bad_arguments` (a name with a
  /// slash, or no name of a group), `no_auth`, and those of `session`.
  /// Cancellation: all types; the letter may have been removed.
  /// Thread safety: as the class says.
  /// Cost: 1 round trip, 1 request.
  template <token_for<> Token = default_token>
  auto async_discard(std::string group, dead_letter which, Token&& token = Token()) {
    return detail::initiate<void(error_code)>(token, &start_discard, core_, std::move(group), std::move(which));
  }

  const std::string& path() const noexcept;
  const session& get_session() const noexcept { return session_; }
  executor_type get_executor() const noexcept { return session_.get_executor(); }
  std::uint32_t shards() const noexcept;

  /// For the library; the type is not public.
  using core_ptr = std::shared_ptr<detail::external_core>;
  const core_ptr& get_core() const noexcept { return core_; }

 private:
  template <class... Results>
  using handler = detail::handler_for<void(error_code, Results...)>;
  static void start_dead_letters(handler<std::vector<dead_letter>>, core_ptr, std::string);
  static void start_discard(handler<>, core_ptr, std::string, dead_letter);

  session session_;
  core_ptr core_;
};

}  // namespace zkrecipes
