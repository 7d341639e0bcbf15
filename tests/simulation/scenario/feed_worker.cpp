#include "scenario/feed_worker.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "scenario/routine.hpp"

namespace zkrecipes::simulation {

using side = broker_wire::side;

broker_weather::broker_weather(stage& in, span longest) : in_(in), chance_(in.what().seed, 1'130), longest_(longest) {
  if (chance_.one_in(4)) return;
  for (auto left = 1 + chance_.below(20); left > 0; --left) {
    in_.clock().at(chance_.between(in_.what().faults_from, in_.what().faults_until), [this] { strike(); });
  }
}

void broker_weather::strike() {
  const auto all = in_.brokers().wires();
  if (all.empty()) return;
  const auto& which = all[chance_.below(all.size())];
  in_.notes().note(which->client(), "broker's connection", "struck", static_cast<std::int64_t>(which->number()));
  if (chance_.one_in(2)) return freeze(which);
  which->cut(static_cast<broker_wire::notice>(chance_.below(4)));
}

void broker_weather::freeze(const broker_wire_ptr& which) {
  const auto how = chance_.below(3);
  if (how != 0) which->freeze(side::client);
  if (how != 1) which->freeze(side::broker);
  in_.clock().after(chance_.between(10ms, longest_), [which] { which->thaw(); });
}

namespace {

/// The trouble that a message makes is decided by the seed and its data.
enum class feed_trouble { none, fails_at_first, asks_again, holds_off, is_parked, has_bad_effects, kinds };

feed_trouble feed_trouble_of(std::uint64_t seed, const std::string& data) {
  std::uint64_t sum = seed;
  for (const char each : data) sum = sum * 31 + static_cast<unsigned char>(each);
  chance draw(sum, 1'101);
  if (!draw.one_in(6)) return feed_trouble::none;
  return static_cast<feed_trouble>(1 + draw.below(static_cast<std::uint64_t>(feed_trouble::kinds) - 1));
}

class feed_worker;

class feed_career final : public queue_consumer {
 public:
  feed_career(feed_worker& of, int feed);

  career_traits traits() const override;
  asio::awaitable<void> inaugurate(term present) override;
  asio::awaitable<message_outcome> process(term now, const message& item) override {
    return handle(std::move(now), item);
  }

  std::optional<term> present;

 private:
  asio::awaitable<message_outcome> handle(term now, message item);

  feed_worker& of_;
  int feed_;
};

class feed_worker final : public session_program {
 public:
  feed_worker(feed_duties& of, stage& in_stage, int number, session with);

  void cancel(asio::cancellation_type type) override;
  void stop() override;
  std::string own_node() const override;
  belief believes(int feed) const override;

  const session& zk() const noexcept { return zk_; }

  feed_duties& all;
  stage& in;
  int client;
  chance mood;

 private:
  /// One feed.
  struct lane {
    std::unique_ptr<feed_career> career;
    std::unique_ptr<consumer_coordinator> coordinator;
    asio::cancellation_signal running;
    bool was_cancelled = false;
  };

  void prepare(int feed);
  void run(int feed);
  void run_ended(int feed, const error_code& error);
  void rest(int feed);
  lane& at(int feed) const { return *lanes_[static_cast<std::size_t>(feed)]; }

  std::vector<std::unique_ptr<lane>> lanes_;
  bool stopping_ = false;
};

feed_career::feed_career(feed_worker& of, int feed)
    : queue_consumer(of.all.open(feed, of.zk()), of.all.options()), of_(of), feed_(feed) {}

career_traits feed_career::traits() const { return of_.all.traits(); }

asio::awaitable<void> feed_career::inaugurate(term now) {
  of_.in.notes().note(of_.client, "inaugurates", of_.all.election(feed_), now.epoch());
  of_.all.inaugurated(feed_, of_.client, now);
  present = now;
  co_await queue_consumer::inaugurate(now);
}

asio::awaitable<message_outcome> feed_career::handle(term now, message item) {
  of_.all.begun(feed_, now, item);
  of_.in.notes().note(of_.client, "processes", item.name, item.attempts);
  auto asleep = nap(of_.in, of_.client, of_.mood.between(0ms, of_.mood.one_in(30) ? 3s : 150ms));
  co_await std::move(asleep);
  if (of_.all.kills(item.data)) {
    of_.in.crash(of_.client);
    auto dying = nap(of_.in, of_.client, 24h);
    co_await std::move(dying);
  }
  const auto trouble = feed_trouble_of(of_.in.what().seed, item.data);
  const bool is_first = item.attempts == 1;
  if (trouble == feed_trouble::fails_at_first && is_first) throw std::runtime_error("a mood");
  if (trouble == feed_trouble::asks_again && is_first) co_return message_outcome::again(50ms, "not yet");
  if (trouble == feed_trouble::holds_off && of_.mood.one_in(2)) co_return message_outcome::hold_off(100ms, "later");
  if (trouble == feed_trouble::is_parked) co_return message_outcome::park("never");
  if (of_.all.options().delivery != delivery_guarantee::effectively_once) co_return message_outcome::done();
  transaction effects;
  if (trouble == feed_trouble::has_bad_effects) effects.set("/nowhere", "");
  const auto where = of_.all.results(feed_);
  effects.check(where);  // so that the sets of a commit are not merged: the rules count each of them
  co_return effects.set(where, std::to_string(now.epoch()) + ' ' + item.name + ' ' + item.data);
}

feed_worker::feed_worker(feed_duties& of, stage& in_stage, int number, session with)
    : session_program(in_stage, number, std::move(with)),
      all(of),
      in(in_stage),
      client(number),
      mood(in.what().seed, 1'120 + static_cast<std::uint64_t>(number)) {
  for (int feed = 0; feed < all.feeds(); ++feed) {
    auto& made = lanes_.emplace_back(std::make_unique<lane>());
    made->career = std::make_unique<feed_career>(*this, feed);
    consumer_coordinator_options options;
    options.id = "worker-" + std::to_string(client);
    made->coordinator = std::make_unique<consumer_coordinator>(zk_, all.election(feed), options);
    prepare(feed);
  }
}

void feed_worker::prepare(int feed) {
  operations_.start<>([this, feed](auto token) { zk_.async_ensure_path(all.results(feed), std::move(token)); },
                      [this, feed](error_code error) { error && !stopping_ ? prepare(feed) : run(feed); });
}

void feed_worker::run(int feed) {
  if (stopping_) return;
  auto& which = at(feed);
  operations_.start<>(
      which.running, [&which](auto token) { which.coordinator->async_run(*which.career, std::move(token)); },
      [this, feed](error_code error) { run_ended(feed, error); });
}

/// The error of the source that has ended a run.
error_code failure_of_feed(const consumer_coordinator& which, std::string& words) {
  try {
    std::rethrow_exception(which.failure());
  } catch (const boost::system::system_error& failure) {
    words = failure.what();
    return failure.code();
  } catch (const std::exception& failure) {
    words = failure.what();
    return errc::career_failed;
  }
}

void feed_worker::run_ended(int feed, const error_code& error) {
  auto& which = at(feed);
  if (error != errc::career_failed) {
    in.notes().note(client, "run ends", error.message());
    const bool ends_well = !error && (stopping_ || std::exchange(which.was_cancelled, false));
    in.require(ends_well || (error == errc::closed && stopping_), "a run goes on until it is stopped", error.message());
    return rest(feed);
  }
  std::string words;
  const auto why = failure_of_feed(*which.coordinator, words);
  in.notes().note(client, "run ends", words);
  all.mend(feed, why, zk_, operations_, [this, feed] { rest(feed); });
}

void feed_worker::rest(int feed) {
  if (!stopping_) in.later(client, mood.between(50ms, 500ms), [this, feed] { run(feed); });
}

void feed_worker::stop() {
  stopping_ = true;
  for (const auto& each : lanes_) each->coordinator->stop();
}

/// The run of one feed.
void feed_worker::cancel(asio::cancellation_type type) {
  auto& which = at(static_cast<int>(mood.below(lanes_.size())));
  if (type != asio::cancellation_type::terminal) return which.coordinator->resign();
  which.was_cancelled = true;
  which.running.emit(type);
}

std::string feed_worker::own_node() const {
  const auto own = in.servers().committed_state().ephemerals(zk_.status().session_id);
  return own.empty() ? std::string() : own.front();
}

belief feed_worker::believes(int feed) const {
  auto& here = in.inside(client);
  const auto& present = at(feed).career->present;
  if (!present || here.now() >= present->valid_until()) return {};
  return {true, here.true_time(present->valid_until()), present->token()};
}

}  // namespace

std::unique_ptr<program> make_feed_worker(feed_duties& of, stage& in, int client, session with) {
  return std::make_unique<feed_worker>(of, in, client, std::move(with));
}

}  // namespace zkrecipes::simulation
