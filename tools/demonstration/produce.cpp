// The producer: puts numbered messages, each exactly once even if servers fail.
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/zkrecipes.hpp>

#include "put_all.hpp"
#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> put_into_source(zkrecipes::session session, const workload& work,
                                      std::chrono::milliseconds duration, const std::string& broker) {
  if (!broker.empty()) return put_into_streams(session, work, duration, broker);
  if (work.shards()) {
    const zkrecipes::topic topic(session, source_path, topic_settings(work.shards()));
    return put_all(zkrecipes::topic_producer(topic, producer_name), work, duration);
  }
  return put_all(zkrecipes::producer(zkrecipes::queue(session, queue_path), producer_name), work, duration);
}

}  // namespace

int produce(const std::string& hosts, const workload& work, std::chrono::milliseconds duration,
            const std::string& broker) {
  asio::io_context io;
  int status = 0;
  zkrecipes::session session(io.get_executor(), session_options(hosts));
  asio::co_spawn(io, put_into_source(std::move(session), work, duration, broker), [&](std::exception_ptr failure) {
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
