// How a producer puts the messages of a run.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include <boost/asio.hpp>
#include <boost/system/system_error.hpp>

#include <zkrecipes/producer.hpp>
#include <zkrecipes/session.hpp>

#include "roles.hpp"
#include "workload.hpp"

namespace demo {

template <class Producer, class Handler>
void put(Producer& by, const workload& work, std::uint64_t number, Handler done) {
  by.async_put(work.key(number), work.text(number), std::move(done));
}

template <class Handler>
void put(zkrecipes::producer& by, const workload& work, std::uint64_t number, Handler done) {
  by.async_put(work.text(number), std::move(done));
}

/// How many messages earlier runs of this producer have put. Those of RabbitMQ do not know, and begin anew.
template <class Producer>
boost::asio::awaitable<std::uint64_t> put_before(Producer& by) {
  if constexpr (requires { by.async_last(boost::asio::use_awaitable); }) {
    co_return co_await by.async_last(boost::asio::use_awaitable);
  } else {
    co_return 0;
  }
}

/// Continues where an earlier run stopped. `Producer`: of a queue, of a topic, of streams, or of queues of RabbitMQ.
template <class Producer>
boost::asio::awaitable<void> put_all(Producer producer, const producer_settings& how, const workload& work) {
  namespace asio = boost::asio;
  auto session = producer.get_session();
  const auto put_so_far = co_await put_before(producer);
  std::uint64_t next = how.first + put_so_far;
  const auto last = how.last > 0 ? how.last : work.messages();
  const auto count_of_all = last - how.first + 1;
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer pace(session.get_executor());
  std::uint64_t finished = 0;
  zkrecipes::error_code failure;
  auto count = [&](zkrecipes::error_code error, auto...) {
    if (error) failure = error;
    ++finished;
  };
  const std::uint64_t expected = count_of_all - put_so_far;
  for (; next <= last; ++next) {
    pace.expires_at(begin + how.duration * (next - how.first - put_so_far + 1) / count_of_all);
    co_await pace.async_wait(asio::use_awaitable);
    put(producer, work, next, asio::bind_executor(session.get_executor(), count));
  }
  while (finished < expected) {
    pace.expires_after(std::chrono::milliseconds(5));
    co_await pace.async_wait(asio::use_awaitable);
  }
  if (failure) throw boost::system::system_error(failure, "put");
  co_await session.async_close(asio::use_awaitable);
}

/// Puts into the streams of Redis. \throws std::invalid_argument if this was built without the component `redis`.
boost::asio::awaitable<void> put_into_streams(zkrecipes::session session, const producer_settings& how,
                                              const workload& work);

/// Puts into the queues of RabbitMQ. \throws std::invalid_argument if this was built without the component `rabbitmq`.
boost::asio::awaitable<void> put_into_queues(zkrecipes::session session, const producer_settings& how,
                                             const workload& work);

}  // namespace demo
