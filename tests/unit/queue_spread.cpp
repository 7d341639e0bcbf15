// A model of takers of one queue. Each draws from its own copy of the list, and hears one step later whether its claim
// was in time.
#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "queue/item_list.hpp"

using namespace zkrecipes::detail;

namespace {

constexpr std::size_t names_per_draw = 256;

struct model {
  explicit model(std::size_t takers, std::size_t items) {
    while (free.size() < items) free.insert(put++);
    for (std::size_t i = 0; i < takers; ++i) all.emplace_back(*this);
    for (auto& each : all) {
      each.read();
      turns.push_back(&each);
    }
  }

  struct taker {
    explicit taker(model& m) : in(m), places([&m] { return m.random(); }) {}
    void read() {
      seen.clear();
      for (auto number : in.free) seen.push_back({"", 0, number});
      draws = 0;
      listed = seen.size();
      is_list_due = false;
      places.listed(in.all.size() / 2);
      ++in.lists;
    }
    void draw() {
      if (seen.empty()) read();
      const auto which = places.pick(seen, seen.size());
      drawn = seen[which].sequence;
      seen.erase(seen.begin() + static_cast<std::ptrdiff_t>(which));
      if (++draws >= listed / 8) is_list_due = true;
    }
    void claim() {
      ++in.claims;
      const bool in_time = in.free.erase(*drawn) != 0;
      if (in_time) in.took(*drawn);
      const auto own = *drawn;
      drawn.reset();
      if (is_list_due) read();
      std::erase_if(seen, [own](const entry& each) { return each.sequence == own; });
      if (in_time) return places.was_in_time();
      places.was_late(seen.size());
      if (draws >= listed / names_per_draw) is_list_due = true;
    }
    model& in;
    spread places;
    std::deque<entry> seen;
    std::optional<std::int32_t> drawn;
    std::size_t draws = 0, listed = 0;
    bool is_list_due = false;
  };

  /// For each item that is taken another one is put.
  void took(std::int32_t number) {
    taken.push_back(number);
    free.insert(put++);
  }
  void run(std::size_t items) {
    while (taken.size() < items) {
      std::ranges::shuffle(turns, random);
      for (auto* each : turns) each->drawn ? each->claim() : each->draw();
    }
  }
  /// The largest number of later items that were taken before one item.
  std::size_t max_overtaken() const {
    std::set<std::int32_t> earlier;
    std::size_t most = 0;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      earlier.insert(taken[i]);
      most = std::max(most, static_cast<std::size_t>(std::distance(earlier.upper_bound(taken[i]), earlier.end())));
    }
    return most;
  }

  std::mt19937_64 random{7};
  std::set<std::int32_t> free;
  std::int32_t put = 0;
  std::vector<std::int32_t> taken;
  std::size_t claims = 0, lists = 0;
  std::deque<taker> all;
  std::vector<taker*> turns;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_spread)

BOOST_AUTO_TEST_CASE(one_taker_draws_in_order) {
  model alone(1, 500);
  alone.run(1000);
  BOOST_TEST(std::is_sorted(alone.taken.begin(), alone.taken.end()));
  BOOST_TEST(alone.claims == 1000u);
}

BOOST_AUTO_TEST_CASE(many_takers_of_a_long_list_seldom_meet) {
  for (std::size_t takers : {2, 4, 16, 64}) {
    model crowd(takers, 4000);
    crowd.run(200 * takers);
    const auto items = static_cast<double>(crowd.taken.size());
    BOOST_TEST(static_cast<double>(crowd.claims) / items <= 1.2, takers << " takers: " << crowd.claims / items);
    BOOST_TEST(static_cast<double>(crowd.lists) / items <= 0.15, takers << " takers: " << crowd.lists / items);
  }
}

BOOST_AUTO_TEST_CASE(few_takers_draw_nearly_in_order) {
  model pair(2, 4000);
  pair.run(4000);
  BOOST_TEST(pair.max_overtaken() < 1000u);
}

BOOST_AUTO_TEST_CASE(after_the_turn_in_line_it_begins_at_the_front) {
  spread places([] { return 99u; });
  std::deque<entry> items;
  for (std::int32_t i = 0; i < 1000; ++i) items.push_back({"", 0, i});
  places.was_late(items.size());
  BOOST_TEST(places.pick(items, items.size()) == 99u);
  BOOST_TEST(places.pick(items, items.size()) == 100u, "one after the other");
  BOOST_TEST(!places.is_crowded(items.size()));
  BOOST_TEST(places.is_crowded(20));
  places.forget();
  BOOST_TEST(places.pick(items, items.size()) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
