// The records of a source of the user's, and the messages that are in hand.
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "external/place_progress.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

std::string fields_of(const place_progress& progress) {
  const auto text = serialize(progress.position());
  return text.substr(text.find(',') + 1);
}

std::string position_text(const std::string& fields) { return R"({"zkrecipes":"external_position",)" + fields + "}"; }

place_progress progress_from(const std::string& fields) {
  auto read = parse_place_position(position_text(fields));
  BOOST_TEST_REQUIRE(read.has_value(), fields);
  return place_progress(std::move(*read));
}

std::string row(std::size_t number) { return "row " + std::to_string(number); }

external_message message_with_id(std::string id) {
  external_message one;
  one.id = std::move(id);
  return one;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(external_progress)

BOOST_AUTO_TEST_CASE(settled_in_order_only_the_last_place_is_stored) {
  place_progress progress;
  for (const auto* each : {"a", "b", "c"}) BOOST_TEST(progress.open(each));
  progress.settle("a");
  BOOST_TEST(fields_of(progress) == R"("last":"a"})");
  progress.settle("b");
  progress.settle("c");
  BOOST_TEST(fields_of(progress) == R"("last":"c"})");
  BOOST_TEST(progress.last() == "c");
}

BOOST_AUTO_TEST_CASE(what_is_settled_ahead_is_stored_until_the_gap_is_closed) {
  place_progress progress;
  for (const auto* each : {"e", "d", "c", "b"}) progress.open(each);  // only their order counts
  progress.settle("b");
  progress.settle("d");
  BOOST_TEST(fields_of(progress) == R"("last":"","ahead":["d","b"]})");
  progress.settle("e");
  BOOST_TEST(fields_of(progress) == R"("last":"d","ahead":["b"]})");
  progress.settle("c");
  BOOST_TEST(fields_of(progress) == R"("last":"b"})");
}

BOOST_AUTO_TEST_CASE(the_next_term_opens_only_what_is_not_settled) {
  auto next = progress_from(R"("last":"3","ahead":["5","8","9"])");
  std::vector<std::string> opened;
  for (const auto* each : {"4", "5", "6", "7", "8", "9", "10"}) {
    if (next.open(each)) opened.emplace_back(each);
  }
  BOOST_TEST(opened == std::vector<std::string>({"4", "6", "7", "10"}), boost::test_tools::per_element());
  BOOST_TEST(fields_of(next) == R"("last":"3","ahead":["5","8","9"]})");
  for (const auto* each : {"4", "6", "7"}) next.settle(each);
  BOOST_TEST(fields_of(next) == R"("last":"9"})");
}

BOOST_AUTO_TEST_CASE(a_place_that_comes_again_is_opened_once) {
  place_progress progress;
  BOOST_TEST(progress.open("a"));
  BOOST_TEST(!progress.open("a"));
  progress.settle("a");
  BOOST_TEST(!progress.open("a"));
  progress.settle("a");
  progress.settle("never opened");
  BOOST_TEST(fields_of(progress) == R"("last":"a"})");
}

BOOST_AUTO_TEST_CASE(what_has_left_the_log_is_forgotten_when_a_later_place_comes) {
  auto next = progress_from(R"("last":"3","ahead":["5","8"])");
  BOOST_TEST(!next.open("8"));
  BOOST_TEST(fields_of(next) == R"("last":"8"})");
}

BOOST_AUTO_TEST_CASE(what_has_left_the_log_is_forgotten_behind_as_many_as_can_be_in_front_of_it) {
  auto next = progress_from(R"("last":"3","ahead":["5","8"],"failed":["6 1 7"])");
  for (std::size_t i = 1; i <= place_progress::most_open; ++i) {
    next.open(row(i));
    next.settle(row(i));
  }
  BOOST_TEST(fields_of(next) == R"("last":"row 2000","ahead":["5","8"],"failed":["6 1 7"]})");
  next.open("last");
  BOOST_TEST(fields_of(next) == R"("last":"row 2000"})");
}

// Else the record of a log in which one message rests could not be written any more.
BOOST_AUTO_TEST_CASE(no_more_is_read_when_too_much_is_settled_ahead_of_a_message) {
  place_progress progress;
  const auto long_row = [](std::size_t number) { return std::string(200, 'r') + std::to_string(number); };
  BOOST_TEST(progress.open("first"));
  std::size_t count = 0;
  for (; count < 10'000 && !progress.is_far_ahead(); ++count) {
    progress.open(long_row(count));
    progress.settle(long_row(count));
  }
  BOOST_TEST(count > 1'000u);
  BOOST_TEST(serialize(progress.position()).size() < 500'000u);
  auto next = place_progress(progress.position());
  BOOST_TEST(!next.is_far_ahead());  // the first one has to be read
  BOOST_TEST(next.open("first"));
  BOOST_TEST(next.is_far_ahead());
  next.settle("first");
  for (std::size_t i = 0; i < count; ++i) BOOST_TEST_REQUIRE(!next.open(long_row(i)));
  BOOST_TEST(next.open("behind"));
  BOOST_TEST(!next.is_far_ahead());
  BOOST_TEST(fields_of(next) == R"("last":")" + long_row(count - 1) + "\"}");
  progress.settle("first");
  BOOST_TEST(!progress.is_far_ahead());
}

BOOST_AUTO_TEST_CASE(failed_attempts_are_stored_until_the_message_is_settled) {
  place_progress progress;
  progress.open("a b");
  progress.fail("a b", 1'700'000'000'000);
  progress.fail("a b", 1'800'000'000'000);
  progress.fail("never opened", 1);
  BOOST_TEST(fields_of(progress) == R"("last":"","failed":["a b 2 1700000000000"]})");
  auto next = progress_from(R"("last":"","failed":["a b 2 1700000000000"])");
  BOOST_TEST(next.failed("a b").count == 2);
  BOOST_TEST(next.failed("a b").since == 1'700'000'000'000);
  next.open("a b");
  next.settle("a b");
  BOOST_TEST(fields_of(next) == R"("last":"a b"})");
}

BOOST_AUTO_TEST_CASE(fields_of_a_later_version_are_kept_with_a_position) {
  const auto text = position_text(R"("last":"5","colour":{"x":[1]})");
  BOOST_TEST(serialize(*parse_place_position(text)) == text);
}

BOOST_AUTO_TEST_CASE(what_is_no_position_in_a_log_is_refused) {
  BOOST_TEST(!parse_place_position(""));
  BOOST_TEST(!parse_place_position("{}"));
  BOOST_TEST(!parse_place_position(R"({"zkrecipes":"stream_position","last":"5-0"})"));
  for (const auto* each : {R"("first":"5")", R"("last":5)", R"("last":"5","ahead":"6")", R"("last":"5","ahead":["5"])",
                           R"("last":"5","ahead":[""])", R"("last":"5","ahead":["6","6"])",
                           R"("last":"5","failed":["7 2"])", R"("last":"5","failed":[" 2 1"])"}) {
    BOOST_TEST(!parse_place_position(position_text(each)).has_value(), each);
  }
}

/// Terms follow each other, each from what the one before has stored, while the log loses messages. Each of the others
/// is settled once.
BOOST_AUTO_TEST_CASE(whatever_the_order_each_place_is_opened_until_it_is_settled) {
  std::mt19937 random(23);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::string> kept;
    for (std::size_t i = 1; i <= 40; ++i) kept.push_back(row(i));
    std::map<std::string, int> settled;
    std::string text = serialize(place_position());
    std::size_t from = 0;
    while (std::ranges::any_of(kept, [&](const auto& each) { return settled[each] == 0; })) {
      auto read = parse_place_position(text);
      BOOST_TEST_REQUIRE(read.has_value(), text);
      if (!read->last.empty()) from = static_cast<std::size_t>(std::ranges::find(kept, read->last) - kept.begin()) + 1;
      if (from < kept.size() && random() % 8 == 0) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(from + random() % (kept.size() - from)));
      }
      place_progress progress(std::move(*read));
      std::vector<std::string> open;
      for (auto i = from; i < std::min(kept.size(), from + 1 + random() % 20); ++i) {
        const bool is_open = progress.open(kept[i]);
        BOOST_TEST_REQUIRE(is_open == (settled[kept[i]] == 0), text + ": " + kept[i]);
        if (is_open) open.push_back(kept[i]);
      }
      std::ranges::shuffle(open, random);
      open.resize(random() % (open.size() + 1));
      for (const auto& each : open) progress.settle(each), ++settled[each];
      text = serialize(progress.position());
    }
    for (const auto& [place, times] : settled) BOOST_TEST_REQUIRE(times <= 1, place);
  }
}

BOOST_AUTO_TEST_CASE(messages_in_hand_are_bounded_by_their_number) {
  held_messages held(2);
  BOOST_TEST(held.room() == 2u);
  held.add(message_with_id("a"));
  held.add(message_with_id("b"));
  BOOST_TEST(held.room() == 0u);
  BOOST_TEST(held.contains("a"));
  BOOST_TEST(held.find("b")->id == "b");
  held.remove("a");
  held.remove("a");
  BOOST_TEST(held.find("a") == nullptr);
  BOOST_TEST(held.room() == 1u);
  held.clear();
  BOOST_TEST(held.room() == 2u);
}

BOOST_AUTO_TEST_CASE(messages_in_hand_are_bounded_by_what_their_ids_take) {
  held_messages held(2'000);
  std::size_t count = 0;
  while (held.room() > 0) held.add(message_with_id(std::string(250, '"') + std::to_string(1'000 + count++)));
  BOOST_TEST(count * held_messages::cost_of(std::string(250, '"') + "1000") <= held_messages::most_bytes);
  BOOST_TEST(count > 200u);
  held.remove(std::string(250, '"') + "1000");
  BOOST_TEST(held.room() > 0u);
}

BOOST_AUTO_TEST_CASE(the_ids_that_were_settled_last_are_remembered) {
  remembered_ids memory(3);
  for (const auto* each : {"a", "b", "c", "b", "d"}) memory.settle(each);
  BOOST_TEST(!memory.knows("a"));
  remembered_ids next(2);  // with another option
  BOOST_TEST_REQUIRE(next.load(memory.record()));
  for (const auto* each : {"b", "c", "d"}) BOOST_TEST(next.knows(each), each);
  next.forget("c");
  next.forget("never settled");
  BOOST_TEST(!next.knows("c"));
  next.settle("e");
  BOOST_TEST(!next.knows("b"));
  BOOST_TEST(next.knows("d"));
  BOOST_TEST(next.knows("e"));
  BOOST_TEST(!next.load("mine"));
}

BOOST_AUTO_TEST_CASE(a_memory_of_long_ids_is_bounded_too) {
  remembered_ids memory(10'000);
  for (int i = 0; i < 10'000; ++i) memory.settle(std::to_string(10'000 + i) + std::string(251, '\\'));
  BOOST_TEST(memory.record().size() < 512u * 1'024);
  BOOST_TEST(memory.knows("19999" + std::string(251, '\\')));
}

BOOST_AUTO_TEST_CASE(a_message_that_has_failed_and_does_not_come_again_is_forgotten) {
  remembered_ids memory(10);
  held_messages held(1'000);
  for (std::size_t i = 0; i < most_counted; ++i) memory.fail("gone " + std::to_string(i), 7, held);
  BOOST_TEST(memory.failed("gone 0").count == 1);
  for (const auto* each : {"a", "b"}) held.add(message_with_id(each));
  for (int attempt = 1; attempt <= 8; ++attempt) memory.fail("a", 8, held);
  BOOST_TEST(memory.failed("a").count == 8);
  BOOST_TEST(memory.failed("gone 0").count == 0);
  BOOST_TEST(memory.failed("gone 1").count == 1, "one goes for each that comes");
  memory.fail("b", 9, held);
  BOOST_TEST(memory.failed("b").count == 1);
  BOOST_TEST(memory.failed("a").count == 8);
}

BOOST_AUTO_TEST_SUITE_END()
