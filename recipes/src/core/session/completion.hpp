#pragma once

#include <exception>
#include <memory>
#include <new>
#include <tuple>
#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/errc.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/error.hpp>

#include "session/relay.hpp"
#include "session/scheduler.hpp"

namespace zkrecipes::detail {

/// The result of an operation's body: the arguments of the user's handler.
template <class... Results>
using outcome = std::tuple<error_code, Results...>;

/// The completion handler of an operation's coroutine. It is called on the strand, and calls the user's handler once,
/// on the handler's executor and outside of the strand. It is one pointer, because a coroutine holds several copies.
template <class... Results>
class completion {
 public:
  using handler_type = handler_for<void(error_code, Results...)>;
  using executor_type = asio::any_io_executor;
  using cancellation_slot_type = asio::cancellation_slot;

  /// `target`, the handler's executor, keeps its context running. `cancellation`, if any, outlives the coroutine.
  completion(const scheduler& on, handler_type handler, asio::any_completion_executor target,
             std::shared_ptr<relay> cancellation)
      : parts_(std::make_shared<parts>(on.shared_from_this(), std::make_shared<handler_type>(std::move(handler)),
                                       std::move(target), std::move(cancellation))) {}

  const executor_type& get_executor() const noexcept { return parts_->on->strand; }
  cancellation_slot_type get_cancellation_slot() const noexcept {
    return parts_->cancellation ? parts_->cancellation->signal.slot() : asio::cancellation_slot();
  }

  void operator()(std::exception_ptr failure, outcome<Results...> result) const {
    if (failure) std::get<0>(result) = error_of(failure);
    auto call = [handler = std::move(parts_->handler), result = std::move(result)]() mutable {
      std::apply(std::move(*handler), std::move(result));
    };
    asio::post(parts_->on->base, [target = parts_->target, call = std::move(call)]() mutable {
      asio::dispatch(target, std::move(call));
    });
  }

 private:
  /// Any other exception leaves `run()`.
  static error_code error_of(std::exception_ptr failure) {
    try {
      std::rethrow_exception(failure);
    } catch (const std::bad_alloc&) {
      return make_error_code(boost::system::errc::not_enough_memory);
    }
  }

  struct parts {
    parts(std::shared_ptr<const scheduler> where, std::shared_ptr<handler_type> whose, asio::any_completion_executor to,
          std::shared_ptr<relay> by)
        : on(std::move(where)), handler(std::move(whose)), target(std::move(to)), cancellation(std::move(by)) {
      ++on->operations;
    }
    parts(const parts&) = delete;
    ~parts() { --on->operations; }

    std::shared_ptr<const scheduler> on;
    std::shared_ptr<handler_type> handler;
    asio::any_completion_executor target;
    std::shared_ptr<relay> cancellation;
  };
  std::shared_ptr<parts> parts_;
};

}  // namespace zkrecipes::detail
