#include "balance/pending_move.hpp"

#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include "session/operation.hpp"

namespace zkrecipes::detail {

pending_move::pending_move(const asio::any_io_executor& base, handler whose)
    : base_(asio::prefer(base, asio::execution::outstanding_work.tracked)),
      target_(asio::prefer(handler_executor(whose, base), asio::execution::outstanding_work.tracked)),
      handler_(std::move(whose)) {}

asio::cancellation_slot pending_move::slot() const { return asio::get_associated_cancellation_slot(handler_); }

/// The post keeps the handler out of the call that begins or ends the wait: an `any_completion_executor` can not be
/// asked for that.
void pending_move::complete(error_code result) {
  asio::post(base_, [target = std::move(target_), whose = std::move(handler_), result]() mutable {
    asio::dispatch(target, [whose = std::move(whose), result]() mutable { std::move(whose)(result); });
  });
}

void complete_all(std::list<std::shared_ptr<pending_move>>& moves, error_code result) {
  for (auto& each : moves) each->complete(result);
}

}  // namespace zkrecipes::detail
