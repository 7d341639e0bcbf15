#include <optional>
#include <utility>
#include <vector>

#include <zkrecipes/redis/redis_producer.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

#include "scenario/operations.hpp"
#include "scenario/redis/redis_scene.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint64_t most_redis_calls = 6;  // puts under way

/// Puts with up to two objects of one name, which take it from each other, and as a client that knows nothing of the
/// library.
class redis_putter final : public program {
 public:
  redis_putter(redis_scene& of, session with)
      : of_(of),
        chance_(of.in.what().seed, 300 + redis_putting_client),
        operations_(of.in, redis_putting_client),
        zk_(std::move(with)),
        streams_(of.streams_over(zk_)),
        has_rivals_(chance(of.in.what().seed, 2'980).one_in(2)) {
    objects_.push_back(make_object());
    put();
  }

  void cancel(asio::cancellation_type) override {}
  void stop() override {
    stopping_ = true;
    release();
  }
  bool idle() const override { return stopping_ && operations_.pending() == 0; }
  void close() override {
    operations_.start<>([this](auto token) { zk_.async_close(std::move(token)); },
                        [this](error_code) { closed_ = true; });
  }
  bool finished() const override { return closed_ && operations_.pending() == 0; }
  std::string own_node() const override { return {}; }

 private:
  struct object {
    redis_producer producer;
    std::uint64_t origin = 0;
    std::uint64_t made = 0;  // messages
  };

  object make_object() { return {redis_producer(streams_, "p"), of_.rules.puts().begin()}; }
  topic_message next(object& by);
  void put();
  void put_one(object& by);
  void put_all(object& by);
  void ask(object& by);
  void put_plainly();
  void conclude(const std::vector<topic_message>& all, std::uint64_t put, const error_code& error);
  /// A producer keeps its connection as long as it exists.
  void release() {
    if (stopping_ && calls_ == 0) objects_.clear();
  }

  redis_scene& of_;
  chance chance_;
  operations operations_;
  session zk_;
  redis_streams streams_;
  bool has_rivals_;
  std::vector<object> objects_;
  std::uint64_t calls_ = 0;
  bool stopping_ = false;
  bool closed_ = false;
};

topic_message redis_putter::next(object& by) {
  const put_mark mark{by.origin, ++by.made};
  return {'k' + std::to_string(chance_.below(6)), mark.text()};
}

void redis_putter::put() {
  if (stopping_) return;
  if (has_rivals_ && chance_.one_in(8)) {
    if (objects_.size() > 1) objects_.erase(objects_.begin());
    objects_.push_back(make_object());
  }
  auto& by = chance_.one_in(4) ? objects_.front() : objects_.back();
  if (calls_ < most_redis_calls) {
    const auto what = chance_.below(8);
    if (what == 0) ask(by);
    if (what == 1 || what == 2) put_all(by);
    if (what > 2) put_one(by);
  }
  if (chance_.one_in(4)) put_plainly();
  of_.in.later(redis_putting_client, chance_.between(5ms, 600ms), [this] { put(); });
}

void redis_putter::put_one(object& by) {
  const auto what = next(by);
  ++calls_;
  operations_.start<std::uint64_t>(
      [&](auto token) { by.producer.async_put(what.key, what.data, std::move(token)); },
      [this, what](error_code error, std::uint64_t) { conclude({what}, error ? 0 : 1, error); });
}

void redis_putter::put_all(object& by) {
  std::vector<topic_message> all;
  for (auto left = 1 + chance_.below(6); left > 0; --left) all.push_back(next(by));
  ++calls_;
  operations_.start<std::uint64_t>([&](auto token) { by.producer.async_put_all(all, std::move(token)); },
                                   [this, all](error_code error, std::uint64_t count) {
                                     of_.in.require((count == all.size()) != bool(error),
                                                    "a put of many is complete or has an error");
                                     conclude(all, count, error);
                                   });
}

void redis_putter::ask(object& by) {
  ++calls_;
  operations_.start<std::uint64_t>([&](auto token) { by.producer.async_last(std::move(token)); },
                                   [this](error_code error, std::uint64_t) { conclude({}, 0, error); });
}

void redis_putter::conclude(const std::vector<topic_message>& all, std::uint64_t put, const error_code& error) {
  auto& rules = of_.rules.puts();
  --calls_;
  for (std::size_t i = 0; i < put; ++i) rules.acknowledged(all[i].data);
  if (error == errc::superseded) {
    for (std::size_t i = put; i < all.size(); ++i) rules.refused(all[i].data);
  }
  const bool is_loss = error == redis_errc::source_regressed;
  const bool stops = of_.broker.regress == redis_regress::stop_the_run && of_.rules.was_anything_lost();
  if (is_loss) rules.told();
  const bool is_of_broker = error.category() == redis_category();
  of_.in.require(!is_of_broker || (is_loss && stops), "a put waits for the broker", error.message());
  release();
}

/// As any client of Redis does.
void redis_putter::put_plainly() {
  const auto mark = of_.rules.puts().next_bare();
  const auto key = 'k' + std::to_string(chance_.below(6));
  const auto stream = streams_.stream_of(streams_.shard_of(key));
  if (of_.brokers.put(stream, key, mark.text())) of_.rules.puts().acknowledged(mark.text());
}

}  // namespace

std::unique_ptr<program> make_redis_putter(redis_scene& of, session with) {
  return std::make_unique<redis_putter>(of, std::move(with));
}

}  // namespace zkrecipes::simulation
