// A balance beside a plain model of it, over a million random moves, joins and leaves.
#include <algorithm>
#include <list>
#include <random>
#include <ranges>

#include <boost/test/unit_test.hpp>

#include "unit/balance_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A track, and what the model knows of it.
struct walker {
  explicit walker(balance_track of) : track(std::move(of)) {}

  balance_track track;
  std::int64_t steps = 0;
  std::deque<std::unique_ptr<asio::cancellation_signal>> waiting;  // one for each move that waits
  int told = 0;                                                    // moves that have completed without error
  int cancelled = 0;
};

class walk : public balance_case {
 public:
  walk(std::int64_t range, std::uint32_t seed)
      : range_(range), granule_(std::max<std::int64_t>(1, range / 4)), pace_(make(range)), random_(seed) {}

  void run(int events) {
    for (int i = 0; i < events && is_good_; ++i) {
      event();
      check_rules();
      if (i % 61 == 0) check_status();
    }
    BOOST_TEST(is_good_, "range " << range_);
    BOOST_TEST(pace_.status().largest_spread == static_cast<std::uint64_t>(range_), "the walk has not met the limit");
    BOOST_TEST((waits_ > events / 100 && refusals_ > events / 100),
               "it has hardly waited: " << waits_ << ", " << refusals_);
    end();
  }

 private:
  void event() {
    const auto draw = random(1'000);
    if (all_.empty() || (draw < 4 && all_.size() < 12)) return join();
    if (draw < 7) return leave();
    auto& one = choose();
    if (draw < 700) return try_move(one);
    if (draw < 950 && one.waiting.size() < 3) return move(one);
    if (!one.waiting.empty()) cancel(one);
  }
  /// For long stretches some tracks move more often than others.
  walker& choose() {
    if (random(static_cast<std::size_t>(2'000 + 20 * range_)) == 0) favourites_ = 1 + random(12);
    auto chosen = random(all_.size());
    if (random(3) != 0) chosen %= favourites_;
    return *std::next(all_.begin(), static_cast<std::ptrdiff_t>(chosen));
  }
  std::size_t random(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

  void join() {
    auto& one = all_.emplace_back(pace_.track("walker"));
    one.steps = static_cast<std::int64_t>(one.track.steps());
    check(one.steps == slowest_, "it begins with the slowest, or where the last one was");
    accept_grants();  // a track that joins looks at the others
  }
  void leave() {
    const auto which = std::next(all_.begin(), static_cast<std::ptrdiff_t>(random(all_.size())));
    const auto waited = which->waiting.size();
    which->track.leave();
    const auto before = closed_;
    settle();
    check(closed_ == before + waited, "its moves end");
    all_.erase(which);
    accept_grants();
    for (const auto& each : all_) check(each.waiting.empty() || each.steps >= limit(), "B3: nobody waits for it");
  }
  void try_move(walker& one) {
    const bool may = one.waiting.empty() && one.steps < limit();
    check(one.track.try_move() == may, "B1, B2: a step is made if the limit allows it, and only then");
    one.steps += may;
    refusals_ += !may;
    accept_grants();
  }
  void move(walker& one) {
    const bool may = one.waiting.empty() && one.steps < limit();
    one.waiting.push_back(std::make_unique<asio::cancellation_signal>());
    one.track.async_move(asio::bind_cancellation_slot(
        one.waiting.back()->slot(), asio::bind_executor(io->get_executor(), [this, &one](error_code error) {
          if (error == errc::closed) return void(++closed_);
          ++(error ? one.cancelled : one.told);
        })));
    check(!may || static_cast<std::int64_t>(one.track.steps()) == one.steps + 1,
          "the call makes a step that it can make");
    waits_ += !may;
    accept_grants();
    if (may) check(one.waiting.empty(), "a move that was made completes");
  }
  void cancel(walker& one) {
    const auto which = one.waiting.begin() + static_cast<std::ptrdiff_t>(random(one.waiting.size()));
    const auto before = one.cancelled;
    (*which)->emit(asio::cancellation_type::total);
    settle();
    check(one.cancelled == before + 1 && one.told == 0, "a move that waits can be cancelled");
    one.waiting.erase(which);
  }

  /// The model does not know when a move that waits is made, but only when it may and when it must.
  void accept_grants() {
    settle();
    for (auto& each : all_) {
      for (; each.told > 0; --each.told) {
        check(!each.waiting.empty(), "a move completes once");
        if (!each.waiting.empty()) each.waiting.pop_front();
        if (static_cast<std::int64_t>(each.track.steps()) > each.steps) ++each.steps;
      }
    }
  }

  void check_rules() {
    if (all_.empty()) return;
    const auto of = [](const walker& each) { return each.steps; };
    const auto [least, most] = std::ranges::minmax(all_ | std::views::transform(of));
    slowest_ = least;
    check(most - least <= range_, "B1: no two tracks differ by more than the range");
    for (const auto& each : all_) {
      check(static_cast<std::int64_t>(each.track.steps()) == each.steps, "the steps are those of the model");
      const bool may_wait = each.steps - least >= range_ - granule_ + 1;
      check(each.waiting.empty() || may_wait, "B2: a track waits only far ahead of the slowest");
    }
  }
  void check_status() {
    const auto seen = pace_.status();
    check(seen.limit >= last_limit_, "B4: the limit never falls");
    last_limit_ = seen.limit;
    if (!all_.empty()) check(static_cast<std::int64_t>(seen.limit) == limit(), "the limit is that of the model");
    check(seen.spread <= seen.range && seen.largest_spread <= seen.range, "B1: the spread is within the range");
    check(seen.tracks.size() == all_.size(), "all tracks are told");
    accept_grants();
  }
  std::int64_t limit() const {
    auto least = std::numeric_limits<std::int64_t>::max();
    for (const auto& each : all_) least = std::min(least, each.steps);
    return least + range_;
  }

  void end() {
    all_.clear();
    settle();
    BOOST_TEST(io->stopped(), "nothing is left to do");
  }
  /// Only the first offence is told: the model is wrong after it.
  void check(bool holds, const char* rule) {
    if (holds || !is_good_) return;
    is_good_ = false;
    BOOST_ERROR(rule);
  }

  std::int64_t range_;
  std::int64_t granule_;
  balance pace_;
  std::mt19937 random_;
  std::size_t favourites_ = 1;
  std::list<walker> all_;
  std::int64_t slowest_ = 0;
  std::uint64_t last_limit_ = 0;
  std::size_t closed_ = 0;
  int waits_ = 0;
  int refusals_ = 0;
  bool is_good_ = true;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(balances_at_random)

BOOST_AUTO_TEST_CASE(the_rules_hold_over_a_million_events) {
  std::uint32_t seed = 1;
  for (const std::int64_t range : {1, 2, 3, 7, 8, 20, 100, 1'000}) walk(range, seed++).run(125'000);
}

BOOST_AUTO_TEST_SUITE_END()
