// Which deliveries are acknowledged and when, and what the broker has for certain; at random against a queue that loses
// connections and acknowledgements.
#include <cstdint>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "rabbit/random_consumer.hpp"
#include "rabbitmq/queue_progress.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

using name_list = std::vector<std::string>;

/// Those that mean all before them are negative.
std::vector<std::int64_t> sent_by(delivery_tags& tags) {
  std::vector<std::int64_t> all;
  for (const auto& each : tags.take_acknowledgements()) {
    const auto tag = static_cast<std::int64_t>(each.tag);
    all.push_back(each.is_multiple ? -tag : tag);
  }
  return all;
}

void settle_at_once(delivery_tags& tags, const std::string& id) {
  tags.settle(id);
  sent_by(tags);
}

amqp_delivery delivery_of(std::uint64_t tag, const std::string& id, bool is_redelivered = false) {
  amqp_delivery made;
  made.tag = tag;
  made.is_redelivered = is_redelivered;
  made.id = id;
  made.data = "data";
  return made;
}

#define CHECK_SENT(tags, ...) \
  BOOST_TEST(sent_by(tags) == (std::vector<std::int64_t>{__VA_ARGS__}), boost::test_tools::per_element())
#define CHECK_PROVEN(tags, ...) \
  BOOST_TEST((tags).take_proven() == (name_list{__VA_ARGS__}), boost::test_tools::per_element())

void try_seeds(bool has_flaps, bool has_unnamed) {
  std::uint64_t losses = 0;
  std::uint64_t repeats = 0;
  std::uint64_t forgotten = 0;
  for (std::uint64_t seed = 1; seed <= 1'500; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      random_consumer one(seed, has_flaps, has_unnamed);
      one.run();
      losses += one.losses;
      repeats += one.repeats;
      forgotten += one.forgotten;
    }
  }
  BOOST_TEST(losses > 1'000u);
  BOOST_TEST(repeats > 1'000u);
  BOOST_TEST(forgotten > 1'000u);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_tags)

BOOST_AUTO_TEST_CASE(one_acknowledgement_means_all_before_it_as_far_as_they_are_settled) {
  delivery_tags tags(10);
  for (std::uint64_t tag = 1; tag <= 6; ++tag) tags.add({tag, std::to_string(tag)});
  CHECK_SENT(tags);
  for (const auto* each : {"1", "2", "3", "5"}) tags.settle(each);
  CHECK_SENT(tags, -3, 5);
  BOOST_TEST(tags.unacknowledged() == 2u);
  tags.settle("6");
  CHECK_SENT(tags, 6);
  tags.settle("4");
  CHECK_SENT(tags, 4);
  CHECK_SENT(tags);
  BOOST_TEST(tags.unproven() == 6u);
}

BOOST_AUTO_TEST_CASE(all_deliveries_of_an_id_are_acknowledged_when_it_is_settled) {
  delivery_tags tags(10);
  tags.add({1, "a"});
  tags.add({2, "b"});
  tags.add({3, "a", false});
  BOOST_TEST(tags.holds("a"));
  tags.settle("a");
  BOOST_TEST(!tags.holds("a"));
  CHECK_SENT(tags, 1, 3);
  BOOST_TEST(tags.is_open("a"));
  tags.add({4, "a"});
  BOOST_TEST(tags.holds("a"));
}

BOOST_AUTO_TEST_CASE(a_fresh_message_proves_what_the_broker_needed_to_deliver_it) {
  delivery_tags tags(2);
  for (const auto* each : {"a", "b"}) tags.add({static_cast<std::uint64_t>(each[0]), each});
  settle_at_once(tags, "b");
  settle_at_once(tags, "a");
  CHECK_PROVEN(tags);
  tags.add({'c', "c"});
  CHECK_PROVEN(tags, "b");
  BOOST_TEST(!tags.is_open("b"));
  BOOST_TEST(tags.is_open("a"));
  tags.add({'d', "d"});
  CHECK_PROVEN(tags, "a");
}

BOOST_AUTO_TEST_CASE(what_was_delivered_before_proves_nothing_when_it_comes) {
  delivery_tags tags(1);
  tags.add({1, "a", false});
  settle_at_once(tags, "a");
  tags.add({2, "b", false});
  CHECK_PROVEN(tags);
  BOOST_TEST(!tags.has_fresh());
  settle_at_once(tags, "b");
  tags.add({3, "c"});
  BOOST_TEST(tags.has_fresh());
  CHECK_PROVEN(tags, "a", "b");
}

// The acknowledgement of "a" may have come too late to mean anything: the broker had taken the message back.
BOOST_AUTO_TEST_CASE(a_message_that_comes_again_on_the_same_connection_is_not_proven_by_what_was_sent_before) {
  delivery_tags tags(2);
  tags.add({1, "a"});
  tags.add({2, "b"});
  settle_at_once(tags, "a");
  tags.add({3, "a", false});
  tags.add({4, "b", false});
  tags.add({5, "c"});  // n is 3: the place of "a" is passed
  CHECK_PROVEN(tags);
  BOOST_TEST(tags.is_open("a"));
  settle_at_once(tags, "a");
  tags.add({6, "d"});
  CHECK_PROVEN(tags, "a");
}

BOOST_AUTO_TEST_CASE(what_has_no_id_counts_only_when_it_is_fresh) {
  delivery_tags tags(1);
  tags.add({1, "_x-1", false, false});
  settle_at_once(tags, "_x-1");
  tags.add({2, "a", true, true});
  settle_at_once(tags, "a");
  CHECK_PROVEN(tags);
  tags.add({3, "b", true, true});
  CHECK_PROVEN(tags, "_x-1");
  tags.reset();
  BOOST_TEST(!tags.has_fresh());
  BOOST_TEST(tags.unproven() == 0u);
}

// RabbitMQ 3.10 puts what comes back behind all that has come back before, so a new connection would cost the order.
BOOST_AUTO_TEST_CASE(what_a_larger_prefetch_has_left_is_no_reason_for_a_new_connection) {
  delivery_tags tags(2);
  std::uint64_t tag = 0;
  for (; tag < 1'000; ++tag) {
    tags.add({tag + 1, std::to_string(tag), false});
    settle_at_once(tags, std::to_string(tag));
    BOOST_TEST_REQUIRE(!tags.is_far_behind());
  }
  tags.add({++tag, "fresh"});
  BOOST_TEST(!tags.is_far_behind());
  BOOST_TEST(tags.unproven() == 1u);
  for (int i = 0; i < 6; ++i) {
    tags.add({++tag, "fresh", false});
    settle_at_once(tags, "fresh");
  }
  BOOST_TEST(tags.is_far_behind());
}

BOOST_AUTO_TEST_CASE(a_name_of_the_connection_before_is_forgotten_with_the_first_fresh_message_unless_it_came) {
  queue_progress progress(10);
  delivery_memory stored;
  for (const auto* each : {"came", "gone", "zkr:p:1:1"}) stored.settle(each);
  for (const auto* each : {"failing", "lost"}) stored.fail(each, 1);
  progress.open(std::move(stored));
  BOOST_TEST(!progress.take(delivery_of(1, "came", true)).has_value());
  BOOST_TEST(progress.take(delivery_of(2, "failing", true)).value_or("") == "failing");
  BOOST_TEST(progress.memory().knows("gone"));
  BOOST_TEST(progress.can_come("lost"));
  BOOST_TEST(!progress.take(delivery_of(3, "zkr:p:1:1")).has_value());
  BOOST_TEST(progress.memory().names() == name_list({"came"}), boost::test_tools::per_element());
  BOOST_TEST(progress.memory().failed_names() == name_list({"failing"}), boost::test_tools::per_element());
  BOOST_TEST(progress.can_come("failing"));
  BOOST_TEST(!progress.can_come("lost"));
  BOOST_TEST(progress.take_acknowledgements().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_message_in_hand_gets_the_tag_of_its_next_delivery) {
  queue_progress progress(10);
  BOOST_TEST(progress.take(delivery_of(1, "a")).value_or("") == "a");
  progress.hand_out("a", true);
  progress.lose();
  BOOST_TEST(!progress.take(delivery_of(7, "a", true)).has_value());
  BOOST_TEST(progress.take_acknowledgements().empty());
  progress.settle("a");
  const auto sent = progress.take_acknowledgements();
  BOOST_TEST_REQUIRE(sent.size() == 1u);
  BOOST_TEST(sent.front().tag == 7u);
}

BOOST_AUTO_TEST_CASE(a_message_in_hand_that_was_not_returned_is_not_remembered_when_it_is_settled) {
  queue_progress progress(10);
  progress.take(delivery_of(1, "a"));
  progress.hand_out("a", true);
  progress.lose();
  progress.take(delivery_of(1, "b"));
  progress.settle("a");
  BOOST_TEST(!progress.memory().knows("a"));
}

BOOST_AUTO_TEST_CASE(what_has_no_id_has_a_name_of_its_content_and_is_never_remembered) {
  queue_progress progress(10);
  const auto first = progress.take(delivery_of(1, ""));
  const auto second = progress.take(delivery_of(2, ""));
  BOOST_TEST_REQUIRE(first.has_value());
  BOOST_TEST_REQUIRE(second.has_value());
  BOOST_TEST(*first != *second);
  progress.hand_out(*first, false);
  BOOST_TEST(progress.has_unnamed());
  progress.fail(*first, 5);
  progress.open(delivery_memory(progress.memory()));
  BOOST_TEST(progress.take(delivery_of(1, "", true)).value_or("") == *first);  // so its failed attempts are found again
  BOOST_TEST(progress.memory().failed(*first).count == 1);
  progress.hand_out(*first, false);
  progress.settle(*first);
  BOOST_TEST(!progress.has_unnamed());
  BOOST_TEST(progress.memory().names().empty());
  BOOST_TEST(progress.memory().failed_names().empty());
}

BOOST_AUTO_TEST_CASE(the_problem_of_a_message_is_told_until_it_is_settled) {
  queue_progress progress(10);
  auto bad = delivery_of(1, "");
  bad.problem = "too large";
  const auto name = progress.take(bad).value_or("");
  BOOST_TEST(progress.problem_of(name) == "too large");
  progress.hand_out(name, false);
  progress.lose();
  BOOST_TEST(progress.problem_of(name) == "too large");
  progress.settle(name);
  BOOST_TEST(progress.problem_of(name) == "");
  // One of the same content, by which it gets the same name, may be a good one.
  progress.take(bad);
  progress.lose();
  BOOST_TEST(progress.take(delivery_of(1, "")).value_or("") == name);
  BOOST_TEST(progress.problem_of(name) == "");
}

BOOST_AUTO_TEST_CASE(messages_without_an_id_that_come_again_on_the_same_connection_are_confused) {
  queue_progress progress(10);
  progress.take(delivery_of(1, "", true));
  progress.take(delivery_of(2, "a"));
  BOOST_TEST(!progress.is_ambiguous());
  progress.take(delivery_of(3, "", true));
  BOOST_TEST(progress.is_ambiguous());
  progress.open({});
  BOOST_TEST(!progress.is_ambiguous());
}

BOOST_AUTO_TEST_CASE(nothing_is_lost_doubled_or_remembered_too_long_whatever_breaks) { try_seeds(false, false); }

BOOST_AUTO_TEST_CASE(the_same_with_messages_that_have_no_id) { try_seeds(false, true); }

BOOST_AUTO_TEST_CASE(the_same_with_a_broker_that_loses_sight_of_the_consumer) { try_seeds(true, false); }

BOOST_AUTO_TEST_SUITE_END()
