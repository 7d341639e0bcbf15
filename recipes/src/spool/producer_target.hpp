// What a topic and a queue have in common as targets of a spooled producer.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <zkrecipes/session.hpp>

#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

/// A call of an operation that can be cancelled when its result is not needed any more.
/// One call at a time. On the strand.
class cancellable_call {
 public:
  /// The handler for the next call. It keeps the signal for as long as the operation may use it.
  auto begin(const boost::asio::any_io_executor& strand, spool_target::handler done) {
    signal_ = std::make_shared<boost::asio::cancellation_signal>();
    auto adapted = [done = std::move(done), keep = signal_](error_code error, std::uint64_t number) {
      done(error, number);
    };
    return boost::asio::bind_cancellation_slot(signal_->slot(), boost::asio::bind_executor(strand, std::move(adapted)));
  }
  void cancel() {
    if (const auto keep = signal_) keep->emit(boost::asio::cancellation_type::total);
  }

 private:
  std::shared_ptr<boost::asio::cancellation_signal> signal_;
};

/// Has the bounds of messages and of puts. A derived class has the producer.
class producer_target : public spool_target {
 public:
  struct bounds {
    std::size_t longest_key = 0;    ///< 0: messages have no keys.
    std::size_t room_for_path = 0;  ///< Bytes of a message that a long path takes.
    std::size_t most_messages = 0;  ///< A put has no more.
    std::size_t most_bytes = 0;     ///< The same for its bytes.
  };

  error_code check(const spool_row& what) const override;
  std::size_t most_messages() const noexcept override { return bounds_.most_messages; }
  std::size_t most_bytes() const noexcept override { return bounds_.most_bytes; }
  spool_outage outage() const override;
  void cancel() override { asking_.cancel(); }

 protected:
  /// \throws std::invalid_argument if the topic or queue has no session, because it was made by default.
  producer_target(const session& with, const bounds& limits);

  const boost::asio::any_io_executor& strand() const noexcept;
  /// The handler of a call of `last`, which `cancel` ends.
  auto ask(handler done) { return asking_.begin(strand(), std::move(done)); }

 private:
  bounds bounds_;
  std::shared_ptr<core> session_;
  std::size_t most_bytes_of_message_;
  cancellable_call asking_;
};

}  // namespace zkrecipes::detail
