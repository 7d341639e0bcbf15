// An outlet into a queue or a topic.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/flow.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "outlet.hpp"

namespace service {

/// `Producer`: `zkrecipes::producer`, which ignores the key, or `zkrecipes::topic_producer`.
template <class Producer>
class producer_outlet : public outlet {
 public:
  explicit producer_outlet(Producer into) : into_(std::move(into)) {}

  boost::asio::awaitable<result> put(std::string key, std::string data,
                                     boost::asio::cancellation_slot cancelled) override {
    auto token = until(cancelled);
    if constexpr (std::same_as<Producer, zkrecipes::producer>)
      co_return co_await into_.async_put(std::move(data), token);
    else
      co_return co_await into_.async_put(std::move(key), std::move(data), token);
  }
  boost::asio::awaitable<result> last(boost::asio::cancellation_slot cancelled) override {
    auto token = until(cancelled);
    co_return co_await into_.async_last(token);
  }

 private:
  static auto until(boost::asio::cancellation_slot cancelled) {
    return boost::asio::bind_cancellation_slot(cancelled, boost::asio::as_tuple(boost::asio::use_awaitable));
  }

  Producer into_;
};

}  // namespace service
