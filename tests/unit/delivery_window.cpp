// Which messages may be begun and committed, without a session.
#include "delivery/delivery_window.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

constexpr lease_clock::time_point start{1h};

message named(std::string name) {
  message made;
  made.data = "data of " + name;
  made.name = std::move(name);
  made.attempts = 1;
  return made;
}

/// A window whose messages are named by letters; the lane of "a1" is "a".
struct window_case {
  explicit window_case(delivery_window::limits how) : window(how), order(how.order) {}

  void add(const std::vector<std::string>& names) {
    for (const auto& each : names) {
      auto lane = order == message_order::strict ? "" : order == message_order::none ? each : each.substr(0, 1);
      window.add(named(each), lane, start);
    }
  }
  std::string begin(lease_clock::time_point now = start) {
    auto* next = window.next(now);
    if (!next) return "";
    window.begin(*next, now);
    begun[next->what->name] = next;
    return next->what->name;
  }
  message_in_hand& of(const std::string& name) { return *begun.at(name); }
  bool finish(const std::string& name, message_outcome outcome = {}) {
    return window.finish(of(name), std::move(outcome));
  }
  std::vector<std::string> finished() {
    std::vector<std::string> names;
    for (const auto* each : window.finished()) names.push_back(each->what->name);
    return names;
  }
  void settle(const std::string& name) {
    window.set_committing(of(name), true);
    window.remove(of(name));
  }

  delivery_window window;
  message_order order;
  std::map<std::string, message_in_hand*> begun;
};

using name_list = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_windows)

BOOST_AUTO_TEST_CASE(a_window_of_one_begins_a_message_when_the_one_before_is_committed) {
  window_case at({.order = message_order::strict, .window = 1});
  BOOST_TEST(at.window.room() == 2u);  // one is read ahead
  at.add({"a", "b"});
  BOOST_TEST(at.window.room() == 0u);
  BOOST_TEST(at.begin() == "a");
  BOOST_TEST(at.begin() == "");
  at.finish("a");
  BOOST_TEST(at.begin() == "");
  at.settle("a");
  BOOST_TEST(at.begin() == "b");
  BOOST_TEST(at.window.room() == 1u);
}

BOOST_AUTO_TEST_CASE(strict_order_goes_on_ahead_of_the_commit_up_to_the_window) {
  window_case at({.order = message_order::strict, .window = 3});
  at.add({"a", "b", "c", "d"});
  BOOST_TEST(at.begin() == "a");
  BOOST_TEST(at.begin() == "");  // one at a time
  at.finish("a");
  BOOST_TEST(at.begin() == "b");
  at.finish("b");
  BOOST_TEST(at.begin() == "c");
  at.finish("c");
  BOOST_TEST(at.begin() == "");  // three are not committed
  BOOST_TEST(at.finished() == name_list({"a", "b", "c"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(in_strict_order_nothing_goes_past_a_message_that_is_tried_again) {
  window_case at({.order = message_order::strict, .window = 3});
  at.add({"a", "b"});
  at.begin();
  at.finish("a", message_outcome::again("no"));
  BOOST_TEST(at.begin() == "");
  at.window.set_committing(at.of("a"), true);
  at.window.rest(at.of("a"), start + 1s);
  BOOST_TEST(at.begin(start + 999ms) == "");
  BOOST_TEST((at.window.stages().next_time() == start + 1s));
  BOOST_TEST(at.begin(start + 1s) == "a");
}

BOOST_AUTO_TEST_CASE(what_was_processed_behind_a_refused_message_is_processed_again) {
  window_case at({.order = message_order::strict, .window = 4});
  at.add({"a", "b", "c", "d"});
  for (const auto* each : {"a", "b"}) {
    at.begin();
    at.finish(each);
  }
  at.window.set_committing(at.of("a"), true);
  at.window.set_committing(at.of("b"), true);
  at.begin();
  at.finish("c");
  BOOST_TEST(at.begin() == "d");
  for (const auto* each : {"a", "b"}) at.window.set_committing(at.of(each), false);
  at.window.refuse(at.of("a"), message_outcome::again("its effects were refused"));
  BOOST_TEST(at.finished() == name_list({"a"}), boost::test_tools::per_element());
  BOOST_TEST(!at.finish("d"));  // the call that was under way does not count
  at.window.set_committing(at.of("a"), true);
  at.window.rest(at.of("a"), start);
  for (const auto* each : {"a", "b", "c", "d"}) {
    BOOST_TEST(at.begin() == each);
    at.finish(each);
  }
  BOOST_TEST(at.finished() == name_list({"a", "b", "c", "d"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_key_is_free_again_when_its_message_is_committed) {
  window_case at({.order = message_order::by_key, .window = 8, .parallel = 8});
  at.add({"a1", "a2", "b1"});
  BOOST_TEST(at.begin() == "a1");
  BOOST_TEST(at.begin() == "b1");
  BOOST_TEST(at.begin() == "");
  at.finish("a1");
  BOOST_TEST(at.begin() == "");
  at.settle("a1");
  BOOST_TEST(at.begin() == "a2");
}

BOOST_AUTO_TEST_CASE(without_an_order_a_message_holds_back_none) {
  window_case at({.order = message_order::none, .window = 8, .parallel = 2});
  at.add({"a1", "a2", "a3"});
  BOOST_TEST(at.begin() == "a1");
  BOOST_TEST(at.begin() == "a2");
  BOOST_TEST(at.begin() == "");  // two at a time
  at.finish("a2");
  BOOST_TEST(at.begin() == "a3");
  BOOST_TEST(at.finished() == name_list({"a2"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_key_that_rests_does_not_fill_the_window) {
  window_case at({.order = message_order::by_key, .window = 3, .parallel = 3, .may_unload = true});
  at.add({"a1", "a2", "a3"});
  BOOST_TEST(at.window.room() == 0u);
  at.begin();
  at.finish("a1", message_outcome::again("no"));
  at.window.set_committing(at.of("a1"), true);
  at.window.rest(at.of("a1"), start + 1s);
  BOOST_TEST(at.window.room() == 3u);  // their data was dropped
  BOOST_TEST(at.window.missing().empty());
  at.add({"a4", "b1"});
  BOOST_TEST(at.window.room() == 2u);
  BOOST_TEST(at.begin() == "b1");
  at.finish("b1");
  at.settle("b1");
  BOOST_TEST(at.begin(start + 1s) == "");  // it has to be read again first
  const auto missing = at.window.missing();
  BOOST_TEST_REQUIRE(missing.size() == 3u);
  for (auto* each : missing) at.window.load(*each, named(each->what->name));
  BOOST_TEST(at.window.room() == 0u);
  for (const auto* each : {"a1", "a2", "a3"}) {
    BOOST_TEST(at.begin(start + 1s) == each);
    BOOST_TEST(at.of(each).what->data == "data of " + std::string(each));
    at.finish(each);
    at.settle(each);
  }
  BOOST_TEST(at.window.missing().size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_cost_of_a_message_is_forgotten_if_others_may_have_changed_its_data) {
  window_case at({.order = message_order::none, .window = 2, .parallel = 2});
  at.add({"a1"});
  at.begin();
  auto& which = at.of("a1");
  const auto cost_after = [&](std::int64_t czxid, std::int32_t version) {
    which.cost = 5;
    auto again = named("a1");
    again.stat.czxid = czxid;
    again.stat.version = version;
    at.window.load(which, again);
    return which.cost;
  };
  BOOST_TEST((cost_after(0, 0) == 5u));
  BOOST_TEST(!cost_after(0, 1));
  BOOST_TEST((cost_after(0, 1) == 5u));
  BOOST_TEST(!cost_after(9, 1));
}

BOOST_AUTO_TEST_CASE(messages_that_are_held_back_do_not_take_the_place_of_the_one_that_holds_them) {
  window_case at({.order = message_order::by_key, .window = 2, .parallel = 2, .may_unload = true});
  at.add({"a1", "b1"});
  at.begin();
  at.begin();
  at.finish("a1", message_outcome::again("no"));
  at.window.set_committing(at.of("a1"), true);
  at.window.rest(at.of("a1"), start + 1s);
  at.finish("b1");
  at.settle("b1");
  BOOST_TEST(at.begin(start + 1s) == "");  // its rest is over, its data is missing
  at.add({"a2", "a3"});
  BOOST_TEST(at.window.room() == 0u);
  const auto missing = at.window.missing();
  BOOST_TEST_REQUIRE(missing.size() == 1u);
  at.window.load(*missing[0], named("a1"));
  BOOST_TEST(at.begin(start + 1s) == "a1");
}

BOOST_AUTO_TEST_CASE(a_message_that_was_read_while_its_key_rested_is_read_again_when_the_rest_is_cut_short) {
  window_case at({.order = message_order::by_key, .window = 3, .parallel = 3, .may_unload = true});
  at.add({"a1", "a2"});
  at.begin();
  at.finish("a1", message_outcome::park("no"));
  at.window.set_committing(at.of("a1"), true);  // its reply is lost: is the key parked, and is the message there?
  at.window.rest(at.of("a1"), start + 1h);
  at.window.load(at.of("a1"), named("a1"));
  at.window.refuse(at.of("a1"), {});
  at.window.restart(at.of("a1"));
  const auto missing = at.window.missing();
  BOOST_TEST_REQUIRE(missing.size() == 2u);
  for (auto* each : missing) at.window.load(*each, named(each->what->name));
  BOOST_TEST(at.begin() == "a1");
}

BOOST_AUTO_TEST_CASE(what_waits_behind_a_message_is_read_again_when_that_goes_away_while_it_rests) {
  window_case at({.order = message_order::by_key, .window = 3, .parallel = 3, .may_unload = true});
  at.add({"a1", "a2"});
  at.begin();
  at.finish("a1", message_outcome::park("no"));
  at.window.set_committing(at.of("a1"), true);
  at.window.rest(at.of("a1"), start + 1h);
  at.window.remove(at.of("a1"));  // somebody else has removed it from its source
  const auto missing = at.window.missing();
  BOOST_TEST_REQUIRE(missing.size() == 1u);
  at.window.load(*missing[0], named("a2"));
  BOOST_TEST(at.begin() == "a2");
}

BOOST_AUTO_TEST_CASE(the_oldest_call_is_known) {
  window_case at({.order = message_order::none, .window = 8, .parallel = 2});
  BOOST_TEST((at.window.stages().working_since() == never));
  at.add({"a", "b"});
  at.begin(start);
  at.begin(start + 1s);
  BOOST_TEST((at.window.stages().working_since() == start));
  at.finish("a");
  BOOST_TEST((at.window.stages().working_since() == start + 1s));
  at.finish("b");
  BOOST_TEST((at.window.stages().working_since() == never));
}

BOOST_AUTO_TEST_SUITE_END()

// What a window counts and offers agrees with a scan over its messages, whatever happens to them.
namespace {

using stage = message_in_hand::stage;

/// A window in which every step is drawn at random.
class schedule {
 public:
  explicit schedule(delivery_window::limits how) : how_(how), window_(how) {}

  void step() {
    now_ += std::chrono::milliseconds(below(20));
    switch (below(6)) {
      case 0: return add();
      case 1:
      case 2: return begin();
      case 3: return finish();
      case 4: return commit();
      default: return end_commit();
    }
  }

  void check() {
    auto* next = window_.next(now_);  // first: it also ends rests
    BOOST_TEST_REQUIRE((next ? next->number : 0) == expected_next());
    for (auto each : {stage::waiting, stage::working, stage::finished, stage::committing, stage::resting}) {
      BOOST_TEST_REQUIRE(window_.stages().count(each) == in(each).size());
    }
    BOOST_TEST_REQUIRE(window_.lanes().held_back() == in(stage::waiting).size() - ready().size());
    std::vector<std::uint64_t> finished;
    for (const auto* each : window_.finished()) finished.push_back(each->number);
    BOOST_TEST_REQUIRE(finished == expected_finished(), boost::test_tools::per_element());
  }

  std::map<std::string, int> seen;  ///< How often each kind of step was made.

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool one_in(std::uint64_t many) { return below(many) == 0; }
  message_in_hand& at(std::uint64_t number) { return window_.at(number); }

  void add() {
    if (window_.room() == 0) return;
    const auto number = ++last_;
    const bool is_by_key = how_.order == message_order::by_key;
    lanes_[number] = is_by_key ? below(4) : how_.order == message_order::none ? number : 0;
    window_.add({}, std::to_string(lanes_[number]), now_);
    live_.insert(number);
    ++seen["add"];
  }
  void begin() {
    auto* next = window_.next(now_);
    if (!next) return;
    if (one_in(5)) {
      window_.decide(*next, outcome());
    } else {
      window_.begin(*next, now_);
    }
    ++seen["begin"];
  }
  void finish() {
    const auto working = in(stage::working);
    if (working.empty()) return;
    const bool counts = window_.finish(at(working[below(working.size())]), outcome());
    ++seen[counts ? "finish" : "void"];
  }
  void commit() {
    if (!in(stage::committing).empty()) return;
    for (auto* each : window_.finished()) {
      if (one_in(8)) return;
      window_.set_committing(*each, true);
      ++seen["commit"];
    }
  }
  void end_commit() {
    const auto committing = in(stage::committing);
    const bool is_refused = !committing.empty() && one_in(3);
    if (is_refused) {
      for (const auto number : committing) window_.set_committing(at(number), false);
      window_.refuse(at(committing[below(committing.size())]), outcome());
      ++seen["refuse"];
      return;
    }
    for (const auto number : committing) conclude(at(number));
  }
  void conclude(message_in_hand& which) {
    if (one_in(10)) {
      ++seen["restart"];
      return window_.restart(which);
    }
    if (which.outcome.what() == message_outcome::kind::again) {
      ++seen["rest"];
      return window_.rest(which, now_ + std::chrono::milliseconds(below(60)));
    }
    live_.erase(which.number);
    window_.remove(which);
    ++seen["remove"];
  }
  message_outcome outcome() {
    if (one_in(4)) return message_outcome::again("no");
    return one_in(4) ? message_outcome::park("no") : message_outcome::done();
  }

  // Finds by scans over all messages what the window finds by its lists.
  std::vector<std::uint64_t> in(stage which) {
    std::vector<std::uint64_t> found;
    for (const auto number : live_) {
      if (at(number).at == which) found.push_back(number);
    }
    return found;
  }
  /// For each lane its first message, in strict order the first one that does not let pass; if it waits.
  std::set<std::uint64_t> ready() {
    std::map<std::uint64_t, std::uint64_t> first;
    for (const auto number : live_) {
      if (how_.order != message_order::strict || !lets_pass(at(number))) first.emplace(lanes_.at(number), number);
    }
    std::set<std::uint64_t> found;
    for (const auto& [lane, number] : first) {
      if (at(number).at == stage::waiting) found.insert(number);
    }
    return found;
  }
  static bool lets_pass(const message_in_hand& which) {
    const bool is_processed = which.at == stage::finished || which.at == stage::committing;
    return is_processed && which.outcome.what() != message_outcome::kind::again;
  }
  std::uint64_t expected_next() {
    const auto begun = in(stage::working).size() + in(stage::finished).size() + in(stage::committing).size();
    if (in(stage::working).size() >= how_.parallel || begun >= how_.window) return 0;
    const auto found = ready();
    return found.empty() ? 0 : *found.begin();
  }
  std::vector<std::uint64_t> expected_finished() {
    if (how_.order != message_order::strict) return in(stage::finished);
    std::vector<std::uint64_t> found;
    for (const auto number : live_) {
      if (at(number).at == stage::committing) continue;
      if (at(number).at != stage::finished) break;
      found.push_back(number);
    }
    return found;
  }

  std::mt19937_64 random_;  // always with the same seed
  delivery_window::limits how_;
  delivery_window window_;
  lease_clock::time_point now_{1h};
  std::set<std::uint64_t> live_;
  std::map<std::uint64_t, std::uint64_t> lanes_;
  std::uint64_t last_ = 0;
};

void check_schedule(delivery_window::limits how) {
  schedule random(how);
  for (int i = 0; i < 4000; ++i) {
    random.step();
    random.check();
  }
  for (const auto* each : {"add", "begin", "finish", "commit", "refuse", "restart", "rest", "remove"}) {
    BOOST_TEST(random.seen[each] > 10, each);
  }
  // Only in strict order a message is begun before the one in front of it is committed.
  BOOST_TEST((random.seen["void"] > 10) == (how.order == message_order::strict));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_window_schedules)

BOOST_AUTO_TEST_CASE(strict) { check_schedule({.order = message_order::strict, .window = 12}); }

BOOST_AUTO_TEST_CASE(by_key) { check_schedule({.order = message_order::by_key, .window = 12, .parallel = 3}); }

BOOST_AUTO_TEST_CASE(without_an_order) { check_schedule({.order = message_order::none, .window = 12, .parallel = 3}); }

BOOST_AUTO_TEST_SUITE_END()
