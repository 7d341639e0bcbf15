// The transactions of a producer that are under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "queue/producer_record.hpp"
#include "topic/topic_layout.hpp"
#include "topic/topic_transaction.hpp"

namespace zkrecipes::detail {

/// Whether there is room in the shards of a topic: for names in their lists, and for numbers in the names.
/// A server sends the names of all batches of a shard in one reply, which must not be larger than clients can read. A
/// shard is looked at behind the first batch that is put there, then behind each 256, and every second while it is
/// full. On the strand.
class topic_room {
 public:
  explicit topic_room(topic_frame_ptr topic) : topic_(std::move(topic)) {}

  /// Why nothing can be put into a shard: `full` or `sequence_exhausted`; clear if there is room.
  error_code refusal(std::uint32_t shard) const;
  /// A batch was put there, with this name.
  void record_batch(std::uint32_t shard, std::string_view name);
  /// Looks at the shards whose time has come. Without an answer they are looked at later.
  awaitable<void> look();

 private:
  struct room {
    std::size_t put = 0;  // since the last look
    bool is_new = true;
    bool is_full = false;
    bool is_used_up = false;
    lease_clock::time_point next_look{};  // while it is full
  };
  bool is_due(const room& which) const;

  topic_frame_ptr topic_;
  std::map<std::uint32_t, room> rooms_;
};

/// Sends transactions without waiting for the answers to those before. Each moves the record of the producer from the
/// version that the one before has left, so it does nothing unless all before it were done. The first one behind a read
/// of the record moves it by more versions than can be under way, and is sent alone: so none of another producer of
/// this name that is still under way fits behind it. On the strand.
class topic_sender : public std::enable_shared_from_this<topic_sender> {
 public:
  static constexpr std::int32_t most_under_way = 32;

  topic_sender(topic_frame_ptr topic, const std::string& name);

  /// Reads the number of the last message in the topic. It does not change what is under way.
  awaitable<outcome<std::uint64_t>> last();

  bool is_idle() const noexcept { return under_way_.empty(); }
  /// Whether another transaction can be sent behind those under way.
  bool has_room() const noexcept;
  /// To be awaited ahead of the first transaction. Error: none can be sent, and nothing is under way.
  awaitable<error_code> prepare();
  void send(topic_transaction what);
  /// Notified by each answer.
  condition& changed() noexcept { return changed_; }
  /// The first transaction has ended.
  bool has_answer() const noexcept { return !is_idle() && under_way_.front()->is_done; }

  /// What became of the messages under way, in their order: some are in the topic, some behind them can not be put,
  /// and the rest, if nothing is under way any more, is to be sent again.
  struct result {
    std::size_t put = 0;
    std::uint64_t before = 0;  ///< The number of the last message before those that were put.
    std::size_t failed = 0;
    error_code error{};
  };
  /// To be called when there is an answer.
  awaitable<result> settle(topic_room& room);

 private:
  struct flight {
    topic_transaction what;
    std::uint64_t after = 0;  // the number of its last message
    std::int32_t writes = 1;  // of the record
    bool is_done = false;
    backend::reply answer{};
  };
  using flight_ptr = std::shared_ptr<flight>;

  void launch(flight_ptr next);
  void send_again();
  awaitable<void> carry(flight_ptr which, backend::request multi);
  awaitable<error_code> make_topic();
  awaitable<error_code> make_folders(const topic_transaction& what);
  void record_names(const flight& which, topic_room& room);
  awaitable<result> settle_failure();
  std::deque<flight_ptr> take_all();
  result repeat(std::deque<flight_ptr> all, std::uint64_t before);
  result give_up(std::size_t count, const error_code& why);

  topic_frame_ptr topic_;
  condition changed_;
  producer_record record_;
  bool is_alone_ = true;       // the next one, or the one under way, is the first behind a read of the record
  bool may_be_there_ = false;  // a reply was lost since the last transaction that is known to be done
  std::deque<flight_ptr> under_way_;
  std::deque<flight_ptr> again_;  // to be sent as they were, behind those under way
};

}  // namespace zkrecipes::detail
