#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/leader_career.hpp>
#include <zkrecipes/consumer/shard.hpp>
#include <zkrecipes/rabbitmq/rabbit_producer.hpp>
#include <zkrecipes/rabbitmq/rabbit_queues.hpp>

#include "model/rabbit/rabbit_cluster.hpp"
#include "rabbitmq/amqp_answer.hpp"
#include "run/scenarios.hpp"
#include "scenario/feed_worker.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/rabbit/rabbit_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// Three processes consume two queues of a broker; of each queue one of them at a time is the leader. A fourth process
// puts messages with two producers, and other clients of the broker put some with ids of their own, and some without.

inline constexpr int putting_client = 3;

/// State that the programs of the scenario share.
class rabbit_scene final : public feed_duties {
 public:
  explicit rabbit_scene(stage& in_stage);

  rabbit_queues queues_over(const session& with) const { return {with, "/rabbit", broker}; }
  static std::string queue_of(std::uint32_t shard) { return "q:" + std::to_string(shard); }
  /// The data of the next message of this publisher.
  std::string next_data(const std::string& publisher) {
    return publisher + ' ' + std::to_string(++published[publisher]);
  }

  int feeds() const override { return static_cast<int>(rabbit_shards); }
  std::string election(int feed) const override { return rabbit_rules::election_path(shard_of(feed)); }
  std::string results(int feed) const override { return rabbit_rules::result_path(shard_of(feed)); }
  message_feed open(int feed, const session& with) const override { return queues_over(with).feed(shard_of(feed)); }
  const queue_consumer_options& options() const override { return consuming; }
  career_traits traits() const override { return traits_; }
  void inaugurated(int feed, int client, const term& present) override;
  void begun(int, const term& present, const message& item) override { messages.begun(present, item); }
  bool kills(const std::string& data) const override { return messages.kills(data); }
  void mend(int feed, const error_code& why, const session& with, operations& by, std::function<void()> then) override;

  stage& in;
  rabbit_options broker;
  queue_consumer_options consuming;
  std::array<term_rules, rabbit_shards> terms;
  std::array<line_rules, rabbit_shards> lines;
  rabbit_rules messages;
  rabbit_cluster cluster;
  std::map<std::string, std::uint64_t> published;

 private:
  detail::delivery_limit limit_of_operators() const;
  static std::uint32_t shard_of(int feed) { return static_cast<std::uint32_t>(feed); }

  career_traits traits_;
};

std::unique_ptr<program> make_rabbit_putter(rabbit_scene& of, session with);

using std::chrono::milliseconds;

namespace {

rabbit_options draw_broker(std::uint64_t seed) {
  chance draw(seed, 1'980);
  rabbit_options options;
  options.hosts = rabbit_cluster::hosts();
  options.queue = "q";
  options.shards = rabbit_shards;
  options.prefetch = static_cast<std::uint32_t>(draw.one_in(4) ? 1 : 2 + draw.below(12));
  options.timeout = milliseconds(800 + draw.below(2'200));
  options.heartbeat = std::chrono::seconds(1 + draw.below(4));
  options.stall_timeout = milliseconds(300 + draw.below(1'200));
  options.retry.first_pause = milliseconds(20 + draw.below(200));
  options.retry.max_pause = options.retry.first_pause + milliseconds(draw.below(1'500));
  return options;
}

queue_consumer_options draw_consuming(std::uint64_t seed) {
  chance draw(seed, 1'981);
  queue_consumer_options options;
  const auto promise = draw.below(8);
  if (promise == 6) options.delivery = delivery_guarantee::at_least_once;
  if (promise == 7) options.delivery = delivery_guarantee::at_most_once;
  options.order = static_cast<message_order>(draw.below(3));
  options.window = draw.one_in(3) ? 1 : 2 + draw.below(12);
  if (options.order != message_order::strict) options.parallel = 1 + draw.below(options.window);
  if (options.order == message_order::none) options.key = [](const message& item) { return item.key; };
  options.retry.attempts = static_cast<std::int32_t>(1 + draw.below(4));
  options.retry.first = milliseconds(draw.below(300));
  options.retry.longest = options.retry.first + milliseconds(draw.below(1'000));
  options.retry.outage = milliseconds(chance(seed, 876).below(500));
  // Each attempt at a message that kills its process takes a time-out.
  if (rabbit_rules::has_killer(seed)) options.retry.attempts = std::min(options.retry.attempts, 2);
  return options;
}

career_traits draw_rabbit_traits(std::uint64_t seed) {
  chance draw(seed, 1'982);
  return {.hand_over_deadline = milliseconds(draw.below(4) * 700),
          .aftermath = 0ms,
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

}  // namespace

rabbit_scene::rabbit_scene(stage& in_stage)
    : in(in_stage),
      broker(draw_broker(in.what().seed)),
      consuming(draw_consuming(in.what().seed)),
      terms{term_rules(in, rabbit_rules::election_path(0)), term_rules(in, rabbit_rules::election_path(1))},
      lines{line_rules(in, rabbit_rules::election_path(0)), line_rules(in, rabbit_rules::election_path(1))},
      messages(in, consuming, broker, terms),
      cluster(in.clock(), in.brokers(), in.what().seed, messages),
      traits_(draw_rabbit_traits(in.what().seed)) {
  chance draw(in.what().seed, 1'984);
  for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
    if (draw.one_in(3)) cluster.declare(queue_of(shard), limit_of_operators());
  }
}

/// What the page of the recipe says. Queues of brokers before 4.0 need none, and those of earlier versions have none.
detail::delivery_limit rabbit_scene::limit_of_operators() const {
  return cluster.major_version() > 3 ? detail::unreachable_limit : detail::delivery_limit();
}

void rabbit_scene::inaugurated(int feed, int client, const term& present) {
  terms[shard_of(feed)].inaugurated(client, present.epoch(), present.token());
}

/// A consumer has told that its queue has gone: an operator makes it again, a while later.
void rabbit_scene::mend(int feed, const error_code& why, const session&, operations&, std::function<void()> then) {
  const bool has_gone = why == rabbit_errc::missing_queue && messages.was_deleted(shard_of(feed));
  in.require(has_gone, "a consumer fails only when its queue has gone", why.message());
  chance draw(in.what().seed, 1'983 + static_cast<std::uint64_t>(feed));
  in.clock().after(draw.between(200ms, 3s),
                   [this, feed] { cluster.declare(queue_of(shard_of(feed)), limit_of_operators()); });
  then();
}

namespace {

constexpr std::uint64_t most_calls = 8;   // puts under way
constexpr std::size_t most_waiting = 50;  // messages in the queues, so that a slow consumer comes to an end
constexpr const char* with_ids = "i";
constexpr const char* without_ids = "u";

/// Puts with two producers, and as clients that know nothing of the library. No message is put twice by this.
class rabbit_putter final : public session_program {
 public:
  rabbit_putter(rabbit_scene& of, session with)
      : session_program(of.in, putting_client, with),
        of_(of),
        chance_(of.in.what().seed, 300 + putting_client),
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
  rabbit_queues queues_;
  std::array<rabbit_producer, 2> producers_;
  std::uint64_t calls_ = 0;
  bool stopping_ = false;
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

/// The faults of the broker, as the seed draws them.
class rabbit_faults {
 public:
  /// They strike while the plan has its faults.
  explicit rabbit_faults(rabbit_scene& of);

 private:
  enum class strike {
    crash_node,    ///< Its clients hear of it.
    vanish_node,   ///< They do not.
    stop_node,     ///< It stands still.
    lose_leader,   ///< A queue has none for a time.
    lose_sight,    ///< A queue takes its consumer for lost for a moment.
    raise_alarm,   ///< Publishers are asked to stop.
    delete_queue,  ///< By an operator.
  };
  static constexpr int strikes = static_cast<int>(strike::delete_queue);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void end_later(span lasting, void (rabbit_cluster::*how)(int), int node);

  rabbit_scene& of_;
  chance chance_;
};

namespace {

constexpr const char* strike_names[] = {"crash node", "vanish node", "stop node",   "lose leader",
                                        "lose sight", "raise alarm", "delete queue"};

}  // namespace

rabbit_faults::rabbit_faults(rabbit_scene& of) : of_(of), chance_(of.in.what().seed, 1'995) {
  static_assert(std::size(strike_names) == strikes + 1);
  std::vector<strike> kinds;
  for (int i = 0; i < strikes; ++i) {
    if (chance_.one_in(3)) kinds.push_back(static_cast<strike>(i));
  }
  if (!kinds.empty()) {
    for (auto left = 4 + chance_.below(20); left > 0; --left) plan(kinds[chance_.below(kinds.size())]);
  }
  if (!chance_.one_in(4)) return;
  for (auto left = 1 + chance_.below(2); left > 0; --left) plan(strike::delete_queue);
}

void rabbit_faults::plan(strike what) {
  const auto& times = of_.in.what();
  of_.in.clock().at(chance_.between(times.faults_from, times.faults_until - 1ms), [this, what] { begin(what); });
}

void rabbit_faults::begin(strike what) {
  of_.in.notes().note(journal::ensemble, strike_names[static_cast<int>(what)]);
  const auto lasting = chance_.one_in(3) ? chance_.between(10ms, 9s) : chance_.between(1ms, 1500ms);
  const auto node = static_cast<int>(chance_.below(rabbit_cluster::nodes));
  const auto queue = of_.queue_of(static_cast<std::uint32_t>(chance_.below(rabbit_shards)));
  auto& cluster = of_.cluster;
  switch (what) {
    case strike::crash_node:
    case strike::vanish_node:
      cluster.crash(node, what == strike::crash_node);
      return end_later(lasting, &rabbit_cluster::restart, node);
    case strike::stop_node: cluster.stop(node); return end_later(lasting, &rabbit_cluster::wake, node);
    case strike::lose_leader:
      cluster.lose_leader(queue);
      return of_.in.clock().after(lasting, [this, queue] { of_.cluster.elect(queue); });
    case strike::lose_sight: return cluster.lose_sight(queue);
    case strike::raise_alarm:
      cluster.raise_alarm();
      return of_.in.clock().after(lasting, [this] { of_.cluster.end_alarm(); });
    case strike::delete_queue: return cluster.remove(queue);
  }
}

void rabbit_faults::end_later(span lasting, void (rabbit_cluster::*how)(int), int node) {
  of_.in.clock().after(lasting, [this, how, node] { (of_.cluster.*how)(node); });
}

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t least_acknowledged = 3;  // after healing, of each queue

class rabbit_scenario final : public scenario {
 public:
  explicit rabbit_scenario(stage& in) : scene_(in), faults_(scene_), weather_(in, 5s) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == putting_client) return make_rabbit_putter(scene_, std::move(with));
    return make_feed_worker(scene_, in, client, std::move(with));
  }
  int contenders() const override { return scene_.feeds(); }
  bool contends_for_each() const override { return true; }
  void committed(const entry& what) override {
    for (auto& each : scene_.terms) each.committed(what);
    for (auto& each : scene_.lines) each.committed(what);
    scene_.messages.committed(what);
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    for (auto& each : scene_.lines) each.watch_fired(to, event);
  }
  void healed() override {
    scene_.in.brokers().heal();
    scene_.cluster.heal();
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      at_healing_[shard] = scene_.messages.acknowledged(shard);
    }
  }
  bool recovered() override {
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      if (scene_.messages.acknowledged(shard) < at_healing_[shard] + least_acknowledged) return false;
    }
    return true;
  }
  bool settled() override {
    for (std::uint32_t shard = 0; shard < rabbit_shards; ++shard) {
      const auto queue = scene_.cluster.find(scene_.queue_of(shard));
      if (queue && !queue->is_idle()) return false;
    }
    return scene_.messages.waiting() == 0;
  }
  void check_quiet(const tree& nodes) override {
    for (auto& each : scene_.terms) each.check_quiet(nodes);
    for (auto& each : scene_.lines) each.check_quiet(nodes);
    scene_.in.require(settled(), "every message is consumed");
    scene_.in.require(scene_.in.brokers().open_at_clients() == 0, "no connection to the broker is left");
  }

 private:
  rabbit_scene scene_;
  rabbit_faults faults_;
  broker_weather weather_;
  std::array<std::uint64_t, rabbit_shards> at_healing_{};
};

}  // namespace

std::unique_ptr<scenario> make_rabbit_scenario(stage& in) { return std::make_unique<rabbit_scenario>(in); }

}  // namespace zkrecipes::simulation
