#include <array>
#include <optional>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/rabbitmq/rabbit_producer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "scenario/operations.hpp"
#include "scenario/rabbit/rabbit_scene.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint64_t most_calls = 8;   // puts under way
constexpr std::size_t most_waiting = 50;  // messages in the queues, so that a slow consumer comes to an end
constexpr const char* with_ids = "i";
constexpr const char* without_ids = "u";

/// Puts with two producers, and as clients that know nothing of the library. No message is put twice by this.
class rabbit_putter final : public program {
 public:
  rabbit_putter(rabbit_scene& of, session with)
      : of_(of),
        chance_(of.in.what().seed, 300 + putting_client),
        operations_(of.in, putting_client),
        zk_(std::make_unique<session>(with)),
        queues_(of.queues_over(with)),
        producers_{rabbit_producer(queues_, names[0]), rabbit_producer(queues_, names[1])} {
    put();
  }

  void cancel(asio::cancellation_type) override {}
  void stop() override {
    stopping_ = true;
    release();
  }
  bool idle() const override { return stopping_ && operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_->async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return {}; }

 private:
  static constexpr const char* names[] = {"a", "b"};

  void put();
  void put_by_producer();
  void put_one(std::size_t producer);
  void put_all(std::size_t producer);
  void put_plainly(const std::string& publisher);
  void count();
  void note(const std::vector<topic_message>& all, std::uint64_t put, error_code error);
  /// A producer keeps its connection as long as it exists.
  void release() {
    if (stopping_ && calls_ == 0) producers_ = {};
  }
  std::string draw_key() { return "k" + std::to_string(chance_.below(8)); }
  topic_message draw_message(std::size_t producer) { return {draw_key(), of_.next_data(names[producer])}; }

  rabbit_scene& of_;
  chance chance_;
  operations operations_;
  std::unique_ptr<session> zk_;
  rabbit_queues queues_;
  std::array<rabbit_producer, 2> producers_;
  std::uint64_t calls_ = 0;
  bool stopping_ = false;
  bool closed_ = false;
};

void rabbit_putter::put() {
  if (stopping_) return;
  const bool is_by_producer = chance_.one_in(2);
  const bool has_id = chance_.one_in(4);
  const bool has_none = chance_.one_in(6);
  if (of_.messages.waiting() < most_waiting) {
    if (is_by_producer) put_by_producer();
    if (has_id) put_plainly(with_ids);
    if (has_none) put_plainly(without_ids);
  }
  if (chance_.one_in(30)) count();
  of_.in.later(putting_client, chance_.between(50ms, 1400ms), [this] { put(); });
}

void rabbit_putter::put_by_producer() {
  if (calls_ >= most_calls) return;
  const auto producer = chance_.below(producers_.size());
  if (chance_.one_in(3)) return put_all(producer);
  for (auto left = 1 + chance_.below(2); left > 0; --left) put_one(producer);
}

void rabbit_putter::put_one(std::size_t producer) {
  const auto what = draw_message(producer);
  of_.messages.put(what.data);
  ++calls_;
  operations_.start<std::uint64_t>(
      [this, producer, what](auto token) { producers_[producer].async_put(what.key, what.data, std::move(token)); },
      [this, what](error_code error, std::uint64_t) { note({what}, error ? 0 : 1, error); });
}

void rabbit_putter::put_all(std::size_t producer) {
  std::vector<topic_message> all;
  for (auto left = 1 + chance_.below(6); left > 0; --left) all.push_back(draw_message(producer));
  for (const auto& each : all) of_.messages.put(each.data);
  ++calls_;
  operations_.start<std::uint64_t>(
      [this, producer, all](auto token) { producers_[producer].async_put_all(all, std::move(token)); },
      [this, all](error_code error, std::uint64_t count) {
        of_.in.require((count == all.size()) != bool(error), "a put of many is complete or has an error");
        note(all, count, error);
      });
}

void rabbit_putter::note(const std::vector<topic_message>& all, std::uint64_t put, error_code error) {
  --calls_;
  for (std::size_t i = 0; i < put; ++i) {
    of_.messages.confirmed(all[i].data, shard_of(all[i].key, rabbit_shards));
  }
  const bool has_gone = of_.messages.was_deleted(0) || of_.messages.was_deleted(1);
  const bool is_of_broker = error.category() == make_error_code(rabbit_errc::unavailable).category();
  of_.in.require(!is_of_broker || (error == rabbit_errc::missing_queue && has_gone), "a put waits for the broker",
                 error.message());
  release();
}

/// As a client of the broker's that puts into the queue by its name.
void rabbit_putter::put_plainly(const std::string& publisher) {
  detail::amqp_delivery what;
  what.key = draw_key();
  const auto queue = of_.queue_of(shard_of(what.key, rabbit_shards));
  if (!of_.cluster.find(queue)) return;
  what.data = of_.next_data(publisher);
  if (publisher == with_ids) what.id = "id-" + what.data.substr(what.data.find(' ') + 1);
  of_.cluster.put(queue, what);
}

void rabbit_putter::count() {
  operations_.start<std::vector<source_lag>>(
      [this](auto token) { queues_.async_lag(queues_.queue_group, std::move(token)); },
      [this](error_code error, std::vector<source_lag> lags) {
        const auto expected = error ? 0 : rabbit_shards;
        of_.in.require(lags.size() == expected, "each queue is counted", error.message());
      });
}

}  // namespace

std::unique_ptr<program> make_rabbit_putter(rabbit_scene& of, session with) {
  return std::make_unique<rabbit_putter>(of, std::move(with));
}

}  // namespace zkrecipes::simulation
