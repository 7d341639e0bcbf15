// Names of items, and dead letters.
#include "queue/queue_layout.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "queue/item_list.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

std::vector<std::string> names(const std::vector<entry>& entries) {
  std::vector<std::string> all;
  for (const auto& each : entries) all.push_back(each.name);
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(queue_layouts)

BOOST_AUTO_TEST_CASE(items_are_told_from_what_stands_beside_them) {
  const queue_layout fifo(queue_kind::fifo, "/q");
  BOOST_TEST(fifo.parse("qn-0000000007")->sequence == 7);
  for (const auto* none : {"", "qn-", "qn-7", "xqn-0000000007", "qn-000000000x", "_claim-qn-0000000007", "_idle"}) {
    BOOST_TEST(!fifo.parse(none), none);
  }
  const queue_layout priority(queue_kind::priority, "/q");
  BOOST_TEST(priority.parse("entry-042-0000000007")->rank == 42);
  BOOST_TEST(priority.parse("entry-042-0000000007")->sequence == 7);
  for (const auto* none : {"entry-42-0000000007", "entry-0420-0000000007", "entry-042-", "entry--42-0000000007",
                           "entry-04x-0000000007", "entry-042", "qn-0000000007"}) {
    BOOST_TEST(!priority.parse(none), none);
  }
  const queue_layout delayed(queue_kind::delayed, "/q");
  BOOST_TEST(delayed.parse("at-0001763709600123-0000000007")->rank == 1763709600123);
  BOOST_TEST(!delayed.parse("at-1763709600123-0000000007"));
}

BOOST_AUTO_TEST_CASE(a_marker_is_what_is_parsed) {
  for (auto kind : {queue_kind::fifo, queue_kind::priority, queue_kind::delayed}) {
    const queue_layout where(kind, "/q");
    const auto name = where.marker(123) + "0000000009";
    BOOST_TEST_REQUIRE(where.parse(name).has_value());
    BOOST_TEST(where.parse(name)->rank == (kind == queue_kind::fifo ? 0 : 123));
  }
}

BOOST_AUTO_TEST_CASE(order_is_that_of_ranks_then_of_numbers_also_around_the_wrap) {
  const queue_layout fifo(queue_kind::fifo, "/q");
  const std::vector<std::string> wrapped{"qn--2147483648", "qn-2147483646", "qn--2147483647", "qn-2147483647"};
  const std::vector<std::string> in_order{"qn-2147483646", "qn-2147483647", "qn--2147483648", "qn--2147483647"};
  BOOST_TEST(names(fifo.items_of(wrapped)) == in_order, boost::test_tools::per_element());
  const queue_layout priority(queue_kind::priority, "/q");
  const std::vector<std::string> ranked{"entry-100-0000000001", "entry-099-0000000003", "entry-099-0000000002"};
  const std::vector<std::string> by_rank{"entry-099-0000000002", "entry-099-0000000003", "entry-100-0000000001"};
  BOOST_TEST(names(priority.items_of(ranked)) == by_rank, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_kazoo_would_take_for_items_stands_apart) {
  BOOST_TEST(queue_layout(queue_kind::priority, "/q").claim("x") == "/q-side/_claim-x");
  BOOST_TEST(queue_layout(queue_kind::priority, "/").claim("x") == "/-side/_claim-x");
  BOOST_TEST(queue_layout(queue_kind::fifo, "/q").claim("x") == "/q/_claim-x");
  BOOST_TEST(queue_layout(queue_kind::delayed, "/").claim("x") == "/_claim-x");
}

BOOST_AUTO_TEST_CASE(a_dead_letter_keeps_every_byte) {
  const std::string data("\n{\"item\":1}\n\0\xff", 14);
  dead_letter written{.item = "qn-0000000001", .data = data, .reason = "says \"no\"\n", .attempts = 3};
  const auto text = write_letter(written);
  const auto letter = read_letter(text);
  BOOST_TEST_REQUIRE(letter.has_value());
  BOOST_TEST(letter->item == "qn-0000000001");
  BOOST_TEST(letter->attempts == 3);
  BOOST_TEST(letter->reason == "says \"no\"\n");
  BOOST_TEST((letter->data == data));
  BOOST_TEST(letter->epoch == 0);
  written.epoch = 7;
  written.first_failed = 1'700'000'000'000;
  written.last_failed = 1'700'000'000'001;
  const auto of_consumer = read_letter(write_letter(written));
  BOOST_TEST_REQUIRE(of_consumer.has_value());
  BOOST_TEST(of_consumer->epoch == 7);
  BOOST_TEST(of_consumer->first_failed == 1'700'000'000'000);
  BOOST_TEST(of_consumer->last_failed == 1'700'000'000'001);
  written.reason.assign(5000, 'x');
  BOOST_TEST(read_letter(write_letter(written))->reason.size() == 1000u);
}

BOOST_AUTO_TEST_CASE(what_is_no_dead_letter_is_none) {
  for (const auto* none : {"", "\n", "{}\n", "{\"item\":\"i\"}\nx", "{\"item\":1,\"attempts\":1,\"reason\":\"r\"}\n",
                           "{\"item\":\"i\",\"attempts\":1,\"reason\":\"r\"}", "[1]\n"}) {
    BOOST_TEST(!read_letter(none), none);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// A model of takers of one queue. Each draws from its own copy of the list, and hears one step later whether its claim
// was in time.
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
