// Which messages a window declines, without a session; and that it does as a model of ten lines at random.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "delivery/delivery_window.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

using name_list = std::vector<std::string>;
using stage = message_in_hand::stage;

constexpr lease_clock::time_point arrival{1h};

/// Messages are named by the letter of their key and a number.
struct duplicates_case {
  explicit duplicates_case(zkrecipes::keep keep, std::size_t window = 16)
      : window(
            {.order = message_order::by_key, .window = window, .parallel = window, .may_unload = true, .keep = keep}) {}

  void add(const name_list& names, bool is_sound = true) {
    for (const auto& each : names) {
      message made;
      made.name = each;
      made.data = "data of " + each;
      made.attempts = 1;
      window.add(std::move(made), each.substr(0, each.find_first_of("0123456789")), arrival, is_sound);
    }
  }
  std::string begin(lease_clock::time_point now = arrival) {
    auto* next = window.next(now);
    if (!next) return "";
    window.begin(*next, now);
    begun[next->what->name] = next;
    return next->what->name;
  }
  name_list declined() {
    name_list names;
    for (const auto* each : window.finished()) {
      if (each->is_declined) names.push_back(each->what->name);
    }
    return names;
  }
  void settle(const std::string& name) {
    for (auto* each : window.finished()) {
      if (each->what->name != name) continue;
      window.set_committing(*each, true);
      return window.remove(*each);
    }
    BOOST_FAIL(name + " is not finished");
  }
  void finish(const std::string& name, message_outcome outcome = {}) {
    window.finish(*begun.at(name), std::move(outcome));
  }

  delivery_window window;
  std::map<std::string, message_in_hand*> begun;
};

/// One key: which message is first, which waits, and which were declined.
struct model {
  zkrecipes::keep keep;
  std::uint64_t first = 0, waiting = 0;
  std::vector<std::uint64_t> declined{};

  void come(std::uint64_t number) {
    if (first == 0)
      first = number;
    else if (waiting == 0)
      waiting = number;
    else if (keep == keep::first)
      declined.push_back(number);
    else
      declined.push_back(std::exchange(waiting, number));
  }
  void settle() { first = std::exchange(waiting, 0); }
};

/// Keys "0" to "4" at random: messages come, are begun, finish, fail, rest, and are committed in batches.
class random_case {
 public:
  random_case(zkrecipes::keep keep, std::uint64_t seed)
      : random_(seed),
        window_({.order = message_order::by_key, .window = 64, .parallel = 8, .may_unload = true, .keep = keep}) {
    for (auto& each : keys_) each.keep = keep;
  }

  void step() {
    now_ += std::chrono::milliseconds(random_() % 20);
    const auto what = random_() % 6;
    if (what < 2 && window_.room() > 0) come();
    if (what == 2 || what == 3) begin();
    if (what == 4) finish();
    if (what == 5) commit();
    check();
  }
  std::size_t declined = 0;
  std::size_t retried = 0;

 private:
  model& key_of(const message_in_hand& which) { return keys_[std::stoul(which.lane)]; }

  void come() {
    const auto key = random_() % std::size(keys_);
    message made;
    made.name = std::to_string(++last_);
    made.attempts = 1;
    window_.add(std::move(made), std::to_string(key), now_);
    keys_[key].come(last_);
  }
  void begin() {
    auto* next = window_.next(now_);
    if (!next) return load();
    BOOST_TEST_REQUIRE(next->number == key_of(*next).first);  // one of a key at a time, in order of arrival
    window_.begin(*next, now_);
  }
  void load() {
    for (auto* each : window_.missing()) window_.load(*each, *each->what);
  }
  void finish() {
    std::vector<message_in_hand*> working;
    for (const auto& [since, number] : window_.stages().working()) working.push_back(&window_.at(number));
    if (working.empty()) return;
    auto& which = *working[random_() % working.size()];
    window_.finish(which, random_() % 4 == 0 ? message_outcome::again("no") : message_outcome());
  }
  void commit() {
    auto batch = window_.finished();
    batch.resize(std::min<std::size_t>(batch.size(), random_() % 4));
    for (auto* each : batch) window_.set_committing(*each, true);
    const bool is_refused = random_() % 4 == 0;
    for (auto* each : batch) is_refused ? window_.set_committing(*each, false) : conclude(*each);
  }
  void conclude(message_in_hand& which) {
    auto& key = key_of(which);
    if (which.is_declined) {
      ++declined;
      BOOST_TEST_REQUIRE(std::erase(key.declined, which.number) == 1u);
      return window_.remove(which);
    }
    BOOST_TEST_REQUIRE(which.number == key.first);
    if (which.outcome.what() == message_outcome::kind::again) {
      ++retried;
      return window_.rest(which, now_ + std::chrono::milliseconds(random_() % 50));
    }
    key.settle();
    window_.remove(which);
  }
  void check() {
    std::size_t begun = 0;
    for (auto& each : keys_) {
      if (each.waiting != 0) {
        BOOST_TEST_REQUIRE((window_.at(each.waiting).at == stage::waiting));  // it is begun later than the others came
        BOOST_TEST_REQUIRE(!window_.at(each.waiting).is_declined);
      }
      if (each.first != 0) begun += window_.at(each.first).is_begun() ? 1 : 0;
      for (const auto number : each.declined) BOOST_TEST_REQUIRE(window_.at(number).is_declined);
    }
    BOOST_TEST_REQUIRE(window_.finished().size() + window_.stages().working_count() ==
                       begun + std::accumulate(std::begin(keys_), std::end(keys_), std::size_t{0},
                                               [](auto sum, auto& each) { return sum + each.declined.size(); }));
  }

  std::mt19937_64 random_;
  delivery_window window_;
  model keys_[5];
  std::uint64_t last_ = 0;
  lease_clock::time_point now_ = arrival;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_window_duplicates)

BOOST_AUTO_TEST_CASE(the_first_one_waits_and_later_ones_are_declined) {
  duplicates_case at(keep::first);
  at.add({"a1", "b1", "a2"});
  BOOST_TEST(at.begin() == "a1");
  BOOST_TEST(at.declined().empty());
  at.add({"a3", "a4"});
  BOOST_TEST(at.declined() == name_list({"a3", "a4"}), boost::test_tools::per_element());
  BOOST_TEST(at.begin() == "b1");
  BOOST_TEST(at.begin() == "");
  at.finish("a1");
  at.settle("a1");
  BOOST_TEST(at.begin() == "a2");
  at.add({"a5"});  // it came when a2 had begun
  BOOST_TEST(at.declined() == name_list({"a3", "a4"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_newest_one_waits_and_the_ones_before_are_declined) {
  duplicates_case at(keep::newest);
  at.add({"a1", "a2", "a3", "a4"});
  BOOST_TEST(at.declined() == name_list({"a2", "a3"}), boost::test_tools::per_element());
  BOOST_TEST(at.begin() == "a1");
  at.finish("a1");
  at.settle("a1");
  BOOST_TEST(at.begin() == "a4");  // although the declined ones are not settled yet
}

BOOST_AUTO_TEST_CASE(the_first_one_is_not_declined_though_it_is_not_begun) {
  duplicates_case at(keep::newest);
  at.add({"a1", "a2", "a3"});
  BOOST_TEST(at.begin() == "a1");
}

// Else a message with news would be taken for done by a processing that began before them.
BOOST_AUTO_TEST_CASE(one_that_comes_while_another_is_processed_waits) {
  for (const auto how : {keep::first, keep::newest}) {
    duplicates_case at(how);
    at.add({"a1"});
    at.begin();
    at.add({"a2"});
    BOOST_TEST(at.declined().empty());
    at.finish("a1");
    BOOST_TEST(at.declined().empty());
    at.settle("a1");
    at.begin();
    at.add({"a3"});
    BOOST_TEST(at.declined().empty());
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_is_tried_again_stays_in_front_of_the_one_that_waits) {
  duplicates_case at(keep::newest);
  at.add({"a1", "a2"});
  at.begin();
  at.finish("a1", message_outcome::again("no"));
  at.window.set_committing(*at.begun["a1"], true);
  at.window.rest(*at.begun["a1"], arrival + 1s);
  at.add({"a3"});
  BOOST_TEST(at.declined() == name_list({"a2"}), boost::test_tools::per_element());
  BOOST_TEST(at.begin() == "");
  at.window.next(arrival + 1s);
  for (auto* each : at.window.missing()) at.window.load(*each, *each->what);
  BOOST_TEST(at.begin(arrival + 1s) == "a1");
}

BOOST_AUTO_TEST_CASE(declined_messages_take_no_place) {
  duplicates_case at(keep::first, 3);
  at.add({"a1", "a2"});
  for (int i = 3; i < 50; ++i) {
    BOOST_TEST_REQUIRE(at.window.room() == 1u);
    at.add({"a" + std::to_string(i)});
  }
  at.add({"b1"});
  BOOST_TEST(at.begin() == "a1");
  BOOST_TEST(at.begin() == "b1");
  BOOST_TEST(at.window.lanes().held_back() == 1u);
}

BOOST_AUTO_TEST_CASE(messages_without_a_key_and_those_that_are_not_processed_have_no_part) {
  duplicates_case at(keep::first);
  at.add({"1", "2", "3", "4"});
  BOOST_TEST(at.declined().empty());
  at.add({"a1"});
  at.add({"a2"}, false);
  at.add({"a3"});
  BOOST_TEST(at.declined().empty());
  at.add({"a4"});
  BOOST_TEST(at.declined() == name_list({"a4"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_refusal_of_the_first_one_leaves_the_declined_ones_alone) {
  duplicates_case at(keep::first);
  at.add({"a1", "a2", "a3"});
  at.begin();
  at.finish("a1");
  at.window.refuse(*at.begun["a1"], message_outcome::again("refused"));
  BOOST_TEST(at.declined() == name_list({"a3"}), boost::test_tools::per_element());
  BOOST_TEST(at.begin() == "");
}

BOOST_AUTO_TEST_CASE(declined_ones_that_are_not_settled_can_be_left_to_the_next_term) {
  duplicates_case at(keep::first);
  at.add({"a1", "a2", "a3", "a4"});
  at.window.set_committing(*at.window.finished()[0], true);
  BOOST_TEST(drop_declined(at.window) == name_list({"a4"}), boost::test_tools::per_element());
  BOOST_TEST(!at.window.stages().has_finished());
  BOOST_TEST(at.begin() == "a1");
}

BOOST_AUTO_TEST_CASE(calls_that_others_wait_for_are_known_from_the_oldest) {
  duplicates_case at(keep::first);
  at.add({"a1", "b1", "c1", "a2", "c2"});
  at.begin(arrival + 1s);
  at.begin(arrival + 2s);
  at.begin(arrival);
  const auto waited_for = at.window.waited_for();
  BOOST_TEST_REQUIRE(waited_for.size() == 2u);
  BOOST_TEST(at.window.at(waited_for[0]).what->name == "c1");
  BOOST_TEST(at.window.at(waited_for[1]).what->name == "a1");
}

BOOST_AUTO_TEST_CASE(the_window_does_as_the_model) {
  std::size_t declined = 0, retried = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    random_case one(seed % 2 ? keep::first : keep::newest, seed);
    for (int i = 0; i < 2'000; ++i) one.step();
    declined += one.declined;
    retried += one.retried;
  }
  BOOST_TEST(declined > 1'000u);
  BOOST_TEST(retried > 300u);
}

BOOST_AUTO_TEST_SUITE_END()
