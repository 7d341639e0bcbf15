// How many messages a second a consumer takes from a queue, beside two clients of rabbitmq-c: one that only reads,
// because the broker takes each message for acknowledged when it has sent it, and one that acknowledges every hundred
// messages at once. `rabbit_rates [MESSAGES [ROUNDS]]`, see source_rates.hpp. The messages have 100 bytes, and ids as
// a `rabbit_producer` gives them. Everyone gets a queue of its own, because what is read leaves it.
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "rabbit/rabbit_client.hpp"
#include "source_rates.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::uint16_t prefetch = 1'000;
constexpr std::size_t acknowledged_at_once = 100;

/// One queue at a time.
class rates_queue {
 public:
  explicit rates_queue(const std::string& host) : host_(host), client_(host) {}

  std::string prefix() const { return "rates-" + std::to_string(number_); }
  std::string name() const { return prefix() + ":0"; }
  /// The next queue, with so many messages.
  void fill(std::size_t count) {
    if (number_ > 0) client_.remove(name());
    ++number_;
    client_.declare(name());
    std::vector<rabbit_post> some;
    for (std::size_t i = 1; i <= count; ++i) {
      some.push_back({.queue = name(),
                      .data = std::string(100, 'x'),
                      .id = "zkr:p:" + std::to_string(number_) + ':' + std::to_string(i),
                      .key = "k" + std::to_string(i % 100)});
      if (some.size() < 1'000 && i != count) continue;
      client_.put_all(some);
      some.clear();
    }
  }

  double read(std::size_t count) const { return take(count, true); }
  double acknowledge(std::size_t count) const { return take(count, false); }

 private:
  /// Looks at each part of each message.
  double take(std::size_t count, bool takes_at_once) const {
    const auto begun = rates::clock::now();
    const rabbit_channel from(host_, "guest");
    from.consume(name(), takes_at_once, takes_at_once ? 0 : prefetch);
    std::size_t bytes = 0;
    for (std::size_t i = 1; i <= count; ++i) {
      const auto each = from.next();
      bytes += each.data.size() + each.key.size() + each.id.size();
      const bool is_last_of_some = i % acknowledged_at_once == 0 || i == count;
      if (!takes_at_once && is_last_of_some) from.acknowledge(each.tag, true);
    }
    if (bytes < 100 * count) throw std::runtime_error("messages of somebody else");
    return rates::since(begun);
  }

  std::string host_;
  rabbit_client client_;
  int number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  rates run(argc, argv);
  testcluster::rabbit_broker broker;
  rates_queue queue(broker.address());
  const auto fill = [&] { queue.fill(run.count()); };
  const auto feed = [&](const session& zk) {
    rabbit_options where;
    where.hosts = broker.address();
    where.queue = queue.prefix();
    where.prefetch = prefetch;
    return rabbit_queues(zk, "/" + queue.prefix(), where).feed(0);
  };
  run.compare({{"reading", fill, [&] { return queue.read(run.count()); }},
               {"acknowledging", fill, [&] { return queue.acknowledge(run.count()); }},
               {"consumer", fill, [&] { return run.consume(feed); }}});
}
