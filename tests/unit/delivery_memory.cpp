// The memory of deliveries: stored and read again, and refused where it is damaged.
#include "external/delivery_memory.hpp"

#include <cstdint>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

using namespace zkrecipes::detail;

namespace {

using id_list = std::vector<std::string>;

std::string memory_record(const std::string& fields) {
  return R"({"zkrecipes":"delivery_memory","settled":3)" + fields + '}';
}

delivery_memory read_memory(const std::string& text) {
  auto read = parse_delivery_memory(text);
  BOOST_TEST_REQUIRE(read.has_value(), text);
  return std::move(*read);
}

/// Settles, fails and forgets at random, and compares with plain sets.
class random_memory {
 public:
  explicit random_memory(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 12; ++i) ids_.push_back("zkr:p:" + std::to_string(1 + i % 3) + ':' + std::to_string(1 + i / 2));
    for (const auto* each : {"plain", "with a blank", "\"quoted\"\n", "\xff\x01", "zkr:p:1:0", "7 2 1700"})
      ids_.push_back(each);
  }
  void run() {
    for (int step = 0; step < 80; ++step) {
      const auto& id = ids_[random_() % ids_.size()];
      act(id);
      compare();
      const auto text = serialize(memory_);
      memory_ = read_memory(text);
      compare();
      BOOST_TEST_REQUIRE(serialize(memory_) == text);
    }
  }

 private:
  void act(const std::string& id) {
    const auto what = random_() % 6;
    if (what == 0) {
      memory_.forget(id);
      if (!parse_numbered_id(id)) settled_.erase(id);
      failed_.erase(id);
    } else if (what < 3) {
      memory_.fail(id, static_cast<std::int64_t>(1'700 + step_++));
      auto& attempts = failed_[id];
      if (attempts.count++ == 0) attempts.since = static_cast<std::int64_t>(1'699 + step_);
    } else {
      memory_.settle(id);
      settled_.insert(id);
      failed_.erase(id);
    }
  }
  void compare() const {
    for (const auto& each : ids_) {
      BOOST_TEST_REQUIRE(memory_.knows(each) == settled_.contains(each), each);
      const auto found = failed_.find(each);
      const auto expected = found == failed_.end() ? failed_attempts() : found->second;
      BOOST_TEST_REQUIRE(memory_.failed(each).count == expected.count);
      BOOST_TEST_REQUIRE(memory_.failed(each).since == expected.since);
    }
    BOOST_TEST_REQUIRE(memory_.failed_names().size() == failed_.size());
  }

  std::mt19937_64 random_;
  id_list ids_;
  delivery_memory memory_;
  std::set<std::string> settled_;
  std::map<std::string, failed_attempts> failed_;
  int step_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(delivery_memories)

BOOST_AUTO_TEST_CASE(a_new_memory_knows_nothing) {
  const delivery_memory memory;
  BOOST_TEST(memory.is_new());
  BOOST_TEST(!memory.knows("a"));
  BOOST_TEST(serialize(memory) == R"({"zkrecipes":"delivery_memory","settled":0})");
  BOOST_TEST(read_memory(serialize(memory)).is_new());
}

BOOST_AUTO_TEST_CASE(it_is_stored_as_documented) {
  delivery_memory memory;
  for (const auto* each : {"zkr:orders:7:1", "zkr:orders:7:2", "b", "zkr:orders:7:4", "a", "zkr:x:9:3"})
    memory.settle(each);
  memory.fail("an id", 1'700);
  memory.fail("an id", 1'800);
  BOOST_TEST(serialize(memory) == R"({"zkrecipes":"delivery_memory","settled":6,"runs":["1-2,4 7 orders","3 9 x"],)"
                                  R"("names":["b","a"],"failed":["an id 2 1700"]})");
  BOOST_TEST(memory.names() == id_list({"b", "a"}), boost::test_tools::per_element());
}

// Else a queue that was consumed and has gone would be taken for one that was never there.
BOOST_AUTO_TEST_CASE(a_memory_that_has_forgotten_all_is_not_new) {
  delivery_memory memory;
  memory.settle("a");
  memory.forget("a");
  BOOST_TEST(!memory.knows("a"));
  BOOST_TEST(!memory.is_new());
  BOOST_TEST(!read_memory(serialize(memory)).is_new());
  delivery_memory failing;
  failing.fail("a", 1);
  BOOST_TEST(!failing.is_new());
}

BOOST_AUTO_TEST_CASE(numbers_are_known_for_ever_and_names_until_they_are_forgotten) {
  delivery_memory memory;
  for (const auto* each : {"zkr:p:1:1", "plain"}) memory.settle(each);
  for (const auto* each : {"zkr:p:1:1", "plain"}) memory.forget(each);
  BOOST_TEST(memory.knows("zkr:p:1:1"));
  BOOST_TEST(!memory.knows("zkr:p:1:2"));
  BOOST_TEST(!memory.knows("plain"));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_of_no_other_message_are_settled_with_one) {
  delivery_memory memory;
  memory.settle("zkr:p:1:3");
  memory.settle("zkr:p:1:9", 4);
  memory.settle("zkr:p:1:12", 13);  // that says nothing
  memory.settle("plain", 4);
  BOOST_TEST(serialize(memory) ==
             R"({"zkrecipes":"delivery_memory","settled":4,"runs":["3-9,12 1 p"],"names":["plain"]})");
}

BOOST_AUTO_TEST_CASE(a_message_that_is_settled_or_forgotten_has_no_failed_attempts) {
  delivery_memory memory;
  for (const auto* each : {"a", "b", "zkr:p:1:1"}) memory.fail(each, 5);
  memory.settle("a");
  memory.forget("b");
  BOOST_TEST(memory.failed_names() == id_list({"zkr:p:1:1"}), boost::test_tools::per_element());
  memory.settle("zkr:p:1:1");
  BOOST_TEST(memory.failed("zkr:p:1:1").count == 0);
}

BOOST_AUTO_TEST_CASE(it_does_as_the_model_and_comes_back_as_it_was) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) { random_memory(seed).run(); }
  }
}

BOOST_AUTO_TEST_CASE(of_too_many_names_the_first_is_forgotten) {
  delivery_memory memory;
  for (std::size_t i = 0; i <= delivery_memory::most_names; ++i) memory.settle(std::to_string(i));
  BOOST_TEST(!memory.knows("0"));
  BOOST_TEST(memory.knows("1"));
  BOOST_TEST(memory.names().size() == delivery_memory::most_names);
  BOOST_TEST(parse_delivery_memory(serialize(memory)).has_value());
}

// A server takes no request of more than 1 MB, and a record that is too large could never be written again.
BOOST_AUTO_TEST_CASE(it_fits_into_a_request_whatever_the_ids_are) {
  delivery_memory memory;
  const auto id_of = [](std::size_t number) { return std::string(240, '\x01') + std::to_string(number); };
  constexpr std::size_t count = 3'000;
  for (std::size_t i = 0; i < count; ++i) memory.fail("failed " + id_of(i), 1'700'000'000'000);
  for (std::size_t i = 0; i < count; ++i) memory.settle(id_of(i));
  BOOST_TEST(serialize(memory).size() < 800'000u);
  BOOST_TEST(!memory.knows(id_of(0)));
  BOOST_TEST(memory.knows(id_of(count - 1)));
  BOOST_TEST(memory.failed("failed " + id_of(0)).count == 1);
  BOOST_TEST(memory.failed("failed " + id_of(count - 1)).count == 0);
  auto next = read_memory(serialize(memory));
  BOOST_TEST(serialize(next) == serialize(memory));
  for (const auto& each : next.names()) next.forget(each);
  for (const auto& each : next.failed_names()) next.forget(each);
  for (std::size_t i = 0; i < 1'000; ++i) next.settle(std::to_string(i));
  BOOST_TEST(next.names().size() == 1'000u);
}

BOOST_AUTO_TEST_CASE(it_fits_into_a_request_whatever_the_names_of_producers_are) {
  delivery_memory memory;
  const auto filler = [](const std::string& kind, std::size_t i) {
    return kind + std::string(230, '\x01') + std::to_string(i);
  };
  const auto id_of = [](std::size_t i) { return "zkr:" + std::string(235, '\x01') + ':' + std::to_string(i) + ":1"; };
  for (std::size_t i = 0; i < 3'000; ++i) memory.fail(filler("f", i), 1'700'000'000'000);
  for (std::size_t i = 0; i < 3'000; ++i) memory.settle(filler("n", i));
  for (std::size_t i = 0; i < 3'000; ++i) memory.settle(id_of(i));
  BOOST_TEST(serialize(memory).size() < 1'000'000u);
  BOOST_TEST(memory.knows(id_of(2'999)));
  auto next = read_memory(serialize(memory));
  BOOST_TEST(serialize(next) == serialize(memory));
  for (std::size_t i = 3'000; i < 6'000; ++i) next.settle(id_of(i));
  BOOST_TEST(serialize(next).size() < 1'000'000u);
}

BOOST_AUTO_TEST_CASE(of_too_many_failed_messages_the_last_are_not_counted) {
  delivery_memory memory;
  for (std::size_t i = 0; i <= delivery_memory::most_failed; ++i) memory.fail(std::to_string(i), 1);
  memory.fail("0", 2);
  BOOST_TEST(memory.failed("0").count == 2);
  BOOST_TEST(memory.failed(std::to_string(delivery_memory::most_failed)).count == 0);
  BOOST_TEST(parse_delivery_memory(serialize(memory)).has_value());
}

BOOST_AUTO_TEST_CASE(fields_of_a_later_version_are_kept) {
  const auto text = memory_record(R"(,"names":["a"],"more":{"x":1})");
  BOOST_TEST(serialize(read_memory(text)) == text);
}

BOOST_AUTO_TEST_CASE(what_is_no_such_record_is_foreign) {
  for (const auto* each : {R"(,"runs":["1 7"])",
                           R"(,"runs":["1 7 "])",
                           R"(,"runs":["0 7 p"])",
                           R"(,"runs":["1,2 7 p"])",
                           R"(,"runs":["1 07 p"])",
                           R"(,"runs":[" 7 p"])",
                           R"(,"runs":["1 x p"])",
                           R"(,"runs":["1 7 p","2 7 p"])",
                           R"(,"runs":"1 7 p")",
                           R"(,"runs":[1])",
                           R"(,"names":[""])",
                           R"(,"names":["a","a"])",
                           R"(,"names":["zkr:p:1:1"])",
                           R"(,"names":{})",
                           R"(,"names":[1])",
                           R"(,"failed":["a"])",
                           R"(,"failed":["a 1"])",
                           R"(,"failed":["a 0 5"])",
                           R"(,"failed":[" 1 5"])",
                           R"(,"failed":["a x 5"])",
                           R"(,"failed":["a 1 -5"])",
                           R"(,"failed":["a 1 5","a 2 5"])",
                           R"(,"failed":["a 2147483647 5"])",
                           R"(,"failed":7)"}) {
    BOOST_TEST(!parse_delivery_memory(memory_record(each)), each);
  }
  for (const auto* each :
       {"", "{}", "x", R"({"zkrecipes":"delivery_memory"})", R"({"zkrecipes":"delivery_memory","settled":-1})",
        R"({"zkrecipes":"delivery_memory","settled":"1"})", R"({"zkrecipes":"position","settled":1})"}) {
    BOOST_TEST(!parse_delivery_memory(each), each);
  }
  const auto long_name = std::string(256, 'n');
  BOOST_TEST(!parse_delivery_memory(memory_record(R"(,"runs":["1 7 )" + long_name + "\"]")));
}

/// Bytes are changed, dropped and doubled: a text that is still a memory is written again as one.
BOOST_AUTO_TEST_CASE(damaged_texts_are_refused_or_read_as_a_memory) {
  const auto good = memory_record(R"(,"runs":["1-2,4 7 orders","3 9 x"],"names":["b","a"],"failed":["an id 2 1700"])");
  std::size_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 5'000; ++seed) {
    std::mt19937_64 random(seed);
    auto text = good;
    const auto at = random() % text.size();
    if (random() % 3 == 0) text.erase(at, 1 + random() % 3);
    if (random() % 3 == 0) text.insert(at, text.substr(at, 1 + random() % 5));
    if (random() % 3 == 0) text[at % text.size()] = static_cast<char>(random());
    const auto read = parse_delivery_memory(text);
    if (!read) ++refused;
    if (read) BOOST_TEST_REQUIRE(parse_delivery_memory(serialize(*read)).has_value(), text);
  }
  BOOST_TEST(refused > 500u);
}

BOOST_AUTO_TEST_SUITE_END()

// Which numbers of a producer are settled, how that is stored, and what is forgotten.

namespace {

constexpr auto largest_settled = std::numeric_limits<std::uint64_t>::max();

settled_run run_of(std::initializer_list<std::uint64_t> numbers) {
  settled_run all;
  for (const auto each : numbers) all.add(each);
  return all;
}

/// As long as nothing is recent.
void settle_others(settled_runs& all) {
  for (std::uint64_t i = 0; i < settled_runs::recent_settlements; ++i) all.count_settlement();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(settled_numbers)

BOOST_AUTO_TEST_CASE(ranges_are_joined_when_the_number_between_them_is_settled) {
  auto all = run_of({3, 1, 6, 4});
  BOOST_TEST(all.to_text() == "1,3-4,6");
  all.add(5);
  BOOST_TEST(all.to_text() == "1,3-6");
  all.add(2);
  all.add(2);
  BOOST_TEST(all.to_text() == "1-6");
  BOOST_TEST(all.has(6));
  BOOST_TEST(!all.has(7));
  BOOST_TEST(!all.has(0));
}

BOOST_AUTO_TEST_CASE(the_smallest_and_the_largest_number_are_numbers_like_others) {
  auto all = run_of({largest_settled, 1, largest_settled - 2});
  BOOST_TEST(all.to_text() == "1,18446744073709551613,18446744073709551615");
  all.add(largest_settled - 1);
  BOOST_TEST(all.to_text() == "1,18446744073709551613-18446744073709551615");
  BOOST_TEST(all.has(largest_settled));
  all.add(0);
  BOOST_TEST(!all.has(0));
  const auto again = settled_run::parse(all.to_text());
  BOOST_TEST_REQUIRE(again.has_value());
  BOOST_TEST(again->to_text() == all.to_text());
}

BOOST_AUTO_TEST_CASE(of_too_many_ranges_the_lowest_is_forgotten_and_no_other_number_becomes_settled) {
  settled_run all;
  for (std::uint64_t i = 1; i <= settled_run::most_ranges; ++i) all.add(2 * i);
  BOOST_TEST(all.has(2));
  all.add(2 * settled_run::most_ranges + 2);
  BOOST_TEST(!all.has(2));
  BOOST_TEST(all.has(4));
  BOOST_TEST(!all.has(3));
  BOOST_TEST(all.count_ranges() == settled_run::most_ranges);
  BOOST_TEST(settled_run::parse(all.to_text()).has_value());
}

BOOST_AUTO_TEST_CASE(a_range_takes_in_what_it_touches) {
  auto all = run_of({3, 7, 12, 20});
  all.add(9, 10);
  BOOST_TEST(all.to_text() == "3,7,9-10,12,20");
  all.add(4, 6);
  BOOST_TEST(all.to_text() == "3-7,9-10,12,20");
  all.add(5, 15);
  BOOST_TEST(all.to_text() == "3-15,20");
  all.add(8, 9);
  BOOST_TEST(all.to_text() == "3-15,20");
  all.add(1, largest_settled);
  BOOST_TEST(all.to_text() == "1-18446744073709551615");
  all.add(0, 5);
  all.add(5, 4);
  BOOST_TEST(all.to_text() == "1-18446744073709551615");
}

BOOST_AUTO_TEST_CASE(ranges_do_as_a_set_of_numbers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    settled_run all;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 30; ++step) {
      const auto first = 1 + random() % 40, last = first + random() % 5;
      all.add(first, last);
      for (auto i = first; i <= last; ++i) model.insert(i);
      for (std::uint64_t i = 0; i <= 46; ++i) BOOST_TEST_REQUIRE(all.has(i) == model.contains(i));
      const auto again = settled_run::parse(all.to_text());
      BOOST_TEST_REQUIRE(again.has_value());
      BOOST_TEST_REQUIRE(again->to_text() == all.to_text());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_does_as_a_set_of_numbers) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    std::mt19937_64 random(seed);
    settled_run all;
    std::set<std::uint64_t> model;
    for (int step = 0; step < 60; ++step) {
      const auto number = 1 + random() % 30;
      all.add(number);
      model.insert(number);
      for (std::uint64_t i = 0; i <= 31; ++i) BOOST_TEST_REQUIRE(all.has(i) == model.contains(i));
      const auto again = settled_run::parse(all.to_text());
      BOOST_TEST_REQUIRE(again.has_value());
      BOOST_TEST_REQUIRE(again->to_text() == all.to_text());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_removed_from_a_run_leaves_the_rest) {
  auto all = *settled_run::parse("1-29,32-39,57");
  all.remove(*settled_run::parse("1,5-8,35-40,50-60"));
  BOOST_TEST(all.to_text() == "2-4,9-29,32-34");
  all.remove(*settled_run::parse("1-100"));
  BOOST_TEST(all.empty());
}

BOOST_AUTO_TEST_CASE(a_text_that_is_written_in_another_way_is_none) {
  for (const auto* each : {"",
                           ",",
                           "0",
                           "0-3",
                           "1,",
                           ",1",
                           "1,,3",
                           "1-2,3",
                           "1-3,2",
                           "1,2",
                           "2,1",
                           "5-5",
                           "5-3",
                           "1-",
                           "-1",
                           "01",
                           "1 ",
                           "1-2-3",
                           "1-18446744073709551616",
                           "x"}) {
    BOOST_TEST(!settled_run::parse(each), each);
  }
  std::string many = "1";
  for (std::uint64_t i = 1; i < settled_run::most_ranges; ++i) many += ',' + std::to_string(2 * i + 1);
  BOOST_TEST(settled_run::parse(many).has_value());
  BOOST_TEST(!settled_run::parse(many + ",9000000").has_value());
}

BOOST_AUTO_TEST_CASE(an_epoch_has_its_own_numbers) {
  settled_runs all;
  all.add({"p", 7, 1});
  BOOST_TEST(all.has({"p", 7, 1}));
  BOOST_TEST(!all.has({"p", 8, 1}));
  BOOST_TEST(!all.has({"q", 7, 1}));
}

BOOST_AUTO_TEST_CASE(of_a_producer_the_smallest_epochs_are_forgotten_but_none_that_was_used_recently) {
  settled_runs all;
  for (std::uint64_t epoch = 1; epoch <= 6; ++epoch) all.add({"p", epoch, 1});
  BOOST_TEST(all.texts().size() == 6u);
  settle_others(all);
  all.add({"p", 2, 2});
  all.add({"q", 1, 1});
  BOOST_TEST(all.texts().size() == 7u);  // only a new epoch of the producer pushes others out
  all.add({"p", 7, 1});
  BOOST_TEST(!all.has({"p", 1, 1}));
  BOOST_TEST(all.has({"p", 2, 1}));
  for (const std::uint64_t gone : {3, 4}) BOOST_TEST(!all.has({"p", gone, 1}));
  for (const std::uint64_t kept : {5, 6, 7}) BOOST_TEST(all.has({"p", kept, 1}));
  BOOST_TEST(all.has({"q", 1, 1}));
}

BOOST_AUTO_TEST_CASE(the_producer_that_was_used_longest_ago_is_forgotten_with_all_its_epochs) {
  settled_runs all;
  const auto name_of = [](std::size_t i) { return "producer " + std::to_string(i); };
  for (std::size_t i = 0; i < settled_runs::most_producers; ++i) {
    all.add({name_of(i), 1, 1});
    all.add({name_of(i), 2, 1});
  }
  all.add({name_of(0), 1, 2});
  all.add({"one more", 1, 1});
  BOOST_TEST(all.has({name_of(1), 1, 1}));  // it was used recently
  settle_others(all);
  all.add({"and one more", 1, 1});
  BOOST_TEST(all.has({name_of(0), 2, 1}));
  for (const std::size_t gone : {1, 2}) {
    BOOST_TEST(!all.has({name_of(gone), 1, 1}));
    BOOST_TEST(!all.has({name_of(gone), 2, 1}));
  }
  BOOST_TEST(all.has({name_of(3), 1, 1}));
}

BOOST_AUTO_TEST_CASE(there_are_never_more_runs_than_the_bound) {
  settled_runs all;
  for (std::uint64_t i = 1; i < settled_runs::most_producers; ++i) {
    for (std::uint64_t epoch = 1; epoch <= settled_runs::most_epochs; ++epoch)
      all.add({"old " + std::to_string(i), epoch, 1});
  }
  settle_others(all);
  for (std::uint64_t epoch = 1; epoch <= settled_runs::recent_settlements; ++epoch) all.add({"p", epoch, 1});
  BOOST_TEST(all.texts().size() == settled_runs::most_runs);
  BOOST_TEST(!all.has({"old 1", 1, 1}));
  BOOST_TEST(all.has({"p", 1, 1}));
  BOOST_TEST(all.has({"p", settled_runs::recent_settlements, 1}));
}

// A producer that was forgotten is not taken for one whose messages have not come.
BOOST_AUTO_TEST_CASE(a_run_that_was_forgotten_for_its_bytes_may_have_been) {
  settled_runs all;
  constexpr std::uint64_t far = 1'000'000'000'000'000;
  const auto name_of = [](std::size_t i) { return "producer " + std::to_string(i); };
  all.add({name_of(0), 1, 1});
  BOOST_TEST(!all.may_have_forgotten(name_of(0)));
  for (std::size_t i = 1; all.has({name_of(0), 1, 1}) && i < 100; ++i) {
    for (std::uint64_t range = 0; range < 700; ++range) all.add({name_of(i), 1, far + 2 * range});
  }
  BOOST_TEST(!all.has({name_of(0), 1, 1}));
  BOOST_TEST(all.may_have_forgotten(name_of(0)));
}

BOOST_AUTO_TEST_CASE(there_are_never_more_ranges_than_the_bound) {
  settled_runs all;
  for (std::uint64_t i = 1; i <= settled_runs::most_ranges + 50; ++i) all.add({"p" + std::to_string(i % 20), 1, 2 * i});
  settled_runs again;
  for (const auto& each : all.texts()) BOOST_TEST_REQUIRE(again.append(each));
  BOOST_TEST(!all.has({"p1", 1, 2}));
  BOOST_TEST(all.has({"p1", 1, 2 * (settled_runs::most_ranges + 41)}));
}

BOOST_AUTO_TEST_SUITE_END()
