#include "scenario/coordinator.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <zkrecipes/consumer/topic_producer.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>

#include "line/line_spec.hpp"
#include "run/stage.hpp"
#include "scenario/routine.hpp"
#include "scenario/term_rules.hpp"

namespace zkrecipes::simulation {

/// An operator who puts the dead letters of parked keys back.
/// In the client of the filler. It looks for parked keys a few times while there are faults, and once behind them, when
/// a revival that was interrupted has to be completed. A part of a program, which outlives it.
class reviver {
 public:
  /// `under_way` counts the operators who have not done with their last look. A program that is told to stop has to let
  /// them: a key that was revived in part waits for the rest.
  reviver(stage& in, int number, queue which, operations& with, int& under_way);
  ~reviver() { set_busy(false); }
  reviver(const reviver&) = delete;
  reviver& operator=(const reviver&) = delete;

 private:
  void look();
  void revive();
  void set_busy(bool busy);
  void looks_again();

  stage& in_;
  chance chance_;
  queue queue_;
  operations& operations_;
  std::uint64_t looks_left_;
  std::vector<parked_key> keys_;
  int& under_way_;
  bool is_busy_ = false;
  bool was_last_ = false;
};

reviver::reviver(stage& in, int number, queue which, operations& with, int& under_way)
    : in_(in),
      chance_(in.what().seed, 874 + static_cast<std::uint64_t>(number)),
      queue_(std::move(which)),
      operations_(with),
      looks_left_(chance_.below(4)),
      under_way_(under_way) {
  set_busy(true);
  looks_again();
}

void reviver::looks_again() {
  if (was_last_) return set_busy(false);
  const auto left = in_.what().faults_until - in_.clock().now();
  was_last_ = looks_left_ == 0 || left <= 0ms;
  if (!was_last_) --looks_left_;
  const auto when =
      was_last_ ? std::max<span>(left, 0ms) + 1ms : std::min<span>(chance_.between(500ms, 20s), left + 1ms);
  in_.later(producing_client, when, [this] { look(); });
}

void reviver::look() {
  operations_.start<std::vector<parked_key>>([this](auto token) { queue_.async_parked_keys(std::move(token)); },
                                             [this](error_code error, std::vector<parked_key> keys) {
                                               if (error) return in_.later(producing_client, 1s, [this] { look(); });
                                               keys_ = std::move(keys);
                                               revive();
                                             });
}

void reviver::revive() {
  if (keys_.empty()) return looks_again();
  operations_.start<std::size_t>([this](auto token) { queue_.async_revive_key(keys_.back(), std::move(token)); },
                                 [this](error_code error, std::size_t) {
                                   const bool is_done = !error || error == errc::no_node;
                                   if (is_done) keys_.pop_back();
                                   in_.later(producing_client, is_done ? 0ms : 1s, [this] { revive(); });
                                 });
}

void reviver::set_busy(bool busy) {
  under_way_ += static_cast<int>(busy) - static_cast<int>(std::exchange(is_busy_, busy));
}

using namespace std::chrono_literals;

namespace {

/// Puts 1, 2, 3 ... After a restart it goes on behind the last number that the queue has from it.
class filler final : public session_program {
 public:
  filler(consumers& of, stage& in, session with)
      : session_program(in, producing_client, with),
        in_(in),
        chance_(in.what().seed, 300 + producing_client),
        is_topic_(of.is_topic) {
    if (is_topic_) {
      topic_producer_options options;
      options.max_batch = 1 + chance_.below(3);
      topic_producer_ = topic_producer(of.topic_over(with), "filler", options);
      by_ = &topic_producer_;
    } else {
      producer_ = producer(queue(with, service::queue_path), "filler");
      for (int number : {0, 1}) {
        revivers_.push_back(
            std::make_unique<reviver>(in, number, queue(with, service::queue_path), operations_, of.revivals));
      }
    }
    begin();
  }

  void cancel(asio::cancellation_type) override {}
  void stop() override { stopping_ = true; }

 private:
  void begin() {
    operations_.start<std::uint64_t>(
        [this](auto token) {
          is_topic_ ? topic_producer_.async_last(std::move(token)) : producer_.async_last(std::move(token));
        },
        [this](error_code error, std::uint64_t last) {
          if (stopping_) return;
          if (error) return in_.later(producing_client, 100ms, [this] { begin(); });
          next_ = last + 1;
          put();
        });
  }

  /// One item; several messages of a topic, which travel in one batch if they can.
  void put() {
    if (stopping_) return;
    left_ = burst_ = is_topic_ ? 1 + chance_.below(5) : 1;
    has_failed_ = false;
    const auto first = std::exchange(next_, next_ + left_);
    if (is_topic_ && chance_.below(2) == 0) return put_all(first);
    for (auto each = first; each < next_; ++each) put_one(each);
  }

  void put_all(std::uint64_t first) {
    std::vector<topic_message> all;
    for (auto each = first; each < next_; ++each) all.push_back({std::to_string(each), std::to_string(each)});
    operations_.start<std::uint64_t>([this, all](auto token) { by_->async_put_all(all, std::move(token)); },
                                     [this](error_code error, std::uint64_t count) {
                                       in_.require(count == burst_ || (error && count < burst_),
                                                   "the number of a message is known", std::to_string(count));
                                       left_ = 0;
                                       has_failed_ = bool(error);
                                       go_on();
                                     });
  }

  void put_one(std::uint64_t expected) {
    operations_.start<std::uint64_t>(
        [this, data = std::to_string(expected)](auto token) {
          by_->async_put(is_topic_ ? data : std::string(), data, std::move(token));
        },
        [this, expected](error_code error, std::uint64_t number) {
          has_failed_ = has_failed_ || error;
          if (!error) in_.require(number == expected, "the number of a message is known", std::to_string(number));
          if (--left_ == 0) go_on();
        });
  }

  void go_on() {
    if (has_failed_) return in_.later(producing_client, 100ms, [this] { begin(); });
    in_.later(producing_client, chance_.between(50ms, 1500ms) * burst_, [this] { put(); });
  }

  stage& in_;
  chance chance_;
  bool is_topic_;
  producer producer_;
  topic_producer topic_producer_;
  producer_base* by_ = &producer_;                  // the one that is used
  std::vector<std::unique_ptr<reviver>> revivers_;  // two operators, who can revive the same key at the same time
  std::uint64_t next_ = 1;
  std::uint64_t burst_ = 1;
  std::uint64_t left_ = 0;  // puts under way
  bool has_failed_ = false;
  bool stopping_ = false;
};

}  // namespace

std::unique_ptr<program> make_filler(consumers& of, stage& in, session with) {
  return std::make_unique<filler>(of, in, std::move(with));
}

namespace {

constexpr std::uint64_t least_after_healing = 5;

std::chrono::milliseconds draw_aftermath(std::uint64_t seed) {
  chance draw(seed, 804);
  return draw.one_in(2) ? 0ms : std::chrono::milliseconds(draw.below(2000));
}

career_traits draw_traits(std::uint64_t seed) {
  chance draw(seed, 801);
  const auto limit = 400ms + std::chrono::milliseconds(draw.below(600));
  return {.hand_over_deadline = std::chrono::milliseconds(draw.below(4) * 700),
          .aftermath = draw_aftermath(seed),
          .finish_message_in_hand = !draw.one_in(3),
          .stall_limit = draw.one_in(3) ? limit : 0ms,
          .work_while_suspended = !draw.one_in(5)};
}

/// What was consumed goes at once, is kept for a while, or stays.
topic_options draw_topic(std::uint64_t seed) {
  chance draw(seed, 803);
  topic_options options{.shards = 1};
  const auto what = draw.below(4);
  if (what < 3) options.retention.groups = {service::group};
  if (what == 2) options.retention.age = 1s;
  return options;
}

class coordinator_scenario final : public scenario {
 public:
  coordinator_scenario(stage& in, bool from_topic) : all_(in, from_topic), in_(in), chance_(in.what().seed, 802) {
    if (chance_.one_in(4)) meddle(&coordinator_scenario::overwrite_record);
    if (chance_.one_in(3)) meddle(&coordinator_scenario::delete_message);
    if (chance_.one_in(3)) meddle(&coordinator_scenario::ask_all_to_resign);
  }

  std::unique_ptr<program> start(stage& in, int client, session with) override {
    if (client == producing_client) return make_filler(all_, in, std::move(with));
    return make_worker(all_, in, client, std::move(with));
  }
  void committed(const entry& what) override {
    all_.terms.committed(what);
    begun_.committed(what, service::election_path, service::election_path);
    all_.messages.committed(what);
    all_.line.committed(what);
    if (all_.terms.overwritten()) all_.calls.forgive_overlaps();
  }
  void watch_fired(const connection& to, const backend::watch_event& event) override {
    all_.line.watch_fired(to, event);
  }
  std::optional<std::vector<detail::held_term>> told_of(std::int64_t session) const override {
    return begun_.of(session);
  }
  void healed() override { at_healing_ = all_.messages.settled(); }
  bool recovered() override { return all_.messages.settled() >= at_healing_ + least_after_healing; }
  bool settled() override { return all_.revivals == 0 && all_.messages.all_settled(); }
  void check_quiet(const tree& nodes) override {
    all_.terms.check_quiet(nodes);
    all_.messages.check_quiet();
  }

 private:
  /// An operator does it up to four times.
  void meddle(void (coordinator_scenario::*how)()) {
    for (std::uint64_t times = 1 + chance_.below(4); times > 0; --times) {
      const auto when = chance_.between(in_.what().faults_from, in_.what().faults_until);
      in_.clock().at(when, [this, how] { (this->*how)(); });
    }
  }

  /// With nothing, or with what is no record: then somebody sees to it a while later.
  void overwrite_record() {
    if (!in_.servers().committed_state().find(service::election_path)) return;
    const bool with_garbage = chance_.one_in(2);
    in_.servers().write(service::election_path, with_garbage ? "not a record" : "");
    if (with_garbage) in_.clock().after(chance_.between(100ms, 5s), [this] { mend_record(); });
  }

  /// Again and again: a write can be lost with the ensemble's leader, and what was written before it can come later.
  void mend_record() {
    const auto* record = in_.servers().committed_state().find(service::election_path);
    if (record && record->data == "not a record") in_.servers().write(service::election_path, "");
    in_.clock().after(2s, [this] { mend_record(); });
  }

  /// The first one: it is in somebody's hands.
  void delete_message() {
    const std::string folder = all_.is_topic ? service::shard_path : service::queue_path;
    const auto* queue = in_.servers().committed_state().find(folder);
    if (!queue) return;
    for (const auto& name : queue->children) {
      if (name.starts_with(all_.is_topic ? "b-" : "qn-")) return in_.servers().remove(folder + '/' + name);
    }
  }

  /// Each candidate, so that those who are next in line are asked before their term begins, too.
  void ask_all_to_resign() {
    const auto& nodes = in_.servers().committed_state();
    const auto* line = nodes.find(service::election_path);
    if (!line) return;
    for (const auto& name : line->children) {
      const auto path = std::string(service::election_path) + '/' + name;
      in_.servers().write(path, detail::with_revocation(nodes.find(path)->data));
    }
  }

  consumers all_;
  begun_terms begun_;
  stage& in_;
  chance chance_;
  std::uint64_t at_healing_ = 0;
};

}  // namespace

consumers::consumers(stage& in, bool from_topic)
    : is_topic(from_topic),
      of_topic(draw_topic(in.what().seed)),
      traits(draw_traits(in.what().seed)),
      terms(in, service::election_path),
      messages(in, terms, service::election_path, service::queue_path, service::result_path, from_topic),
      calls(in, traits.hand_over_deadline),
      line(in, service::election_path) {}

std::unique_ptr<scenario> make_coordinator_scenario(stage& in) {
  return std::make_unique<coordinator_scenario>(in, false);
}

std::unique_ptr<scenario> make_topic_scenario(stage& in) { return std::make_unique<coordinator_scenario>(in, true); }

}  // namespace zkrecipes::simulation
