// The completion of an `async_enter`, with its executor.
#pragma once

#include <utility>

#include <boost/asio/any_completion_executor.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>

#include <zkrecipes/detail/initiate.hpp>
#include <zkrecipes/flow/gate.hpp>

#include "session/handler_executor.hpp"

namespace zkrecipes::detail {

class gate_caller {
 public:
  using handler = handler_for<void(error_code, gate_pass)>;

  gate_caller(boost::asio::any_io_executor base, handler whose)
      : base_(boost::asio::prefer(std::move(base), boost::asio::execution::outstanding_work.tracked)),
        whose_(std::move(whose)),
        target_(
            boost::asio::prefer(handler_executor(whose_, base_), boost::asio::execution::outstanding_work.tracked)) {}

  boost::asio::cancellation_slot cancellation_slot() const noexcept {
    return boost::asio::get_associated_cancellation_slot(whose_);
  }

  /// Calls the handler on its executor, later. At most once. A pass whose handler is never called, because its context
  /// is destroyed before, is left.
  void tell(error_code error, gate_pass pass = {}) {
    auto call = [h = std::move(whose_), error, pass = std::move(pass)]() mutable {
      std::move(h)(error, std::move(pass));
    };
    boost::asio::post(base_, [target = std::move(target_), call = std::move(call)]() mutable {
      boost::asio::dispatch(target, std::move(call));
    });
  }

 private:
  boost::asio::any_io_executor base_;
  handler whose_;
  boost::asio::any_completion_executor target_;
};

}  // namespace zkrecipes::detail
