// How many messages a second a consumer takes from a stream, beside a client of hiredis that only reads the same
// stream: `redis_rates [MESSAGES [ROUNDS]]`, see sources/rates.hpp. The messages have 100 bytes.
#include "sources/rates.hpp"

#include <memory>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "redis/redis_client.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

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
  const auto begun = rates::clock::now();
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
  return rates::since(begun);
}

}  // namespace

int main(int argc, char** argv) {
  rates run(argc, argv);
  testcluster::redis_broker broker({.durability = testcluster::redis_durability::none});
  redis_client client(broker.address());
  fill(broker.address(), run.count());
  redis_options where;
  where.hosts = broker.address();
  where.stream = "orders";
  where.shards = 1;
  int groups = 0;
  const auto feed = [&](const session& zk) {
    return redis_streams(zk, "/streams", where).feed(0, "g" + std::to_string(++groups));
  };
  run.compare({{"bare", {}, [&] { return read_bare(client, run.count()); }},
               {"consumer", {}, [&] { return run.consume(feed); }}});
}
