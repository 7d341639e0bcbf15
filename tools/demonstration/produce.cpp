// The producer: puts numbered messages, each exactly once even if servers fail.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> put_all(zkrecipes::session session, const workload& work, std::chrono::milliseconds duration) {
  zkrecipes::producer producer(zkrecipes::queue(session, queue_path), producer_name);
  std::uint64_t next = 1 + co_await producer.async_last(asio::use_awaitable);
  const auto messages = work.messages();
  const auto begin = std::chrono::steady_clock::now();
  asio::steady_timer pace(session.get_executor());
  std::uint64_t put = 0;
  zkrecipes::error_code failure;
  auto count = [&](zkrecipes::error_code error, std::uint64_t) {
    if (error) failure = error;
    ++put;
  };
  const std::uint64_t expected = messages - (next - 1);
  for (; next <= messages; ++next) {
    pace.expires_at(begin + duration * next / messages);
    co_await pace.async_wait(asio::use_awaitable);
    producer.async_put(work.text(next), asio::bind_executor(session.get_executor(), count));
  }
  while (put < expected) {
    pace.expires_after(std::chrono::milliseconds(5));
    co_await pace.async_wait(asio::use_awaitable);
  }
  if (failure) throw boost::system::system_error(failure, "put");
  co_await session.async_close(asio::use_awaitable);
}

}  // namespace

int produce(const std::string& hosts, const workload& work, std::chrono::milliseconds duration) {
  asio::io_context io;
  int status = 0;
  zkrecipes::session session(io.get_executor(), session_options(hosts));
  asio::co_spawn(io, put_all(std::move(session), work, duration), [&](std::exception_ptr failure) {
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
