// A call of an operation that can be cancelled when its result is not needed any more.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

/// One call at a time. On the strand.
class cancellable_call {
 public:
  /// The handler for the next call. It keeps the signal for as long as the operation may use it.
  auto begin(const boost::asio::any_io_executor& strand, spool_target::handler done) {
    signal_ = std::make_shared<boost::asio::cancellation_signal>();
    auto tell = [done = std::move(done), keep = signal_](error_code error, std::uint64_t number) {
      done(error, number);
    };
    return boost::asio::bind_cancellation_slot(signal_->slot(), boost::asio::bind_executor(strand, std::move(tell)));
  }
  void cancel() {
    if (const auto keep = signal_) keep->emit(boost::asio::cancellation_type::total);
  }

 private:
  std::shared_ptr<boost::asio::cancellation_signal> signal_;
};

}  // namespace zkrecipes::detail
