// The producer: puts numbered messages, each exactly once even if servers fail.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

template <class Handler>
void put(zkrecipes::producer& by, const workload& work, std::uint64_t number, Handler done) {
  by.async_put(work.text(number), std::move(done));
}

template <class Handler>
void put(zkrecipes::topic_producer& by, const workload& work, std::uint64_t number, Handler done) {
  by.async_put(work.key(number), work.text(number), std::move(done));
}

/// `Producer`: of a queue, or of a topic.
template <class Producer>
asio::awaitable<void> put_all(Producer producer, const workload& work, std::chrono::milliseconds duration) {
  auto session = producer.get_session();
  std::uint64_t next = 1 + co_await producer.async_last(asio::use_awaitable);
  const auto messages = work.messages();
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer pace(session.get_executor());
  std::uint64_t finished = 0;
  zkrecipes::error_code failure;
  auto count = [&](zkrecipes::error_code error, std::uint64_t) {
    if (error) failure = error;
    ++finished;
  };
  const std::uint64_t expected = messages - (next - 1);
  for (; next <= messages; ++next) {
    pace.expires_at(begin + duration * next / messages);
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

asio::awaitable<void> put_into_source(zkrecipes::session session, const workload& work,
                                      std::chrono::milliseconds duration) {
  if (work.shards()) {
    const zkrecipes::topic topic(session, topic_path, topic_settings(work.shards()));
    return put_all(zkrecipes::topic_producer(topic, producer_name), work, duration);
  }
  return put_all(zkrecipes::producer(zkrecipes::queue(session, queue_path), producer_name), work, duration);
}

}  // namespace

int produce(const std::string& hosts, const workload& work, std::chrono::milliseconds duration) {
  asio::io_context io;
  int status = 0;
  zkrecipes::session session(io.get_executor(), session_options(hosts));
  asio::co_spawn(io, put_into_source(std::move(session), work, duration), [&](std::exception_ptr failure) {
    if (!failure) return;
    status = 1;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      std::cerr << "producer: " << error.what() << '\n';
    }
  });
  io.run();
  return status;
}

}  // namespace demo
