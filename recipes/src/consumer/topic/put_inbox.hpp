// Where the calls of a producer arrive, from any thread, and who works for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>

#include "queue/producer_core.hpp"
#include "session/operation.hpp"
#include "source/source_core.hpp"
#include "topic/topic_layout.hpp"

namespace zkrecipes::detail {

// The completion of a put, with its executor.

class topic_caller {
 public:
  using handler = producer_core::handler;

  topic_caller(const scheduler& on, handler whose) : whose_(std::move(whose)), target_(target_of(whose_, on)) {}

  /// Calls the handler on its executor, unless it was told before. Outside of the strand.
  void complete(error_code error, std::uint64_t number) {
    if (!whose_) return;
    asio::dispatch(target_, [h = std::move(whose_), error, number]() mutable { std::move(h)(error, number); });
  }

 private:
  handler whose_;
  asio::any_completion_executor target_;
};

/// Owned by the coroutine that works for the callers of a producer. If the coroutine goes with its context before its
/// end, so do the callers that wait: they may own the producer, which owns them.
class put_abandonment {
 public:
  /// `abandon` owns the producer, and lets go of its callers.
  explicit put_abandonment(std::function<void()> abandon) : abandon_(std::move(abandon)) {}
  put_abandonment(const put_abandonment&) = delete;
  put_abandonment& operator=(const put_abandonment&) = delete;
  ~put_abandonment() {
    if (abandon_) abandon_();
  }

  /// The coroutine has come to its end.
  void dismiss() { abandon_ = nullptr; }

 private:
  std::function<void()> abandon_;
};

/// Lets go of callers, one after the other: they may own whose they are. An empty `std::deque` to exchange them for
/// would take memory, and a destructor may ask for this.
template <class Line>
void let_go(Line& callers) noexcept {
  while (!callers.empty()) {
    const auto first = std::move(callers.front());
    callers.pop_front();
  }
}

// The result of a put, and how its caller gets it.

struct put_result {
  topic_caller whose;
  error_code error;
  std::uint64_t number;
};

/// Calls the handlers on their executors. An exception of one of them does not concern the others.
void complete_results(asio::any_io_executor base, std::deque<put_result> results);

/// Ends puts that have no connection for too long: the limit of those that arrived together. On the strand.
class put_reach {
 public:
  /// `end` is called when the limit is reached; it must not destroy this.
  put_reach(const scheduler_ptr& on, std::function<void()> end) : limit_(on, on->reach.get()), mine_(*limit_, signal_) {
    signal_.slot().assign([end = std::move(end)](asio::cancellation_type) { end(); });
  }
  put_reach(const put_reach&) = delete;

  bool is_over() const noexcept { return mine_.is_over(); }

 private:
  std::shared_ptr<reach_limit> limit_;  // it lives by the world of the scheduler
  asio::cancellation_signal signal_;
  reach_limit::waiting mine_;
};

/// The messages of one call. On the strand, once it was taken from the inbox.
struct topic_put {
  std::vector<topic_message> messages;
  bool is_many;  ///< The caller is told how many were put, not the number of the message.
  topic_caller caller;
  lease_clock::time_point due{};  ///< Until then they wait for others, if they are the first of a transaction.
  std::size_t composed = 0;       ///< So many are in the topic or in transactions under way.
  std::size_t put = 0;            ///< The number of messages that are in the topic.
  error_code error{};             ///< Why the messages behind them can not be put.
  std::shared_ptr<put_reach> reach{};

  /// Bytes of some of the messages in a batch.
  std::size_t bytes(std::size_t from, std::size_t to) const {
    std::size_t sum = 0;
    for (; from < to; ++from) sum += packed_batch::size_of(messages[from].key, messages[from].data);
    return sum;
  }
  /// One without messages asks for something else.
  bool is_over() const noexcept { return !messages.empty() && put == (error ? composed : messages.size()); }
};

/// Calls in their order, of which some are in part done.
using put_line = std::deque<std::shared_ptr<topic_put>>;

/// So many messages of the first calls were put; the first of them has the number behind `number`. Calls that have
/// ended leave the line: returns how many.
std::size_t record_put(put_line& line, std::size_t count, std::uint64_t number, std::deque<put_result>& results);
/// The first message that was not put can not be, nor can those behind it in the same call.
void fail_first(put_line& line, const error_code& why, std::deque<put_result>& results);

/// Brings calls to the strand, all that have arrived meanwhile in one handler.
class put_inbox {
 public:
  using waiting_put = std::shared_ptr<topic_put>;
  /// On the strand. It owns the producer, because nothing else may.
  using taker = std::function<void(std::vector<waiting_put>)>;

  explicit put_inbox(scheduler_ptr on) : on_(std::move(on)) {}

  /// From any thread. A caller that cancels is told so, and its messages are put all the same.
  void add(topic_caller::handler whose, std::vector<topic_message> what, bool is_many, const taker& take);
  /// From any thread. Nothing is put; the caller is told so.
  void refuse(topic_caller::handler whose, const error_code& why);

 private:
  struct arrivals {
    std::vector<waiting_put> all;
  };

  std::vector<waiting_put> take_out(arrivals& from);

  scheduler_ptr on_;
  std::mutex mutex_;
  std::weak_ptr<arrivals> announced_;  // those whose handler is on its way: they go with the context
};

/// The engine of a producer whose calls cost neither a coroutine nor a timer each. They wait in the inbox, any
/// thread's, and then on the strand, where one coroutine works for all of them. On the strand but for what says
/// otherwise.
class inbox_producer : public producer_core, public std::enable_shared_from_this<inbox_producer> {
 public:
  const scheduler_ptr& get_scheduler() const noexcept { return of_->session->get_scheduler(); }
  const std::string& path() const noexcept final { return of_->where.root; }
  /// From any thread.
  void put(handler whose, std::vector<topic_message> what, bool is_many) final;
  /// The last handle has gone.
  virtual void leave();

 protected:
  using waiting_put = put_inbox::waiting_put;

  /// `can_put`: whether a message is small enough; else its call is refused.
  inbox_producer(source_frame_ptr of, bool (*can_put)(const topic_message&))
      : of_(std::move(of)), can_put_(can_put), changed_(get_scheduler()), inbox_(get_scheduler()) {}

  /// From any thread.
  void add(handler whose, std::vector<topic_message> what, bool is_many);
  void refuse(handler whose, const error_code& why) { inbox_.refuse(std::move(whose), why); }
  /// Begins `work`, unless it is under way.
  void begin_work();
  /// `work` has come to its end.
  void end_work(put_abandonment& watch);
  bool is_left() const noexcept { return is_left_; }
  /// A call has arrived, the last handle has gone, or what a derived class says.
  condition& changed() noexcept { return changed_; }
  void record_change() { changed_.notify(); }
  /// Calls the handlers of these, and forgets them.
  void tell(std::deque<put_result>& results);

 private:
  virtual void take_in(std::vector<waiting_put> arrived) = 0;
  virtual awaitable<void> work(std::shared_ptr<put_abandonment> watch) = 0;
  /// `work` goes with its context. The callers may let go of the last handle.
  virtual void abandon() = 0;

  source_frame_ptr of_;
  bool (*can_put_)(const topic_message&);
  bool is_working_ = false;
  bool is_left_ = false;
  condition changed_;
  put_inbox inbox_;
};

/// A handle for the user: the producer is told when the last copy has gone.
template <class Producer>
std::shared_ptr<Producer> leaving_handle(std::shared_ptr<Producer> real) {
  return {real.get(), [real](Producer*) { asio::post(real->get_scheduler()->strand, [real] { real->leave(); }); }};
}

}  // namespace zkrecipes::detail
