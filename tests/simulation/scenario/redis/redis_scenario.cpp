#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <zkrecipes/redis/redis_producer.hpp>
#include <zkrecipes/redis/redis_streams.hpp>

#include "model/redis/redis_pair.hpp"
#include "run/scenarios.hpp"
#include "scenario/feed_worker.hpp"
#include "scenario/line_rules.hpp"
#include "scenario/redis/stream_rules.hpp"
#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

// Three processes consume the streams of a broker for one or two groups; of each stream and group one of them at a time
// is the leader. A fourth process puts messages with producers of one name, and a client that knows nothing of the
// library puts some, too.

inline constexpr int redis_putting_client = 3;

/// State that the programs of the scenario share.
class redis_scene final : public feed_duties {
 public:
  explicit redis_scene(stage& in_stage);

  redis_streams streams_over(const session& with) const { return {with, stream_rules::root, broker}; }
  /// The log of a session.
  void told(const log_event& what);

  int feeds() const override { return rules.feeds(); }
  std::string election(int feed) const override { return "/consumer-" + std::to_string(feed); }
  std::string results(int feed) const override { return stream_rules::results_of(feed); }
  message_feed open(int feed, const session& with) const override;
  const queue_consumer_options& options() const override { return consuming; }
  career_traits traits() const override { return traits_; }
  void inaugurated(int feed, int client, const term& present) override;
  void begun(int feed, const term& present, const message& item) override { rules.begun(feed, present, item); }
  void mend(int feed, const error_code& why, const session& with, operations& by, std::function<void()> then) override;

  stage& in;
  redis_options broker;
  queue_consumer_options consuming;
  std::deque<term_rules> terms;  // by feed
  std::deque<line_rules> lines;
  stream_rules rules;
  redis_pair brokers;

 private:
  career_traits traits_;
};

std::unique_ptr<program> make_redis_putter(redis_scene& of, session with);

using std::chrono::milliseconds;

namespace {

std::vector<std::string> draw_groups(std::uint64_t seed) {
  chance draw(seed, 2'901);
  return draw.one_in(2) ? std::vector<std::string>{"g"} : std::vector<std::string>{"g", "h"};
}

redis_options draw_redis(std::uint64_t seed) {
  chance draw(seed, 2'902);
  redis_options options;
  options.hosts = redis_pair::hosts();
  options.password = redis_pair::password;
  options.database = draw.one_in(2) ? 0 : 3;
  options.stream = "s";
  options.shards = 2;
  if (!draw.one_in(3)) options.groups = draw_groups(seed);
  options.regress = draw.one_in(2) ? redis_regress::go_on : redis_regress::stop_the_run;
  options.read_ahead = 1 + draw.below(8);
  options.timeout = milliseconds(300 + draw.below(1'700));
  options.retry.first_pause = milliseconds(20 + draw.below(100));
  options.retry.max_pause = options.retry.first_pause + milliseconds(draw.below(1'000));
  return options;
}

queue_consumer_options draw_redis_consuming(std::uint64_t seed) {
  chance draw(seed, 2'903);
  queue_consumer_options options;
  options.order = static_cast<message_order>(draw.below(3));
  options.window = draw.one_in(3) ? 1 : 2 + draw.below(12);
  if (options.order != message_order::strict) options.parallel = 1 + draw.below(options.window);
  options.retry.attempts = static_cast<std::int32_t>(1 + draw.below(4));
  options.retry.first = milliseconds(draw.below(300));
  options.retry.longest = options.retry.first + milliseconds(draw.below(1'000));
  options.retry.outage = milliseconds(chance(seed, 876).below(500));
  return options;
}

career_traits draw_redis_traits(std::uint64_t seed) {
  chance draw(seed, 2'904);
  return {.hand_over_deadline = milliseconds(draw.below(4) * 700),
          .aftermath = 0ms,
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

}  // namespace

redis_scene::redis_scene(stage& in_stage)
    : in(in_stage),
      broker(draw_redis(in.what().seed)),
      consuming(draw_redis_consuming(in.what().seed)),
      rules(in, broker, draw_groups(in.what().seed), consuming, terms),
      brokers(in.clock(), in.brokers(), in.what().seed, rules),
      traits_(draw_redis_traits(in.what().seed)) {
  for (int feed = 0; feed < feeds(); ++feed) {
    terms.emplace_back(in, election(feed));
    lines.emplace_back(in, election(feed));
  }
}

message_feed redis_scene::open(int feed, const session& with) const {
  return streams_over(with).feed(rules.shard_of(feed), rules.group_of(feed));
}

void redis_scene::inaugurated(int feed, int client, const term& present) {
  terms[static_cast<std::size_t>(feed)].inaugurated(client, present.epoch(), present.token());
}

/// A consumer names the stream first, and a producer its key.
void redis_scene::told(const log_event& what) {
  if (what.error != redis_errc::source_regressed) return;
  const std::string words(what.detail);
  in.notes().note(journal::ensemble, "told", words);
  if (!words.starts_with("the last message of the producer")) return rules.told(words.substr(0, words.find(": ")));
  in.require(rules.was_anything_lost(), "no loss is told where nothing was lost", words);
  rules.puts().told();
}

/// The operator decides that the group goes on with what is put from now on.
void redis_scene::mend(int feed, const error_code& why, const session& with, operations& by,
                       std::function<void()> then) {
  const bool stops = broker.regress == redis_regress::stop_the_run && rules.was_lost(rules.stream_of(feed));
  in.require(why == redis_errc::source_regressed && stops, "only a loss ends a run", why.message());
  auto streams = streams_over(with);
  by.start<>(
      [&](auto token) {
        streams.async_seek(rules.shard_of(feed), rules.group_of(feed), source_position::end(), std::move(token));
      },
      [then = std::move(then)](error_code) { then(); });
}

namespace {

constexpr std::uint64_t most_redis_calls = 6;  // puts under way

/// Puts with up to two objects of one name, which take it from each other, and as a client that knows nothing of the
/// library.
class redis_putter final : public session_program {
 public:
  redis_putter(redis_scene& of, session with)
      : session_program(of.in, redis_putting_client, std::move(with)),
        of_(of),
        chance_(of.in.what().seed, 300 + redis_putting_client),
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
  redis_streams streams_;
  bool has_rivals_;
  std::vector<object> objects_;
  std::uint64_t calls_ = 0;
  bool stopping_ = false;
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

/// The faults of the brokers, as the seed draws them.
class redis_faults {
 public:
  /// They strike while the plan has its faults.
  explicit redis_faults(redis_scene& of);

 private:
  enum class strike {
    crash,          ///< Killed, with everything kept.
    fail_over,      ///< The replica has everything.
    lose_writes,    ///< Killed, and what was written last is lost.
    lose_by_other,  ///< The replica has not got what was written last.
    stop,           ///< The broker stands still.
    refuse,         ///< It answers that it can not at present.
    lose_reply,     ///< A write is done, and its reply lost.
    remove,         ///< An operator deletes a stream.
  };
  static constexpr int strikes = static_cast<int>(strike::remove);  // those that are drawn like each other

  void plan(strike what);
  void begin(strike what);
  void lose(bool by_other, span behind, span away);
  bool is_time() const;
  void restart_later(span away);

  redis_scene& of_;
  chance chance_;
};

namespace {

constexpr const char* redis_strike_names[] = {"crash", "fail over", "lose writes", "fall behind",
                                              "stop",  "refuse",    "lose reply",  "delete stream"};

}  // namespace

redis_faults::redis_faults(redis_scene& of) : of_(of), chance_(of.in.what().seed, 2'995) {
  static_assert(std::size(redis_strike_names) == strikes + 1);
  std::vector<strike> kinds;
  for (int i = 0; i < strikes; ++i) {
    if (chance_.one_in(3)) kinds.push_back(static_cast<strike>(i));
  }
  if (!kinds.empty()) {
    for (auto left = 2 + chance_.below(14); left > 0; --left) plan(kinds[chance_.below(kinds.size())]);
  }
  if (chance_.one_in(5)) plan(strike::remove);
}

bool redis_faults::is_time() const { return of_.in.clock().now() < of_.in.what().faults_until; }

void redis_faults::plan(strike what) {
  const auto& times = of_.in.what();
  of_.in.clock().at(chance_.between(times.faults_from, times.faults_until - 1ms), [this, what] { begin(what); });
}

void redis_faults::restart_later(span away) {
  of_.in.clock().after(away, [this] { of_.brokers.restart(); });
}

void redis_faults::begin(strike what) {
  of_.in.notes().note(journal::ensemble, redis_strike_names[static_cast<int>(what)]);
  const auto lasting = chance_.one_in(3) ? chance_.between(10ms, 6s) : chance_.between(1ms, 1s);
  const auto behind = chance_.between(1ms, 3s);
  auto& brokers = of_.brokers;
  switch (what) {
    case strike::crash: brokers.crash(); return restart_later(lasting);
    case strike::fail_over: brokers.fail_over(); return restart_later(lasting);
    case strike::lose_writes:
    case strike::lose_by_other: return lose(what == strike::lose_by_other, behind, lasting);
    case strike::stop: brokers.stop(); return of_.in.clock().after(lasting, [this] { of_.brokers.wake(); });
    case strike::refuse:
      brokers.set(static_cast<redis_pair::trouble>(1 + chance_.below(4)));
      return of_.in.clock().after(lasting, [this] { of_.brokers.set(redis_pair::trouble::none); });
    case strike::lose_reply: return brokers.lose_reply();
    case strike::remove: return brokers.remove(of_.broker.stream + ':' + std::to_string(chance_.below(2)));
  }
}

void redis_faults::lose(bool by_other, span behind, span away) {
  of_.brokers.fall_behind();
  of_.in.clock().after(behind, [this, by_other, away] {
    if (!is_time()) return;
    by_other ? of_.brokers.fail_over() : of_.brokers.crash();
    restart_later(away);
  });
}

using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t least_settled = 10;  // after healing

class redis_scenario final : public scenario {
 public:
  explicit redis_scenario(stage& in) : scene_(in), faults_(scene_), weather_(in, 5s) {}

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == redis_putting_client) return make_redis_putter(scene_, std::move(with));
    return make_feed_worker(scene_, in, client, std::move(with));
  }
  int contenders() const override { return scene_.feeds(); }
  bool contends_for_each() const override { return true; }
  log_hook log_of(int) override {
    return [this](const log_event& what) { scene_.told(what); };
  }
  void committed(const entry& what) override {
    for (auto& each : scene_.terms) each.committed(what);
    for (auto& each : scene_.lines) each.committed(what);
    scene_.rules.committed(what);
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    for (auto& each : scene_.lines) each.watch_fired(to, event);
  }
  void healed() override {
    scene_.brokers.heal();
    scene_.in.brokers().heal();
    at_healing_ = scene_.rules.settled();
  }
  bool recovered() override { return scene_.rules.settled() >= at_healing_ + least_settled; }
  bool settled() override { return scene_.rules.unsettled().empty(); }
  void check_quiet(const tree& nodes) override {
    for (auto& each : scene_.terms) each.check_quiet(nodes);
    for (auto& each : scene_.lines) each.check_quiet(nodes);
    const auto left = scene_.rules.unsettled();
    scene_.in.require(left.empty(), "every entry that is kept is consumed", left);
    scene_.in.require(scene_.in.brokers().open_at_clients() == 0, "no connection to the broker is left");
  }

 private:
  redis_scene scene_;
  redis_faults faults_;
  broker_weather weather_;
  std::uint64_t at_healing_ = 0;
};

}  // namespace

std::unique_ptr<scenario> make_redis_scenario(stage& in) { return std::make_unique<redis_scenario>(in); }

}  // namespace zkrecipes::simulation
