// Where a consumer's messages come from.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/queue_base.hpp>
#include <zkrecipes/transaction.hpp>

#include "session/condition.hpp"
#include "session/operation.hpp"

namespace zkrecipes::detail {

// The way in which a message leaves its source, or stays in it.

struct settlement {
  enum class kind {
    remove,         ///< The message is done.
    count_attempt,  ///< One more attempt has failed.
    park,           ///< It becomes a dead letter.
  };

  kind how = kind::remove;
  const message* what = nullptr;
  std::string reason{};
  std::string key{};  ///< The key that is parked with the message.
  bool parks_key = false;
  bool is_behind = false;         ///< The key is parked already, and so this message was not processed.
  std::int64_t epoch = 0;         ///< The term that parks it.
  std::int64_t first_failed = 0;  ///< See `dead_letter`.
  std::int64_t last_failed = 0;
  /// The dead letter keeps so many bytes of the data, and the first 1 000 of the key. Nothing: it keeps all of both.
  std::optional<std::size_t> most_data{};
};

enum class key_state {
  free,
  parked,  ///< Messages of the key become dead letters.
  held,    ///< Its dead letters are being put back. Until that is done, its messages are left alone.
};

/// The marks of keys that are parked, as they stand in a source.
class key_marks {
 public:
  virtual ~key_marks() = default;
  /// All of them: see `mark_of`.
  virtual awaitable<outcome<std::set<std::string>>> parked_keys() = 0;
  virtual awaitable<outcome<std::vector<key_state>>> look_at_keys(std::vector<std::string> keys) = 0;
};

/// There are two kinds of sources. A queue settles its messages one by one: `settling`. A log has a position, which
/// moves behind the messages that are settled: `moving_on`. Both take part in the fenced transaction with the effects;
/// a source outside ZooKeeper acknowledges in `settled`, afterwards. On the strand of the session.
class message_source : public key_marks {
 public:
  static constexpr std::size_t place_of_mark = 2;

  struct traits {
    bool settles_singly = true;      ///< The first operation of `settling` removes or writes the message itself.
    bool parks_keys = true;          ///< See `spent_message::park_key`.
    std::size_t most_at_once = 100;  ///< Messages of a commit.
    /// A message may be larger than a dead letter: then the letter keeps a part of it. Else it stays in the source.
    bool cuts_letters = false;
  };

  virtual traits get_traits() const { return {}; }

  /// A consumer has it: a second one would take its messages away.
  std::atomic<bool> is_taken = false;

  /// How a consumer takes the messages. Before `open`.
  virtual void set_order(message_order) {}

  /// For error texts, such as "queue /orders".
  virtual std::string name() const = 0;
  /// With `career_failed`: what the user's code behind the source has said, in words. Read when the run has ended.
  virtual std::string failure() const { return {}; }

  /// From here on we are the only consumer; messages that were received before and are not settled come again.
  virtual awaitable<error_code> open() = 0;
  /// Somebody else has moved the position. Everything that was received has to be dropped, and the source opened again.
  virtual bool is_outdated() const noexcept { return false; }
  /// Notified when somebody else may have changed the source while nothing is received: see `wants_look`. Null: never.
  virtual condition* changed() { return nullptr; }
  /// `receive` is to be called, for no message if need be, to see whether the source is outdated.
  virtual bool wants_look() const noexcept { return false; }
  /// It is not known whether the last commit was done. A source that moves its position is outdated from here on.
  virtual void on_unknown_outcome() {}
  /// Waits for one message, and completes with up to `most`, in order. A message is received once, until `open`.
  /// Cancelling it loses none. It completes with none if the source is outdated, and once if it `wants_write`; if
  /// `most` is 0, it does not wait.
  virtual awaitable<outcome<std::vector<message>>> receive(std::size_t most) = 0;
  /// How many messages have gone before they could be received, since the last call.
  virtual std::uint64_t take_passed_over() { return 0; }
  /// Why a message that was received can not be processed: it is parked. Empty: it can.
  virtual std::string problem_of(const std::string&) const { return {}; }
  /// Reads messages that were received before again, because their data was dropped, or messages that an earlier term
  /// has received. Nothing for those that have gone; the name only for those that may still come.
  virtual awaitable<outcome<std::vector<std::optional<message>>>> read_again(std::vector<std::string> names) = 0;
  /// Whether `read_again` is possible.
  virtual bool can_read_again() const noexcept = 0;
  /// False: this message is not in hand, and can not be received any more.
  virtual bool can_come(const std::string&) const { return true; }

  /// These messages were received and are not settled: they come again, in order. Not while `receive` runs.
  virtual void put_back(const std::vector<std::string>& names) = 0;

  /// The node of the producers' marks (`message_repeats`). Empty: the order of the source is not that of the puts.
  virtual std::string place_of_marks() const { return {}; }

  /// Creates what `settling` needs besides the message, such as a folder for dead letters.
  virtual awaitable<error_code> prepare(settlement::kind what, bool parks_key) = 0;
  /// The operations that settle one message. The first can not succeed twice, unless an operator puts the message
  /// back in between. It fails with `no_node` if the message has gone. If its key is parked, the one at `place_of_mark`
  /// fails unless the mark is as `settlement::is_behind` says.
  virtual transaction settling(const settlement& each) const = 0;
  /// The position is to be written although no message is settled. A commit of an empty batch does it.
  virtual bool wants_write() const noexcept { return false; }
  /// The operations that move the position behind these messages, and what else a commit of all of them takes. Nothing
  /// for an empty batch, unless the source `wants_write`.
  virtual transaction moving_on(const std::vector<settlement>& batch) = 0;
  /// An operation of the last `moving_on` was refused. True: the messages can be settled in another way, or the source
  /// is outdated. False: the refusal concerns the whole term.
  virtual bool adapt(std::size_t, const error_code&) { return false; }
  /// The transaction was committed: the last one, if the source moves its position. Else it can be called again for the
  /// same messages, or never. With no messages: an empty batch has written what `wants_write` told of.
  virtual awaitable<void> settled(std::vector<settlement> batch) = 0;
  /// Nothing is received or settled any more, although calls may go on: what is not settled is the successor's. Not
  /// while `receive` runs. May be called several times before `close`.
  virtual void let_go() {}
  /// No more messages are wanted. Those that are not settled go back, in order.
  virtual awaitable<void> close() = 0;
};

using source_ptr = std::shared_ptr<message_source>;

}  // namespace zkrecipes::detail
