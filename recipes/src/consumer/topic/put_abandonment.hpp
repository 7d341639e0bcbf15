// The end of a producer's coroutine that did not come in order.
#pragma once

#include <functional>
#include <utility>

namespace zkrecipes::detail {

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

}  // namespace zkrecipes::detail
