// Names of items, and dead letters.
#include "queue/queue_layout.hpp"

#include <boost/test/unit_test.hpp>

#include "queue/dead_letter.hpp"

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
