#pragma once

#include <memory>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/error.hpp>

#include <zkrecipes/detail/within_limit.hpp>
#include <zkrecipes/error.hpp>

namespace zkrecipes::detail {

/// The handler of an operation with a limit, around that of the user.
template <class Handler>
class within_handler {
 public:
  using cancellation_slot_type = boost::asio::cancellation_slot;

  within_handler(Handler handler, std::shared_ptr<within_limit> limit)
      : handler_(std::move(handler)), limit_(std::move(limit)) {}

  cancellation_slot_type get_cancellation_slot() const noexcept { return limit_->slot(); }
  const Handler& get() const noexcept { return handler_; }

  template <class... Results>
  void operator()(error_code error, Results... results) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (slot.is_connected()) slot.clear();
    const bool is_late = std::exchange(limit_, nullptr)->stop();
    if (is_late && error == boost::asio::error::operation_aborted) error = errc::timed_out;
    std::move(handler_)(error, std::move(results)...);
  }

 private:
  Handler handler_;
  std::shared_ptr<within_limit> limit_;
};

}  // namespace zkrecipes::detail

/// \cond
// What else is associated with the user's handler is associated with ours.
template <template <class, class> class Associator, class Handler, class DefaultCandidate>
struct boost::asio::associator<Associator, zkrecipes::detail::within_handler<Handler>, DefaultCandidate>
    : Associator<Handler, DefaultCandidate> {
  static typename Associator<Handler, DefaultCandidate>::type get(
      const zkrecipes::detail::within_handler<Handler>& handler,
      const DefaultCandidate& candidate = DefaultCandidate()) noexcept {
    return Associator<Handler, DefaultCandidate>::get(handler.get(), candidate);
  }
};
/// \endcond
