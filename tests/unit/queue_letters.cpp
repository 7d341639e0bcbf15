// An operator's operations on a queue: its status, and dead letters that are read, revived and discarded.
#include <algorithm>
#include <deque>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "delivery/delivery_window.hpp"
#include "queue/item_list.hpp"
#include "queue/queue_layout.hpp"
#include "source/log_source.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace zkrecipes::detail;

namespace {

struct asking : fake_session {
  asking() : line(zk, "/q", {.max_list_bytes = 0}) { connect(); }

  template <class Queue>
  recorder<queue_status> ask_status(Queue& which) {
    return which.async_status(begun());
  }
  recorder<std::vector<dead_letter>> ask_letters(std::size_t so_many) {
    auto made = line.async_dead_letters(begun());
    std::vector<std::string> names;
    for (std::size_t i = 0; i < so_many; ++i) names.push_back("letter-" + std::to_string(1'000'000'000 + i));
    list(std::move(names));
    return made;
  }
  void answer_letter() {
    answer_with(
        {.data = detail::write_letter({.item = "qn-0000000001", .data = "data", .reason = "bad", .attempts = 2})});
  }
  queue line;
};

const dead_letter letter{.name = "letter-0000000001", .item = "qn-0000000001", .data = "data", .reason = {}};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_letters, asking)

BOOST_AUTO_TEST_CASE(a_list_that_can_not_be_read_is_not_taken_for_empty) {
  auto status = ask_status(line);
  list({});
  CHECK_PENDING("children /q/_dead");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(status, errc::no_auth));

  priority_queue apart(zk, "/p");
  status = ask_status(apart);
  list({});
  CHECK_PENDING("children /p-side");
  fail(errc::no_auth);
  BOOST_TEST_REQUIRE(ended_with(status, errc::no_auth));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_missing_is_empty) {
  priority_queue apart(zk, "/p");
  auto status = ask_status(apart);
  list({});
  fail(errc::no_node);
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(succeeded(status));
  BOOST_TEST(status.result<0>().dead == 0u);
}

BOOST_AUTO_TEST_CASE(a_status_writes_nothing) {
  auto status = ask_status(line);
  list({"qn-0000000001"});
  CHECK_PENDING("children /q/_dead");
  fail(errc::no_node);
  CHECK_PENDING("exists /q/qn-0000000001");
  answer_with(
      {.stat = {.ctime = std::chrono::floor<std::chrono::milliseconds>(now().time_since_epoch()).count() - 7'000}});
  BOOST_TEST_REQUIRE(status.done(), "without a request that writes");
  BOOST_TEST(!status.error());
  BOOST_TEST((status.result<0>().oldest == 7s));
}

BOOST_AUTO_TEST_CASE(letters_are_read_a_hundred_at_once) {
  auto letters = ask_letters(250);
  for (std::size_t batch : {100, 100, 50}) {
    BOOST_TEST_REQUIRE(pending().size() == batch);
    fail(errc::no_node);  // this letter was revived meanwhile
    for (std::size_t i = 1; i < batch; ++i) answer_letter();
  }
  BOOST_TEST_REQUIRE(succeeded(letters));
  const auto& found = letters.result<0>();
  BOOST_TEST_REQUIRE(found.size() == 247u);
  BOOST_TEST(found.front().name == "letter-1000000001");
  BOOST_TEST(found.back().name == "letter-1000000249");
  BOOST_TEST(found.back().reason == "bad");
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_ends_it) {
  auto letters = ask_letters(250);
  answer_letter();
  fail(errc::no_auth);
  for (int i = 2; i < 100; ++i) answer_letter();
  BOOST_TEST_REQUIRE(ended_with(letters, errc::no_auth));
  BOOST_TEST(letters.result<0>().size() == 1u);
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(a_letter_that_has_gone_after_a_lost_reply_may_have_been_taken_by_us) {
  for (bool discards : {true, false}) {
    auto done = record<>();
    discards ? line.async_discard(letter, done.token()) : line.async_revive(letter, done.token());
    settle();
    const auto asked = discards ? "remove /q/_dead/letter-0000000001" : "multi /";
    CHECK_PENDING(asked);
    reconnect();
    CHECK_PENDING(discards ? asked : "exists /q/_dead/letter-0000000001");
    fail(errc::no_node);
    BOOST_TEST_REQUIRE(ended_with(done, errc::outcome_unknown));
  }
}

BOOST_AUTO_TEST_CASE(a_letter_that_was_gone_before_is_told) {
  auto done = line.async_discard(letter, begun());
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(done, errc::no_node));
}

BOOST_AUTO_TEST_SUITE_END()

// Dead letters that keep a part of their message, because all of it is too large for a request.
namespace {

constexpr std::size_t bytes_of_request = 1'000'000;

struct large_message {
  large_message() {
    what.name = "5-1";
    what.key = "k";
    what.data.assign(3'000, 'x');
    what.attempts = 3;
    how.how = settlement::kind::park;
    how.what = &what;
    how.reason = "no";
    how.epoch = 7;
  }
  dead_letter letter() const { return letter_of(how, 4); }

  message what;
  settlement how;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cut_letters)

BOOST_FIXTURE_TEST_CASE(without_a_bound_a_letter_is_whole, large_message) {
  what.key.assign(2'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.item == "0004/5-1");
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
  BOOST_TEST(write_letter(made).find("missing_bytes") == std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(what_is_left_out_is_counted, large_message) {
  how.most_data = 1'000;
  auto made = letter();
  BOOST_TEST(made.data == std::string(1'000, 'x'));
  BOOST_TEST(made.key == "k");
  BOOST_TEST(made.reason == "no");
  BOOST_TEST(made.missing_bytes == 2'000u);
  how.most_data = 0;
  what.key.assign(5'000, 'k');
  made = letter();
  BOOST_TEST(made.data.empty());
  BOOST_TEST(made.key == std::string(1'000, 'k'));
  BOOST_TEST(made.missing_bytes == 7'000u);
}

BOOST_FIXTURE_TEST_CASE(a_bound_that_is_not_reached_leaves_it_whole, large_message) {
  how.most_data = 3'000;
  what.key.assign(1'000, 'k');
  const auto made = letter();
  BOOST_TEST(made.data == what.data);
  BOOST_TEST(made.key == what.key);
  BOOST_TEST(made.missing_bytes == 0u);
}

BOOST_FIXTURE_TEST_CASE(it_is_stored_with_what_is_missing, large_message) {
  how.most_data = 5;
  const auto text = write_letter(letter());
  BOOST_TEST(text.ends_with(",\"missing_bytes\":2995}\nxxxxx"), text);
  const auto read = read_letter(text);
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(read->missing_bytes == 2'995u);
  BOOST_TEST(read->data == "xxxxx");
  BOOST_TEST(read->key == "k");
  BOOST_TEST(read->reason == "no");
  BOOST_TEST(read->epoch == 7);
}

BOOST_AUTO_TEST_CASE(a_letter_that_may_be_cut_is_not_taken_for_whole) {
  const auto with = [](const std::string& field) {
    return read_letter(R"({"zkrecipes":"dead_letter","item":"i","attempts":1,"reason":"r")" + field + "}\ndata");
  };
  BOOST_TEST_REQUIRE(with("").has_value());
  BOOST_TEST(with("")->missing_bytes == 0u);
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":0)").has_value());
  BOOST_TEST_REQUIRE(with(R"(,"missing_bytes":9223372036854775807)").has_value());
  BOOST_TEST(with(R"(,"missing_bytes":9223372036854775807)")->missing_bytes == 9'223'372'036'854'775'807u);
  for (const auto* bad : {"-1", "9223372036854775808", "2.5", "\"7\"", "null"}) {
    BOOST_TEST(!with(std::string(",\"missing_bytes\":") + bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(a_message_that_stays_whole_loses_its_reason_only) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, false, bytes_of_request));
  BOOST_TEST(!bounds.has_reason);
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(!bounds.shrink(false, false, bytes_of_request));
}

BOOST_AUTO_TEST_CASE(a_message_that_may_be_cut_keeps_its_reason_and_as_much_as_fits) {
  letter_bounds bounds;
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(!bounds.most_data.has_value());
  BOOST_TEST(bounds.shrink(false, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 2);
  BOOST_TEST(bounds.shrink(true, true, bytes_of_request));
  BOOST_TEST(bounds.has_reason);
  BOOST_TEST(bounds.most_data.value() == bytes_of_request / 4);
}

BOOST_AUTO_TEST_CASE(it_gets_smaller_until_nothing_is_left) {
  for (const bool is_told : {true, false}) {
    letter_bounds bounds;
    auto most = bytes_of_request;
    std::size_t steps = 0;
    while (bounds.shrink(is_told && bounds.has_reason, true, bytes_of_request)) {
      BOOST_TEST_REQUIRE(++steps < 50u);
      BOOST_TEST(bounds.most_data.value_or(bytes_of_request) <= most);
      most = bounds.most_data.value_or(bytes_of_request);
    }
    BOOST_TEST(bounds.most_data.value() == 0u);
    BOOST_TEST(bounds.has_reason == !is_told);
  }
}

BOOST_AUTO_TEST_SUITE_END()

// Names of items, and dead letters.

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
