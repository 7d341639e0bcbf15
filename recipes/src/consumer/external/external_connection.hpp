// Keeps a user's log or queue open, and calls its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <zkrecipes/consumer/external_source.hpp>
#include <zkrecipes/log.hpp>

#include "career/task.hpp"
#include "delivery/read_ahead.hpp"
#include "session/condition.hpp"
#include "session/outcomes.hpp"
#include "source/source_core.hpp"

namespace zkrecipes::detail {

/// What all parts of one source of the user's share.
/// The record is that of a feed: of an "external_log" or an "external_queue".
struct external_frame : source_frame {
  external_options options;
  /// How many bytes all readers of the source may hold ahead together. On the strand.
  std::shared_ptr<read_share> reading = std::make_shared<read_share>();
};

using external_frame_ptr = std::shared_ptr<const external_frame>;

/// The calls of a user's log or queue, as both have them.
/// Its functions run on the strand of the user's calls, and may throw what the user's throw.
class external_port {
 public:
  virtual ~external_port() = default;

  virtual std::string name() const = 0;
  /// `place`: nothing to a queue.
  virtual awaitable<error_code> open(std::string place) = 0;
  virtual awaitable<external_batch> receive(std::size_t most) = 0;
  /// These are settled: the ids of the messages for a queue, places for a log, in order.
  virtual awaitable<error_code> report(std::vector<std::string> settled) = 0;
  /// After `report`: the ids that can not come again.
  virtual std::vector<std::string> take_forgotten() = 0;
  virtual awaitable<void> close() = 0;
};

/// The result of a call. Written on the strand of the user's calls, and read when the call is done.
struct external_answer {
  error_code error{};
  std::vector<external_message> messages{};
  std::vector<std::string> forgotten{};
};

/// One call of a function of the user's source: at most one of a kind. On the session's strand.
struct external_call {
  std::shared_ptr<external_answer> answer{};
  task_ptr run{};

  bool is_there() const noexcept { return run != nullptr; }
  bool is_done() const noexcept { return run && run->done; }
  bool is_running() const noexcept { return run && !run->done; }
};

/// The functions of the user run on a strand of their own, so that they can not hold up the session; everything else
/// here is on the session's strand. Errors are waited out with growing pauses, each new reason is told to the log of
/// the session, and the source is opened again. An exception is kept as the failure of the run.
class external_connection : public std::enable_shared_from_this<external_connection> {
 public:
  external_connection(external_frame_ptr frame, std::unique_ptr<external_port> to);

  /// Notified when a call has ended.
  condition& changed() noexcept { return changed_; }
  const std::string& name() const noexcept { return name_; }
  /// What an exception of the user has said, since `reset`, or `fail`. Empty: the source works.
  const std::string& failure() const noexcept { return failure_; }
  bool has_failed() const noexcept { return !failure_.empty(); }

  /// What was received and what is to be reported is forgotten, and calls that run are cancelled. `ready` closes the
  /// source and opens it anew.
  void reset();
  /// Waits until the source is open. Errors: `operation_aborted` (the next call goes on with it), `career_failed` (see
  /// `failure`), and that of the session that is over.
  awaitable<error_code> ready(std::string place);
  bool is_open() const noexcept { return is_open_; }

  /// Begins to receive, unless it does already, or the source is not open.
  void ask(std::size_t most);
  /// The messages that were received.
  std::vector<external_message> take();
  /// These messages are settled. The report goes behind those before it, and is dropped when the source is not open.
  void report(std::vector<std::string> settled);
  /// See `external_queue::take_forgotten`. Not before the call of `receive` has been taken that was under way when the
  /// source told it: that call may have read the message before it was acknowledged.
  std::vector<std::string> take_forgotten();
  /// The user's source has broken its contract, and the run fails for this reason. An exception does the same.
  void fail(const std::string& why);

  /// Gives reports a second, and closes the source.
  awaitable<void> close();

 private:
  using self_ptr = std::shared_ptr<external_connection>;
  using answer_ptr = std::shared_ptr<external_answer>;

  static awaitable<void> call_open(self_ptr self, answer_ptr into, std::string place);
  static awaitable<void> call_receive(self_ptr self, answer_ptr into, std::size_t most);
  static awaitable<void> call_report(self_ptr self, answer_ptr into, std::vector<std::string> settled);
  static awaitable<void> call_close(self_ptr self);
  task_ptr start(awaitable<void> body);
  void begin_to_open(std::string place);
  awaitable<void> run_reports();
  void leave();
  awaitable<bool> shut();
  bool judge(const external_call& ended, const std::string& function);
  void give_up(const error_code& why, const std::string& function);
  void write_log(log_severity severity, session_event event, const error_code& why, std::string_view detail);

  external_frame_ptr frame_;
  std::shared_ptr<external_port> to_;
  std::string name_;
  asio::any_io_executor strand_;  // of the user's calls
  log_hook log_;
  condition changed_;
  back_off pause_;
  external_call opening_;
  external_call receiving_;
  external_call reporting_;
  external_call closing_;
  std::vector<std::string> unreported_;
  std::vector<std::string> forgotten_;
  std::vector<std::string> forgotten_later_;  // behind the call of `receive` that is under way
  bool is_used_ = false;                      // `open` was called, and `close` has not ended since
  bool is_open_ = false;                      // `open` has ended
  bool is_leaving_ = false;                   // the calls that run were cancelled, and `close` is next
  bool is_fresh_ = true;                      // no pause before the next try
  bool has_reporter_ = false;
  std::size_t asked_ = 0;     // most messages of the call of `receive`
  std::uint64_t number_ = 0;  // of the last `open` that has ended well
  std::string failure_;
  std::string told_;  // the last reason that was told
};

}  // namespace zkrecipes::detail
