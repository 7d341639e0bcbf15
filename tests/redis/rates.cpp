// How many messages a second a consumer takes from a stream, beside a client of hiredis that only reads the same
// stream.
//   redis_rates [MESSAGES [ROUNDS]]        200 000 messages of 100 bytes, 3 rounds
// One ZooKeeper server, one Redis server, one stream. The effect of each message is a set of one path, so a commit is
// one set, the move of the position and the check of the term. Prints one line a round. On a machine that others use,
// the processor time of a message says more than the rates.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <memory>

#include <hiredis/hiredis.h>
#include <sys/resource.h>

#include <boost/asio.hpp>

#include <zkrecipes/consumer_coordinator.hpp>
#include <zkrecipes/queue_consumer.hpp>
#include <zkrecipes/redis_streams.hpp>

#include <testcluster/ensemble.hpp>
#include <testcluster/redis_broker.hpp>

#include "redis/redis_client.hpp"
#include "support/coroutine.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using clock_type = std::chrono::steady_clock;

/// Processor time of this process, in seconds.
double processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& of) {
    return static_cast<double>(of.tv_sec) + 1e-6 * static_cast<double>(of.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

double since(clock_type::time_point begun) { return std::chrono::duration<double>(clock_type::now() - begun).count(); }

class counting_consumer final : public queue_consumer {
 public:
  counting_consumer(const message_feed& from, std::size_t wanted, std::function<void()> done)
      : queue_consumer(from, {.window = 2'000}), wanted_(wanted), done_(std::move(done)) {}

  asio::awaitable<message_outcome> process(term, const message&) override {
    if (++seen_ == wanted_) done_();
    co_return transaction().set("/total", std::to_string(seen_));
  }

 private:
  std::size_t wanted_;
  std::size_t seen_ = 0;
  std::function<void()> done_;
};

void fill(const std::string& address, std::size_t count) {
  const auto colon = address.find(':');
  const std::unique_ptr<redisContext, void (*)(redisContext*)> to(
      redisConnect(address.substr(0, colon).c_str(), std::stoi(address.substr(colon + 1))), &redisFree);
  const std::string data(100, 'x');
  constexpr std::size_t at_once = 1'000;
  for (std::size_t i = 0; i < count; ++i) {
    redisAppendCommand(to.get(), "XADD orders:0 * key k%d data %s", static_cast<int>(i % 100), data.c_str());
    if ((i + 1) % at_once != 0 && i + 1 != count) continue;
    for (auto left = i % at_once + 1; left > 0; --left) {
      void* reply = nullptr;
      if (redisGetReply(to.get(), &reply) != REDIS_OK) throw std::runtime_error("the broker is gone");
      freeReplyObject(reply);
    }
  }
}

/// Reads all, and looks at each field of each entry.
double read_bare(redis_client& by, std::size_t count) {
  const auto begun = clock_type::now();
  std::string last = "0-0";
  std::size_t seen = 0, bytes = 0;
  while (seen < count) {
    const auto reply = by.get({"XREAD", "COUNT", "1000", "BLOCK", "1000", "STREAMS", "orders:0", last});
    if (reply->type != REDIS_REPLY_ARRAY) throw std::runtime_error("the stream has too few entries");
    const auto& entries = *reply->element[0]->element[1];
    for (std::size_t i = 0; i < entries.elements; ++i) {
      const auto& fields = *entries.element[i]->element[1];
      for (std::size_t k = 0; k < fields.elements; ++k) bytes += fields.element[k]->len;
    }
    seen += entries.elements;
    last = entries.element[entries.elements - 1]->element[0]->str;
  }
  if (bytes == 0) throw std::runtime_error("no data");
  return static_cast<double>(count) / since(begun);
}

double consume(const std::string& hosts, const redis_options& where, const std::string& group, std::size_t count) {
  asio::io_context io;
  session zk(io, {.hosts = hosts});
  bool is_done = false;
  counting_consumer career(redis_streams(zk, "/streams", where).feed(0, group), count, [&] { is_done = true; });
  consumer_coordinator leader(zk, "/leader", {.id = "rates"});
  recorder<> ended(io.get_executor());
  const auto begun = clock_type::now();
  leader.async_run(career, ended.token());
  run_until(
      io, [&] { return is_done && career.status().done == count; }, 10min);
  const auto rate = static_cast<double>(count) / since(begun);
  const auto commits = career.status().commits;
  leader.stop();
  run_until(io, [&] { return ended.done(); });
  if (!is_done) throw std::runtime_error("the consumer is not done: " + ended.error().message());
  std::cout << "commits " << commits << ", ";
  return rate;
}

}  // namespace

int main(int argc, char** argv) {
  const auto count = static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 200'000);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  testcluster::ensemble ensemble({.servers = 1});
  testcluster::redis_broker broker({.durability = testcluster::redis_durability::none});
  redis_client client(broker.address());
  fill(broker.address(), count);
  {
    asio::io_context io;
    session zk(io, {.hosts = ensemble.hosts()});
    for (const auto* each : {"/total", "/leader"}) {
      run_coroutine(io, [](session by, std::string path) -> asio::awaitable<bool> {
        co_await by.async_create(path, "", create_mode::persistent, asio::use_awaitable);
        co_return true;
      }(zk, each));
    }
  }
  redis_options where;
  where.hosts = broker.address();
  where.stream = "orders";
  where.shards = 1;
  for (int round = 0; round < rounds; ++round) {
    const auto begun = processor_time();
    const auto bare = read_bare(client, count);
    const auto between = processor_time();
    const auto ours = consume(ensemble.hosts(), where, "g" + std::to_string(round), count);
    const auto per_message = 1e6 / static_cast<double>(count);
    std::cout << "bare " << static_cast<long>(bare) << " messages/s, consumer " << static_cast<long>(ours)
              << " messages/s, ratio " << ours / bare << "; processor time of a message: bare "
              << (between - begun) * per_message << " us, consumer " << (processor_time() - between) * per_message
              << " us" << std::endl;
  }
}
