// What a producer sends next, and what the broker's confirms are about.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "rabbitmq/queue_publisher.hpp"
#include "rabbitmq/rabbit_producer_state.hpp"

using namespace zkrecipes::detail;

namespace {

using places = std::vector<std::uint64_t>;

constexpr std::size_t bytes_of_one = 10;

/// Sends all that may be sent. Tags are counted as those of a connection.
class publishing {
 public:
  queue_publisher sender{};

  std::uint64_t add(std::uint32_t shard) { return sender.add(shard, bytes_of_one); }
  places send(bool is_single = false) {
    places all;
    while (const auto place = sender.next(is_single)) {
      sender.on_sent(*place, ++tag_);
      all.push_back(*place);
    }
    return all;
  }
  places take(std::uint64_t tag, bool is_multiple = false) { return sender.confirm({tag, is_multiple, true}); }
  places reject(std::uint64_t tag, bool is_multiple = false) { return sender.confirm({tag, is_multiple, false}); }
  void connect_anew() {
    sender.begin_anew();
    tag_ = 0;
  }

 private:
  std::uint64_t tag_ = 0;
};

/// With so many messages under way, and a first one that is confirmed.
publishing with_under_way(std::size_t count) {
  publishing all;
  all.sender.on_declared(0);
  for (std::size_t i = 0; i <= count; ++i) all.add(0);
  all.send();
  all.take(1);
  all.send();
  return all;
}

/// Queues that take what is sent in its order, but for the first message of a connection, which they may reject.
class careless_queues {
 public:
  explicit careless_queues(std::uint64_t seed) : random_(seed) {}

  void run(std::size_t count) {
    for (std::uint32_t shard = 0; shard < queues; ++shard) model_.sender.on_declared(shard);
    for (std::size_t step = 0; step < 100'000 && !is_done(count); ++step) {
      if (added_ < count && one_in(2)) add();
      if (one_in(2)) send_one();
      if (one_in(3)) process_one();
      if (one_in(4)) answer_some();
      if (one_in(50) || is_stuck()) lose_connection();
    }
    BOOST_TEST_REQUIRE(is_done(count));
    BOOST_TEST(confirmed_.size() + forgotten_.size() == count);
    BOOST_TEST(model_.sender.under_way() == 0u);
    for (const auto& [shard, all] : taken_) BOOST_TEST(std::ranges::is_sorted(all));
  }

 private:
  static constexpr std::uint32_t queues = 4;
  struct answer {
    std::uint64_t tag;
    bool is_taken;
  };

  bool one_in(std::uint64_t of) { return random_() % of == 0; }
  bool is_done(std::size_t count) const { return added_ == count && model_.sender.is_empty(); }
  bool is_stuck() const { return model_.sender.is_rejected() && model_.sender.under_way() == 0; }

  void add() {
    if (!model_.sender.has_room(bytes_of_one)) return;
    ++added_;
    const auto shard = static_cast<std::uint32_t>(random_() % queues);
    const auto place = model_.add(shard);
    shards_[place] = shard;
    if (one_in(20)) {
      forgotten_.insert(place);
      model_.sender.forget(place);
    }
  }

  void send_one() {
    const auto place = model_.sender.next(false);
    if (!place) return;
    BOOST_TEST(!forgotten_.contains(*place));
    const auto shard = shards_[*place];
    const bool is_first = !proven_.contains(shard);
    const auto same = [this, shard](const auto& each) { return shards_[each.second] == shard; };
    BOOST_TEST((!is_first || std::ranges::none_of(unanswered_, same)));
    unanswered_[++tag_] = *place;
    sent_.push_back(tag_);
    model_.sender.on_sent(*place, tag_);
  }

  void process_one() {
    if (sent_.empty()) return;
    const auto tag = sent_.front();
    sent_.erase(sent_.begin());
    const auto place = unanswered_.at(tag);
    const auto shard = shards_[place];
    const bool is_first = begun_.insert(shard).second;
    const bool is_taken = !is_first || !one_in(4);
    if (is_taken && known_.insert(place).second) taken_[shard].push_back(place);
    answers_.push_back({tag, is_taken});
  }

  /// Those of one kind in front: one by one, or with one answer.
  void answer_some() {
    if (answers_.empty()) return;
    const bool is_taken = answers_.front().is_taken;
    const bool is_multiple = one_in(2);
    std::size_t count = 1;
    while (is_multiple && count < answers_.size() && answers_[count].is_taken == is_taken) ++count;
    const auto last = answers_[count - 1].tag;
    for (const auto place : model_.sender.confirm({last, is_multiple, is_taken})) {
      BOOST_TEST(known_.contains(place));
      BOOST_TEST(confirmed_.insert(place).second);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto place = unanswered_.at(answers_[i].tag);
      if (is_taken) proven_.insert(shards_[place]);
      unanswered_.erase(answers_[i].tag);
    }
    answers_.erase(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  void lose_connection() {
    model_.sender.begin_anew();
    tag_ = 0;
    sent_.clear();
    answers_.clear();
    unanswered_.clear();
    begun_.clear();
    proven_.clear();
  }

  std::mt19937_64 random_;
  publishing model_;
  std::size_t added_ = 0;
  std::uint64_t tag_ = 0;
  std::map<std::uint64_t, std::uint32_t> shards_;
  std::set<std::uint64_t> forgotten_;
  std::set<std::uint64_t> confirmed_;
  std::set<std::uint64_t> known_;                      // in its queue
  std::map<std::uint32_t, places> taken_;              // without repeats, as a consumer sees them
  std::map<std::uint64_t, std::uint64_t> unanswered_;  // place by tag
  std::vector<std::uint64_t> sent_;                    // tags that the broker has not seen
  std::vector<answer> answers_;                        // on their way to us
  std::set<std::uint32_t> begun_;                      // queues that have seen a message of the connection
  std::set<std::uint32_t> proven_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_publishing)

BOOST_AUTO_TEST_CASE(nothing_is_sent_into_a_queue_that_is_not_declared) {
  publishing all;
  all.add(3);
  all.add(5);
  BOOST_TEST(all.send().empty());
  BOOST_TEST((all.sender.undeclared() == std::optional<std::uint32_t>(3)));
  all.sender.on_declared(3);
  BOOST_TEST((all.sender.undeclared() == std::optional<std::uint32_t>(5)));
  BOOST_TEST(all.send() == (places{1}), boost::test_tools::per_element());
  all.sender.on_declared(5);
  BOOST_TEST(!all.sender.undeclared().has_value());
  all.connect_anew();
  BOOST_TEST(!all.sender.undeclared().has_value());  // once in its life
}

BOOST_AUTO_TEST_CASE(the_first_message_of_each_queue_is_alone) {
  publishing all;
  for (const auto shard : {0u, 0u, 1u, 0u, 1u}) all.add(shard);
  all.sender.on_declared(0);
  all.sender.on_declared(1);
  BOOST_TEST(all.send() == (places{1, 3}), boost::test_tools::per_element());
  BOOST_TEST(all.take(1) == (places{1}), boost::test_tools::per_element());
  BOOST_TEST(all.send() == (places{2, 4}), boost::test_tools::per_element());
  all.add(0);  // the queue is proven
  BOOST_TEST(all.send() == (places{6}), boost::test_tools::per_element());
  BOOST_TEST(all.take(2) == (places{3}), boost::test_tools::per_element());
  BOOST_TEST(all.send() == (places{5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_confirm_is_about_one_message_or_all_up_to_it) {
  auto all = with_under_way(5);
  BOOST_TEST(all.take(4) == (places{4}), boost::test_tools::per_element());
  BOOST_TEST(all.take(4).empty());
  BOOST_TEST(all.take(99).empty());
  BOOST_TEST(all.take(5, true) == (places{2, 3, 5}), boost::test_tools::per_element());
  BOOST_TEST(all.sender.under_way() == 1u);
  BOOST_TEST(all.sender.oldest_tag() == 6u);
  BOOST_TEST((all.sender.lone() == std::optional<std::uint64_t>(6)));
  BOOST_TEST(all.take(0, true) == (places{6}), boost::test_tools::per_element());
  BOOST_TEST(all.sender.is_empty());
  BOOST_TEST(all.sender.oldest_tag() == 0u);
}

BOOST_AUTO_TEST_CASE(what_is_rejected_waits_for_the_next_connection) {
  auto all = with_under_way(4);
  BOOST_TEST(all.reject(3).empty());
  BOOST_TEST(all.sender.is_rejected());
  all.add(0);
  BOOST_TEST(all.send().empty());
  BOOST_TEST(all.take(5, true) == (places{2, 4, 5}), boost::test_tools::per_element());
  BOOST_TEST(all.sender.under_way() == 0u);
  all.connect_anew();
  BOOST_TEST(!all.sender.is_rejected());
  BOOST_TEST(all.send() == (places{3}), boost::test_tools::per_element());
  all.take(1);
  BOOST_TEST(all.send() == (places{6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(many_are_rejected_at_once) {
  auto all = with_under_way(3);
  BOOST_TEST(all.reject(3, true).empty());
  BOOST_TEST(all.take(4) == (places{4}), boost::test_tools::per_element());
  all.connect_anew();
  BOOST_TEST(all.send() == (places{2}), boost::test_tools::per_element());
  all.take(1);
  BOOST_TEST(all.send() == (places{3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_lost_connection_leaves_all_that_is_not_confirmed) {
  auto all = with_under_way(queue_publisher::most_messages - 1);
  BOOST_TEST(all.sender.under_way() == queue_publisher::most_messages - 1);
  BOOST_TEST(all.take(3) == (places{3}), boost::test_tools::per_element());
  all.connect_anew();
  BOOST_TEST(all.send() == (places{2}), boost::test_tools::per_element());
  BOOST_TEST(all.take(3).empty());  // a tag of the connection before
  all.take(1);
  const auto rest = all.send();
  BOOST_TEST(rest.size() == queue_publisher::most_messages - 3);
  BOOST_TEST(rest.front() == 4u);
  BOOST_TEST(std::ranges::is_sorted(rest));
}

BOOST_AUTO_TEST_CASE(a_message_that_has_no_queue_comes_back) {
  auto all = with_under_way(2);
  BOOST_TEST((all.sender.take_back(2) == std::optional<std::uint64_t>(2)));
  BOOST_TEST(!all.sender.take_back(2).has_value());
  BOOST_TEST(all.take(2).empty());  // its confirm comes afterwards
  BOOST_TEST(all.take(3) == (places{3}), boost::test_tools::per_element());
  all.connect_anew();
  BOOST_TEST(all.send().empty());
  all.add(0);
  all.add(0);
  BOOST_TEST(all.send() == (places{4}), boost::test_tools::per_element());
  BOOST_TEST((all.sender.take_back(1) == std::optional<std::uint64_t>(4)));
  BOOST_TEST(all.send() == (places{5}), boost::test_tools::per_element());  // the first is still not confirmed
}

BOOST_AUTO_TEST_CASE(a_forgotten_message_is_not_told_of_and_not_sent_again) {
  auto all = with_under_way(3);
  all.sender.forget(2);
  all.sender.forget(4);
  BOOST_TEST(all.sender.under_way() == 3u);
  BOOST_TEST(all.take(3, true) == (places{3}), boost::test_tools::per_element());
  BOOST_TEST(!all.sender.lone().has_value());
  all.connect_anew();
  BOOST_TEST(all.sender.is_empty());
  all.add(0);
  all.add(0);
  all.sender.forget(5);
  BOOST_TEST(all.send() == (places{6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(there_is_room_for_so_many_messages_and_bytes) {
  queue_publisher sender;
  BOOST_TEST(sender.has_room(100 * queue_publisher::most_bytes));
  sender.add(0, 100 * queue_publisher::most_bytes);
  BOOST_TEST(!sender.has_room(0));
  sender.clear();
  BOOST_TEST(sender.is_empty());
  sender.add(0, queue_publisher::most_bytes - 1);
  BOOST_TEST(sender.has_room(1));
  BOOST_TEST(!sender.has_room(2));
  sender.clear();
  for (std::size_t i = 0; i < queue_publisher::most_messages; ++i) {
    BOOST_TEST_REQUIRE(sender.has_room(1));
    sender.add(0, 1);
  }
  BOOST_TEST(!sender.has_room(0));
}

BOOST_AUTO_TEST_CASE(messages_are_sent_one_by_one_if_asked_to) {
  publishing all;
  all.sender.on_declared(0);
  all.sender.on_declared(1);
  for (const auto shard : {0u, 1u, 0u}) all.add(shard);
  BOOST_TEST(all.send(true) == (places{1}), boost::test_tools::per_element());
  all.take(1);
  BOOST_TEST(all.send(true) == (places{2}), boost::test_tools::per_element());
  BOOST_TEST((all.sender.lone() == std::optional<std::uint64_t>(2)));
  BOOST_TEST(all.send() == (places{3}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_is_held_up_has_its_whole_time_afterwards) {
  const auto at = [](int seconds) { return zkrecipes::lease_clock::time_point(std::chrono::seconds(seconds)); };
  answer_watch watch(std::chrono::seconds(30));
  BOOST_TEST((watch.due() == never));
  watch.look(1, true, at(0));
  watch.look(1, false, at(30));  // it was held up until just before
  BOOST_TEST((watch.due() == at(60)));
  watch.look(1, false, at(50));
  BOOST_TEST((watch.due() == at(60)));
  watch.look(2, false, at(59));
  BOOST_TEST((watch.due() == at(89)));
  watch.look(0, false, at(70));
  BOOST_TEST((watch.due() == never));
}

BOOST_AUTO_TEST_CASE(each_queue_gets_its_messages_in_order_whatever_the_broker_does) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      careless_queues all(seed);
      all.run(300);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
