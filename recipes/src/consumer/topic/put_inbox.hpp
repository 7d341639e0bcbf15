// Where the calls of a producer arrive, from any thread.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "topic/topic_put.hpp"

namespace zkrecipes::detail {

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
