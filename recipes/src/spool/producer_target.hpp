// What a topic and a queue have in common as targets of a spooled producer.
#pragma once

#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>

#include <zkrecipes/session.hpp>

#include "spool/cancellable_call.hpp"
#include "spool/spool_target.hpp"

namespace zkrecipes::detail {

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
