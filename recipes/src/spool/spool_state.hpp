// A spooled producer: accepts messages, writes them to the file, and puts them from there.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/lease_clock.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "limit/waiting_line.hpp"
#include "session/operation.hpp"
#include "spool/spool_disk.hpp"
#include "spool/spool_target.hpp"
#include "topic/put_inbox.hpp"

namespace zkrecipes::detail {

/// The numbers of a spooled producer: those of messages in the file, and what follows from the queue's number.
/// Messages up to `put` are in the queue, those up to `spooled` in the file. A message has the same number in both,
/// less `base`: it differs from 0 once the queue was removed, or had messages that the file does not know. It does no
/// I/O.
class spool_numbers {
 public:
  /// The result of comparing the queue's last number with that of the file.
  struct finding {
    enum class kind {
      expected,
      gap,     ///< The queue has messages that the file never had.
      anew,    ///< The queue has forgotten messages: it was removed, or is an older copy.
      foreign  ///< Another producer has put messages since we agreed with the queue.
    };
    kind what = kind::expected;
    std::uint64_t put = 0;
    std::int64_t base = 0;
    std::uint64_t count = 0;  ///< So many messages are in the gap, or forgotten.
  };

  void open(const spool_extent& found) noexcept;

  std::uint64_t put() const noexcept { return put_; }
  std::uint64_t spooled() const noexcept { return spooled_; }
  std::int64_t base() const noexcept { return base_; }
  std::uint64_t lag() const noexcept { return spooled_ - put_; }
  /// The queue has been asked since the last failure. Only then may messages be sent.
  bool is_agreed() const noexcept { return is_agreed_; }
  /// For the next transaction: the first message that can not be in the queue, 0 if that is not known of any.
  std::uint64_t unsent_from(bool appends) const noexcept;

  finding compare(std::uint64_t last_in_queue) const noexcept;
  /// The finding is in the file.
  void agree(const finding& what) noexcept;
  /// The queue knows no numbers: it goes on behind what is known to be in it.
  void go_on() noexcept;

  void on_spooled(std::uint64_t count, std::uint64_t unsent_from) noexcept;
  /// Messages that were sent before may still be put late. Without them somebody else has put what we have not.
  bool is_unclear() const noexcept { return bound_ > put_; }
  void on_sent(std::uint64_t count) noexcept { bound_ = std::max(bound_, put_ + count); }
  /// What was sent before can not be done any more: the record of the producer has moved on.
  void on_put(std::uint64_t count) noexcept { bound_ = put_ += count; }
  void record_failure() noexcept { is_agreed_ = false; }

 private:
  std::uint64_t put_ = 0;
  std::uint64_t spooled_ = 0;
  std::int64_t base_ = 0;
  std::uint64_t bound_ = 0;  // none behind it can be in the queue
  std::uint64_t unsent_from_ = 0;
  bool is_agreed_ = false;
  bool was_agreed_ = false;
};

// Ends a spooled producer with its execution context.

class spool_state;

/// The context keeps it. When the context is shut down, the thread of the disk has to end before the executor to which
/// it posts has gone, and what waits is dropped: a caller may own the producer.
class spool_life : public waiting_place {
 public:
  spool_life(std::weak_ptr<spool_state> whose, std::shared_ptr<spool_disk> disk)
      : whose_(std::move(whose)), disk_(std::move(disk)) {}

  void drop() override;
  bool is_over() const noexcept { return is_over_; }

 private:
  std::weak_ptr<spool_state> whose_;
  std::shared_ptr<spool_disk> disk_;
  std::atomic<bool> is_over_ = false;
};

// Answers to puts, which are given together.

/// A put that has not been answered yet, or whose message is not in the file yet.
struct spool_put {
  spool_row_ptr row;  ///< None once it is in the file.
  bool is_through;    ///< It is answered when the message is in the queue.
  topic_caller caller;
  std::uint64_t number = 0;       ///< That of its message, when that is in the file.
  lease_clock::time_point due{};  ///< Until then it waits for others, if it is the first of a transaction.
  std::uint64_t arrival = 0;      ///< Its place among those that ever waited for room.
  bool is_cancelled = false;
  bool is_late = false;  ///< It came behind the call of `async_close`.
};

using spool_put_ptr = std::shared_ptr<spool_put>;

class spool_answers {
 public:
  void add(spool_put& whose, error_code error, std::uint64_t number) {
    all_.push_back({std::move(whose.caller), error, number});
  }
  /// Gives those that were added since the last call. `base` runs the calls.
  void send(const asio::any_io_executor& base) {
    if (!all_.empty()) complete_results(base, std::exchange(all_, {}));
  }

 private:
  std::deque<put_result> all_;
};

/// Knows when messages were accepted, without a time for each: messages that were accepted within a fiftieth of the
/// time since the oldest one share its mark. So the memory grows with the logarithm of that time.
class spool_age {
 public:
  /// The messages up to `number` that have no mark yet were accepted at this time.
  void record(std::uint64_t number, lease_clock::time_point at) {
    const bool is_near = !marks_.empty() && (at - marks_.back().at) * 50 <= at - marks_.front().at;
    if (is_near) {
      marks_.back().number = number;
    } else {
      marks_.push_back({number, at});
    }
  }
  void forget(std::uint64_t through) {
    while (!marks_.empty() && marks_.front().number <= through) marks_.pop_front();
  }
  std::optional<lease_clock::time_point> oldest() const {
    return marks_.empty() ? std::nullopt : std::optional(marks_.front().at);
  }

 private:
  struct mark {
    std::uint64_t number;
    lease_clock::time_point at;
  };
  std::deque<mark> marks_;
};

/// A message is in `waiting_` until there is room for it, in `buffer_` until it is in the file, and in the file until
/// it is known to be in the queue. Two coroutines work on the strand: the writer brings what is in the buffer into the
/// file, and removes from it what was put; only it changes the file. The sender puts what is in the file, in order, one
/// call after the other. It takes messages from `outbox_`, which the writer fills as long as it has room, and which is
/// filled from the file otherwise.
class spool_state : public std::enable_shared_from_this<spool_state> {
 public:
  /// \throws std::invalid_argument naming the bad option.
  static void check(const spool_options& options);
  spool_state(scheduler_ptr on, spool_options options, std::unique_ptr<spool_target> target,
              std::shared_ptr<spool_disk> disk);

  const scheduler_ptr& get_scheduler() const noexcept { return on_; }
  const std::string& path() const noexcept { return target_->path(); }
  const spool_options& options() const noexcept { return options_; }

  // From any thread.
  void start();
  void put(topic_caller::handler whose, spool_row what, bool is_through);
  /// Puts from now on are not accepted.
  void refuse_puts();
  spool_status status() const;
  /// The user's object has gone.
  void abandon() noexcept;

  awaitable<outcome<>> flush(lease_clock::duration within);
  awaitable<outcome<>> close(lease_clock::duration within);
  /// Destroys what waits without an answer, because the context is shut down.
  void drop();

 private:
  struct target_answer {
    error_code error;
    std::uint64_t number = 0;
  };
  template <class Answer>
  using slot = std::shared_ptr<std::optional<Answer>>;

  // Accepting.
  void take_in();
  void admit();
  bool has_room(const spool_put& one) const noexcept;
  void accept(spool_put_ptr one);
  static void cancel(const scheduler_ptr& on, const std::weak_ptr<spool_state>& whose,
                     const std::weak_ptr<spool_put>& which);
  void sweep();
  void refuse_waiting(const error_code& why);
  void refuse_through(const error_code& why);
  void publish();
  void describe_trouble(spool_status& now) const;

  // The writer.
  awaitable<void> write();
  awaitable<void> open_file();
  awaitable<void> pause_behind_failure();
  void take_up(const spool_answer& answer);
  awaitable<void> write_batch();
  std::size_t next_batch(spool_change& change) const;
  void conclude(const spool_change& change, const spool_answer& answer);
  void on_agreed();
  void take_origin(const spool_answer& answer);
  void forget_file_failure();
  void on_written(const spool_put_ptr& one);
  void refuse_unwritten(const error_code& why);
  awaitable<void> finish();
  void end_writing();
  void on_file_failure(const spool_answer& answer);
  void on_failed_write(const spool_answer& answer);
  bool is_write_due() const;
  lease_clock::time_point next_write() const;
  bool keeps_unwritten() const noexcept { return options_.durability == spool_durability::memory && was_open_; }

  // The sender.
  awaitable<void> send();
  awaitable<void> agree();
  void go_on();
  bool begins_origin() const noexcept;
  awaitable<void> remove_put();
  awaitable<void> fill_outbox();
  awaitable<void> put_some();
  std::vector<spool_row> next_to_put();
  void on_put(std::uint64_t count, std::size_t bytes);
  void on_progress();
  awaitable<void> handle_failed_put(error_code why, bool may_be_late);
  awaitable<void> rest(error_code why);
  void record_finding(const spool_numbers::finding& what);
  void clear_outbox();

  // Ends.
  void stop(const error_code& why);
  void leave();
  awaitable<error_code> check_progress(lease_clock::time_point until, std::uint64_t failures);
  bool keeps_waiting(std::uint64_t arrival) const noexcept {
    return !waiting_.empty() && waiting_.front()->arrival <= arrival;
  }
  error_code end_of_close(const error_code& early) const;
  bool is_over() const noexcept { return is_gone_ || is_ended_; }
  std::uint64_t accepted() const noexcept { return numbers_.spooled() + buffer_.size(); }
  std::uint64_t lag() const noexcept { return numbers_.lag() + buffer_.size(); }

  awaitable<spool_answer> ask_disk(condition& waiter, std::function<void(spool_disk::handler)> question);
  awaitable<target_answer> ask_target(std::function<void(spool_target::handler)> question);

  scheduler_ptr on_;
  spool_options options_;
  std::unique_ptr<spool_target> target_;
  std::shared_ptr<spool_disk> disk_;
  std::shared_ptr<spool_life> life_;
  condition writer_;
  condition sender_;
  condition progress_;  // of those that flush or close

  std::deque<spool_put_ptr> waiting_;
  std::size_t cancelled_ = 0;  // of those in `waiting_`
  std::uint64_t arrivals_ = 0;
  std::deque<spool_put_ptr> buffer_;
  std::size_t buffer_bytes_ = 0;
  std::deque<spool_put_ptr> through_;  // in the file, and to be answered when they are in the queue
  std::deque<spool_row_ptr> outbox_;   // the messages from `next_` on
  std::size_t outbox_bytes_ = 0;       // also of those under way
  std::uint64_t next_ = 1;             // the first message that is not under way
  std::uint64_t bytes_ = 0;            // of all that was accepted and is not known to be in the queue
  spool_numbers numbers_;
  spool_age age_;
  spool_answers answers_;

  bool is_open_ = false;
  bool was_open_ = false;
  bool is_lean_ = false;                            // see `spool_answer`
  bool must_measure_ = false;                       // `bytes_` counts messages that were found in the queue
  std::uint64_t bytes_put_ = 0;                     // of all that were put
  std::uint64_t bytes_put_before_ = 0;              // when the transaction under way was begun
  std::uint64_t removed_ = 0;                       // the file knows that these were put
  std::optional<spool_numbers::finding> to_agree_;  // the sender wants it to be written
  std::uint64_t write_failures_ = 0;
  error_code write_error_;  // that of the last one
  error_code file_error_;
  std::size_t lacking_ = 1;  // room for so many bytes, when it was last looked for in vain
  std::string file_trouble_;
  unsigned pauses_ = 0;       // behind the last look at a corrupt file
  unsigned pauses_left_ = 0;  // of those

  std::chrono::milliseconds pause_{0};
  error_code target_error_;
  spool_outage outage_;            // of a call of the queue that waits
  std::uint64_t origin_ = 0;       // of the messages that are appended
  std::uint64_t origin_sent_ = 0;  // of those that were sent last
  bool is_removing_ = false;       // the sender waits until the file knows what was put
  bool is_probing_ = false;        // the last put has failed
  std::uint64_t gap_ = 0;
  std::string news_;  // of what the queue and the file know of each other

  std::size_t flushes_ = 0;
  bool is_closing_ = false;  // nothing is accepted any more
  bool is_ending_ = false;   // the file is to be closed
  bool is_ended_ = false;
  bool is_gone_ = false;
  error_code stopped_;  // nothing is put any more

  mutable std::mutex mutex_;
  bool refuses_puts_ = false;
  std::vector<spool_put_ptr> arrived_;
  spool_status status_;
  std::optional<lease_clock::time_point> oldest_;
};

}  // namespace zkrecipes::detail
