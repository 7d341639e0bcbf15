// A consumer of a simulated queue that is killed, loses its connection, and does not learn what became of its commits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "rabbitmq/amqp_content.hpp"
#include "rabbitmq/queue_progress.hpp"

namespace zkrecipes::test {

// A quorum queue with a single active consumer, as far as its deliveries go: for tests without a broker.

/// It gives what was returned to it first, then the others, while fewer than `prefetch` are not acknowledged. The
/// connection takes its time: deliveries arrive when they are taken, acknowledgements when the test says so. The data
/// of a message is its number.
class simulated_queue {
 public:
  using delivery = detail::amqp_delivery;
  using acknowledgement = detail::delivery_tags::acknowledgement;

  explicit simulated_queue(std::size_t prefetch) : prefetch_(prefetch) {}

  /// Returns the number of the message.
  std::uint64_t put(const std::string& id) {
    ready_.push_back({++last_number_, id});
    deliver();
    return last_number_;
  }
  void connect() {
    is_connected_ = true;
    last_tag_ = 0;
    deliver();
  }
  /// Some of the acknowledgements that are on their way have arrived before, the others are lost.
  void disconnect(std::mt19937_64& random) {
    for (auto arrive = random() % (acknowledgements_.size() + 1); arrive > 0; --arrive) apply();
    is_connected_ = false;
    give_back();
    deliveries_.clear();
    acknowledgements_.clear();
  }
  /// The leader loses sight of the consumer for a moment: what is not acknowledged comes again on this connection, and
  /// what is said of the deliveries before means nothing any more.
  void flap() {
    give_back();
    deliver();
  }
  bool is_connected() const noexcept { return is_connected_; }

  std::optional<delivery> take() {
    if (deliveries_.empty()) return std::nullopt;
    auto first = std::move(deliveries_.front());
    deliveries_.pop_front();
    return first;
  }
  void acknowledge(const acknowledgement& what) { acknowledgements_.push_back(what); }
  /// The next acknowledgement arrives. False: there is none.
  bool let_arrive() {
    if (acknowledgements_.empty()) return false;
    apply();
    return true;
  }
  bool is_empty() const { return ready_.empty() && returned_.empty() && unacknowledged_.empty(); }

 private:
  struct stored {
    std::uint64_t number = 0;
    std::string id{};
    bool was_delivered = false;
  };

  void give_back() {
    for (auto& [tag, each] : unacknowledged_) returned_.push_back(std::move(each));
    unacknowledged_.clear();
  }
  void apply() {
    const auto what = acknowledgements_.front();
    acknowledgements_.pop_front();
    if (what.is_multiple)
      unacknowledged_.erase(unacknowledged_.begin(), unacknowledged_.upper_bound(what.tag));
    else
      unacknowledged_.erase(what.tag);
    deliver();
  }
  void deliver() {
    while (is_connected_ && unacknowledged_.size() < prefetch_ && !(returned_.empty() && ready_.empty())) {
      auto& from = returned_.empty() ? ready_ : returned_;
      auto next = std::move(from.front());
      from.pop_front();
      delivery made;
      made.tag = ++last_tag_;
      made.is_redelivered = std::exchange(next.was_delivered, true);
      made.id = next.id;
      made.data = std::to_string(next.number);
      deliveries_.push_back(std::move(made));
      unacknowledged_.emplace(last_tag_, std::move(next));
    }
  }

  std::size_t prefetch_;
  std::uint64_t last_number_ = 0;
  std::uint64_t last_tag_ = 0;
  bool is_connected_ = false;
  std::deque<stored> ready_;
  std::deque<stored> returned_;
  std::map<std::uint64_t, stored> unacknowledged_;  // by tag
  std::deque<delivery> deliveries_;                 // on their way to the consumer
  std::deque<acknowledgement> acknowledgements_;    // on their way to the queue
};

/// What it does is drawn from a seed. No message is handed out again once it has had its effect, none is lost, they are
/// handed out in order, and the memory stays short.
class random_consumer {
 public:
  random_consumer(std::uint64_t seed, bool has_flaps, bool has_unnamed)
      : random_(seed),
        has_flaps_(has_flaps),
        has_unnamed_(has_unnamed),
        prefetch_(1 + random_() % 8),
        queue_(prefetch_),
        progress_(prefetch_),
        stored_(detail::serialize(detail::delivery_memory())) {
    reopen();
  }

  void run() {
    for (int step = 0; step < 300; ++step) {
      act();
      check();
    }
    for (int step = 0; step < 20'000 && !is_quiet(); ++step) {
      go_on();
      check();
    }
    BOOST_TEST(is_quiet());
    for (const auto& [id, count] : put_) {
      BOOST_TEST(effects_[id] >= 1, id << " was lost");
      const bool is_ours = detail::parse_numbered_id(id).has_value();
      const int most = is_ours ? 1 : count;
      if (!is_unnamed(id)) BOOST_TEST(effects_[id] <= most, id << " has " << effects_[id] << " effects");
    }
  }
  std::uint64_t losses = 0;
  std::uint64_t repeats = 0;  // of the producer
  std::uint64_t forgotten = 0;

 private:
  static bool is_unnamed(const std::string& id) { return id.starts_with("unnamed "); }
  std::size_t draw(std::size_t below) { return random_() % below; }
  bool is_quiet() const { return queue_.is_empty() && ready_.empty() && in_hand_.empty(); }

  void act() {
    switch (draw(16)) {
      case 0: return put();
      case 1: return put();
      case 2: return put_again();
      case 3: return lose();
      case 4: return draw(3) == 0 ? reopen() : put();
      case 5: return has_flaps_ && queue_.is_connected() && draw(4) == 0 ? queue_.flap() : put();
      case 6: return fail();
      default: return go_on();
    }
  }
  void go_on() {
    if (!queue_.is_connected()) return queue_.connect();
    switch (draw(5)) {
      case 0: queue_.let_arrive(); return;
      case 1:
      case 2: return take();
      case 3: return hand_out();
      default: return commit();
    }
  }

  void put() {
    const auto what = draw(has_unnamed_ ? 4 : 3);
    const auto number = std::to_string(++last_);
    if (what == 3) return count_put("unnamed " + std::to_string(queue_.put("")));
    const auto producer = "zkr:p" + std::to_string(draw(2)) + ':' + std::to_string(1 + last_ / 40) + ':' + number;
    send(what == 0 ? "foreign " + number : producer);
  }
  void send(const std::string& id) {
    queue_.put(id);
    count_put(id);
  }
  void count_put(const std::string& id) {
    ++put_[id];
    ids_.push_back(id);
  }
  /// The producer has not learned that the broker has the message. It is one of ours, or the id is not unique.
  void put_again() {
    if (ids_.empty()) return;
    const auto id = ids_[ids_.size() - 1 - draw(std::min<std::size_t>(ids_.size(), 12))];
    if (is_unnamed(id)) return;
    ++repeats;
    send(id);
  }
  void lose() {
    ++losses;
    ++ends_since_fresh_;
    queue_.disconnect(random_);
    progress_.lose();
    ready_.clear();
    if (progress_.has_unnamed()) reopen();
  }
  /// Another process, or the same one that reads its memory again.
  void reopen() {
    ++ends_since_fresh_;
    if (queue_.is_connected()) queue_.disconnect(random_);
    auto read = detail::parse_delivery_memory(stored_);
    BOOST_TEST_REQUIRE(read.has_value());
    progress_.open(std::move(*read));
    ready_.clear();
    in_hand_.clear();
    last_handed_out_ = 0;
  }

  void take() {
    const auto what = queue_.take();
    if (!what) return;
    if (!what->is_redelivered) ends_since_fresh_ = 0;
    const auto before = progress_.memory().names().size();
    const auto name = progress_.take(*what);
    if (progress_.memory().names().size() < before) ++forgotten;
    const auto id = what->id.empty() ? "unnamed " + what->data : what->id;
    if (name) ready_.push_back({*name, id, std::stoull(what->data)});
    if (progress_.is_ambiguous() || progress_.is_far_behind()) return reopen();
    send_acknowledgements();
  }
  void hand_out() {
    if (ready_.empty()) return;
    const auto next = ready_.front();
    ready_.pop_front();
    const bool is_named = !is_unnamed(next.id);
    progress_.hand_out(next.name, is_named);
    BOOST_TEST_REQUIRE(in_hand_.emplace(next.name, next).second, next.name << " is handed out twice");
    if (is_named) BOOST_TEST_REQUIRE(!settled_.contains(next.number), next.name << " comes again");
    if (is_named) BOOST_TEST_REQUIRE(next.number > last_handed_out_, next.name << " is out of order");
    if (is_named) last_handed_out_ = next.number;
  }
  void fail() {
    if (in_hand_.empty()) return;
    auto next = progress_.memory();
    const auto name = in_hand_.begin()->first;
    next.fail(name, 1);
    stored_ = detail::serialize(next);
    progress_.fail(name, 1);
  }
  /// Some of what is in hand; at times nobody learns whether it was done.
  void commit() {
    std::vector<message_here> batch;
    for (const auto& [name, each] : in_hand_) {
      if (draw(2) == 0) batch.push_back(each);
    }
    if (batch.empty()) return;
    auto next = progress_.memory();
    for (const auto& each : batch) progress_.apply(next, each.name);
    const auto luck = draw(12);
    if (luck == 0) return reopen();  // it was not done
    stored_ = detail::serialize(next);
    for (const auto& each : batch) record_effect(each);
    if (luck == 1) return reopen();  // it was done, and the reply is lost
    for (const auto& each : batch) {
      progress_.settle(each.name);
      in_hand_.erase(each.name);
    }
    send_acknowledgements();
  }
  void send_acknowledgements() {
    if (!queue_.is_connected()) return;
    for (const auto& each : progress_.take_acknowledgements()) queue_.acknowledge(each);
  }

  struct message_here {
    std::string name;
    std::string id;
    std::uint64_t number = 0;
  };
  void record_effect(const message_here& which) {
    ++effects_[which.id];
    settled_.insert(which.number);
  }
  /// Names can be forgotten when a fresh message comes; a connection that ends before that adds some.
  void check() const {
    BOOST_TEST_REQUIRE(progress_.memory().names().size() <= (10 + 2 * ends_since_fresh_) * prefetch_);
    BOOST_TEST_REQUIRE(progress_.memory().failed_names().size() <= 4 * prefetch_);
  }

  std::mt19937_64 random_;
  bool has_flaps_;
  bool has_unnamed_;
  std::size_t prefetch_;
  simulated_queue queue_;
  detail::queue_progress progress_;
  std::string stored_;  // in ZooKeeper
  std::deque<message_here> ready_;
  std::map<std::string, message_here> in_hand_;
  std::uint64_t last_ = 0;
  std::uint64_t last_handed_out_ = 0;
  std::size_t ends_since_fresh_ = 0;  // of connections
  std::vector<std::string> ids_;      // of all that was put, in order
  std::map<std::string, int> put_;    // how often, by id
  std::map<std::string, int> effects_;
  std::set<std::uint64_t> settled_;  // messages that had their effect
};

}  // namespace zkrecipes::test
