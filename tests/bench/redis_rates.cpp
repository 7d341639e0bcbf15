// How many messages a second a consumer takes from a stream, beside two clients of hiredis: one that only reads the
// same stream, and one that is a consumer of a group of Redis, and acknowledges what it has read before it reads on.
// `redis_rates [MESSAGES [ROUNDS]]`, see source_rates.hpp. The messages have 100 bytes.
#include <memory>

#include <hiredis/hiredis.h>

#include <zkrecipes/redis/redis_streams.hpp>

#include <testcluster/redis_broker.hpp>

#include "redis/redis_client.hpp"
#include "source_rates.hpp"

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
class bare_reader {
 public:
  bare_reader(redis_client& by, std::size_t count) : by_(by), left_(count) {}

  double read() {
    const auto begun = rates::clock::now();
    std::string last = "0-0";
    while (left_ > 0) {
      const auto reply = by_.get({"XREAD", "COUNT", at_once, "BLOCK", "1000", "STREAMS", "orders:0", last});
      last = look_at(*reply).back();
    }
    return rates::since(begun);
  }
  /// As a consumer of a new group of the broker.
  double acknowledge(const std::string& group) {
    by_.get({"XGROUP", "CREATE", "orders:0", group, "0"});
    const auto begun = rates::clock::now();
    while (left_ > 0) {
      const auto reply =
          by_.get({"XREADGROUP", "GROUP", group, "c", "COUNT", at_once, "BLOCK", "1000", "STREAMS", "orders:0", ">"});
      std::vector<std::string> done{"XACK", "orders:0", group};
      for (auto& each : look_at(*reply)) done.push_back(std::move(each));
      by_.get(done);
    }
    const auto took = rates::since(begun);
    by_.get({"XGROUP", "DESTROY", "orders:0", group});
    return took;
  }

 private:
  static constexpr const char* at_once = "1000";

  /// The ids of the entries.
  std::vector<std::string> look_at(const redisReply& reply) {
    if (reply.type != REDIS_REPLY_ARRAY) throw std::runtime_error("the stream has too few entries");
    const auto& entries = *reply.element[0]->element[1];
    std::vector<std::string> ids;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < entries.elements; ++i) {
      const auto& fields = *entries.element[i]->element[1];
      for (std::size_t k = 0; k < fields.elements; ++k) bytes += fields.element[k]->len;
      ids.emplace_back(entries.element[i]->element[0]->str);
    }
    if (bytes < 100 * entries.elements) throw std::runtime_error("entries of somebody else");
    left_ -= entries.elements;
    return ids;
  }

  redis_client& by_;
  std::size_t left_;
};

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
  const auto read = [&] { return bare_reader(client, run.count()).read(); };
  const auto acknowledge = [&] { return bare_reader(client, run.count()).acknowledge("g" + std::to_string(++groups)); };
  run.compare(
      {{"reading", {}, read}, {"acknowledging", {}, acknowledge}, {"consumer", {}, [&] { return run.consume(feed); }}});
}
