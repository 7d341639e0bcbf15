// Where the calls of a producer arrive, from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <boost/asio/cancellation_signal.hpp>

#include <zkrecipes/consumer/topic_types.hpp>

#include "session/reach_limit.hpp"
#include "topic/packed_batch.hpp"
#include "topic/topic_caller.hpp"

namespace zkrecipes::detail {

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
  std::size_t put = 0;            ///< So many are in the topic.
  error_code error{};             ///< Those behind them can not be put.
  std::shared_ptr<put_reach> reach{};

  /// Bytes of some of the messages in a batch.
  std::size_t bytes(std::size_t from, std::size_t to) const {
    std::size_t sum = 0;
    for (; from < to; ++from) sum += packed_batch::size_of(messages[from].key, messages[from].data);
    return sum;
  }
  bool is_over() const noexcept { return put == (error ? composed : messages.size()); }
};

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

}  // namespace zkrecipes::detail
