// Reads the batches of a shard in order, from the position of a group on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/queue_base.hpp>

#include "session/watch_registry.hpp"
#include "source/log_source.hpp"
#include "topic/log_position.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

/// Which messages of a shard a group has settled, between what is stored and what was read.
/// Batches are opened in order, as they are read; messages are settled in any order. The position follows behind the
/// first message that is not settled. It does no I/O.
class log_progress {
 public:
  /// A range takes about 20 bytes of the record, which each commit writes as a whole.
  static constexpr std::size_t most_ranges = 1'000;

  log_progress() = default;
  explicit log_progress(log_position stored) : stored_(std::move(stored)) {}

  /// Whether nothing of a batch is left, as far as its number tells.
  bool is_behind(std::int32_t batch) const { return stored_.is_behind(batch); }
  /// The batch was read, and has so many messages.
  void open(std::int32_t batch, std::uint32_t count);
  /// The batch is not there any more, so nobody settles its messages.
  void pass_over(std::int32_t batch);
  /// The batch is not to be removed when it is settled.
  void keep(std::int32_t batch) { stored_.kept.add(batch); }
  bool is_settled(const message_place& which) const;
  void settle(const message_place& which);
  void fail(const message_place& which, std::int64_t since);
  failed_attempts failed(const message_place& which) const;
  /// No further message is to be begun, because too many are settled behind one that is not: the record has no room for
  /// more ranges.
  bool is_far_ahead() const;
  /// Whether a message behind this one is settled.
  bool has_settled_behind(const message_place& which) const;

  log_position position() const;
  /// The batches that were settled as a whole since the last call.
  std::vector<std::int32_t> take_finished() { return std::exchange(finished_, {}); }

 private:
  using indexes = number_ranges<std::uint32_t>;
  struct part {
    std::uint32_t count = 0;
    indexes settled{};
  };

  void move_on();

  log_position stored_;                 // what was settled when nothing was open, and what is ahead of the open batches
  std::map<std::int32_t, part> open_;   // those with messages that are not settled
  std::optional<std::int32_t> opened_;  // the last one
  std::vector<std::int32_t> finished_;
};

/// The shard is listed once, and again when all that was listed is read. Several batches are read ahead. On the strand.
class log_reader {
 public:
  /// `position`: of the group. If it is outdated, nothing is received until `open`.
  log_reader(topic_frame_ptr topic, std::uint32_t shard, position_node& position);

  /// Forgets everything: the position is read again.
  void open();
  /// As those of `message_source`. Nothing is received if the position is outdated.
  awaitable<outcome<std::vector<message>>> receive(std::size_t most);
  awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names);
  std::uint64_t take_passed_over() { return std::exchange(passed_over_, 0); }
  std::string problem_of(const std::string& name) const;

  log_progress& progress() noexcept { return progress_; }
  /// A batch that was listed and not dropped; null if there is none of this number.
  const batch_name* find(std::int32_t number) const;
  /// The same; null also if it has to stay where it is.
  const batch_name* removable(std::int32_t number) const;
  /// Nothing if there is none, or if it has to stay.
  std::optional<batch_name> drop(std::int32_t number);

 private:
  struct asked_batch {
    batch_name which;
    exchange_ptr answer;
  };

  awaitable<error_code> get_ready();
  bool may_hand_out() const;
  awaitable<error_code> await_progress();
  position_node::more_requests listing();
  awaitable<error_code> list_again();
  awaitable<error_code> take_answer();
  awaitable<error_code> read_batches(std::vector<batch_name> which, std::map<std::int32_t, backend::reply>& into);
  void record_list(const std::vector<std::string>& children);
  void ask_ahead(std::size_t most);
  void forget_asked();
  void take_batch(const batch_name& which, backend::reply& node);
  message make_message(const message_place& where, const backend::reply& node) const;
  message make_problem(const batch_name& which, backend::reply& node, std::string what);

  topic_frame_ptr topic_;
  std::uint32_t shard_;
  position_node& position_;
  log_progress progress_;
  std::map<std::int32_t, batch_name> known_;  // listed, and not settled as a whole
  std::int32_t last_listed_ = -1;
  std::int32_t last_asked_ = -1;  // the batches up to here were read, or are being read
  std::deque<asked_batch> asked_;
  std::size_t asked_messages_ = 0;
  std::deque<message> ready_;
  std::uint64_t passed_over_ = 0;
  std::set<std::int32_t> kept_;  // batches that have gone, or that could not be read and are in no dead letter
  std::map<std::string, std::string> problems_;  // by the name of the message that stands for a batch
  std::shared_ptr<watch> list_watch_;
};

}  // namespace zkrecipes::detail
