// What a window counts and offers agrees with a scan over its messages, whatever happens to them.
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "delivery/delivery_window.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

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

  // The same by scans over all messages.
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
