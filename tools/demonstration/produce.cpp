// The producer: puts numbered messages, each exactly once even if servers fail.
#include <algorithm>
#include <iostream>

#include <boost/asio.hpp>

#include <zkrecipes/consumer.hpp>
#include <zkrecipes/zkrecipes.hpp>

#include "put_all.hpp"
#include "roles.hpp"

namespace demo {

namespace asio = boost::asio;

namespace {

asio::awaitable<void> put_into_source(zkrecipes::session session, const producer_settings& how, const workload& work) {
  if (how.source == source_kind::redis) return put_into_streams(session, how, work);
  if (how.source == source_kind::rabbitmq) return put_into_queues(session, how, work);
  if (how.source == source_kind::topic) {
    const zkrecipes::topic topic(session, topic_path, topic_settings(std::max<std::uint32_t>(work.shards(), 1)));
    return put_all(zkrecipes::topic_producer(topic, producer_name), how, work);
  }
  return put_all(zkrecipes::producer(zkrecipes::queue(session, queue_path), producer_name), how, work);
}

}  // namespace

int produce(const producer_settings& how, const workload& work) {
  asio::io_context io;
  int status = 0;
  zkrecipes::session session(io.get_executor(), session_options(how.hosts));
  asio::co_spawn(io, put_into_source(std::move(session), how, work), [&](std::exception_ptr failure) {
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
