// Several groups and their consumers, what is kept for them, and positions that are moved by hand.
#include <algorithm>

#include "ensemble/topic_case.hpp"
#include "topic/topic_layout.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class groups : public topics {
 public:
  /// A consumer whose effects tell its group, too.
  running_reader& consume_as(const std::string& group) {
    return consume(
        [group](term, message item) -> asio::awaitable<message_outcome> {
          co_return transaction().create("/results/r-", group + item.data, create_mode::persistent_sequential);
        },
        group);
  }
  std::vector<std::string> results_of(const std::string& group) {
    std::vector<std::string> found;
    for (const auto& each : results()) {
      if (each.starts_with(group)) found.push_back(each.substr(group.size()));
    }
    return found;
  }
  /// Each has one message.
  void put_many_batches(std::size_t count) {
    detail::packed_batch one;
    one.add("k", "m");
    constexpr std::size_t at_once = 500;
    for (std::size_t put = 0; put < count; put += at_once) {
      transaction some;
      for (auto i = put; i < std::min(count, put + at_once); ++i)
        some.create("/t/0000/" + detail::batch_marker(1), one.text(), create_mode::persistent_sequential);
      BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_commit(std::move(some), tuple))));
    }
  }
  void put_batches(int from, int to) {
    for (int i = from; i <= to; ++i) put_all({std::to_string(i)});
  }
};

std::vector<std::string> twice(std::vector<std::string> first, const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_groups, groups)

BOOST_AUTO_TEST_CASE(each_group_gets_all_messages_and_they_stay_until_all_have_them) {
  with.retention.groups = {"g", "h"};
  put_batches(1, 5);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(lag("h").front().messages == 5u);
  BOOST_TEST(lag("h").front().batches == 5u);
  BOOST_TEST(lag("h").front().oldest >= 0ms);
  BOOST_TEST(batches().size() == 5u);
  consume_as("h");
  BOOST_TEST_REQUIRE(is_consumed("h"));
  BOOST_TEST(results_of("g") == numbers(1, 5), boost::test_tools::per_element());
  BOOST_TEST(results_of("h") == numbers(1, 5), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return batches().empty(); }));
}

BOOST_AUTO_TEST_CASE(without_retention_everything_is_kept) {
  with.retention = {};
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(batches().size() == 3u);
  auto seen = run(over(zk()).async_shards(tuple));
  BOOST_TEST_REQUIRE(std::get<1>(seen).size() == 1u);
  BOOST_TEST(std::get<1>(seen)[0].messages == 3u);
  BOOST_TEST(std::get<1>(seen)[0].groups == std::vector<std::string>{"g"}, boost::test_tools::per_element());
}

// The first look of a consumer's term removes it.
BOOST_AUTO_TEST_CASE(what_all_groups_have_consumed_goes_once_there_is_much_of_it) {
  with.retention = {};
  put_batches(1, 1);
  put_many_batches(10'099);
  BOOST_TEST_REQUIRE(batches().size() == 10'100u);
  BOOST_TEST_REQUIRE(!seek(source_position::end()));
  consume_as("g");
  BOOST_TEST_REQUIRE(run_until([&] { return batches().size() == 10'000u; }, 1min));
  BOOST_TEST(!exists("/t/0000/" + detail::batch_marker(1) + "0000000000"));
}

BOOST_AUTO_TEST_CASE(what_was_consumed_is_kept_for_its_age) {
  with.retention.age = 1s;
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_shard_keeps_its_bytes_and_what_is_not_consumed) {
  with.retention.bytes = 2'500;
  hold_point hold(executor());
  for (int i = 1; i <= 6; ++i) put_with_keys({"k"}, {std::to_string(i) + std::string(1'000, 'x')});
  auto& who = consume(
      [&](term, message item) -> asio::awaitable<message_outcome> {
        if (item.data[0] == '4') co_await hold.pass();
        co_return effect_of(item);
      },
      "g");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 3; }));
  BOOST_TEST(run_until([&] { return batches().size() == 3; }));  // too many bytes still, but nobody has consumed them
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().size() == 2; }));
}

BOOST_AUTO_TEST_CASE(leftovers_of_another_retention_are_removed) {
  with.retention = {};
  put_batches(1, 3);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  end_runs(all);
  with.retention.groups = {"g"};
  put_batches(4, 4);
  consume_as("g");
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(batches_of_a_shard_made_anew_are_not_taken_for_the_old_ones) {
  with.retention.bytes = 1;
  hold_point hold(executor());
  put_batches(1, 3);
  own().drop_requests(testcluster::op::multi, "/t/0000/b-");  // removals
  const auto cuts = own().drops();
  consume(
      connect_far(),
      [&](term, message item) -> asio::awaitable<message_outcome> {
        if (item.data == "4") co_await hold.pass();
        co_return transaction().create("/results/r-", "g" + item.data, create_mode::persistent_sequential);
      },
      "g");
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() > cuts; }));  // a removal is under way
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
  put_batches(4, 6);
  own().heal();
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(run_until([&] { return batches().empty(); }));
  BOOST_TEST(results_of("g") == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_is_played_again_from_any_place_that_is_kept) {
  with.retention = {};
  put_all(numbers(1, 5));
  put_all(numbers(6, 10));
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(!seek(source_position::begin()));  // while the consumer waits for messages
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == twice(numbers(1, 10), numbers(1, 10)), boost::test_tools::per_element());
  const auto names = batches();
  const auto last = std::stoi(std::max(names[0].substr(4), names[1].substr(4)));
  BOOST_TEST(!seek(source_position::at(std::to_string(last) + ".2")));
  BOOST_TEST_REQUIRE(has_results(23));
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == twice(twice(numbers(1, 10), numbers(1, 10)), numbers(8, 10)),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_exist_yet_can_begin_at_the_end) {
  put_batches(1, 3);
  BOOST_TEST(!seek(source_position::end()));
  BOOST_TEST(lag().front().messages == 0u);
  put_batches(4, 5);
  BOOST_TEST(lag().front().messages == 2u);
  consume_as("g");
  BOOST_TEST_REQUIRE(is_consumed("g"));
  BOOST_TEST(results_of("g") == numbers(4, 5), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_seek_whose_reply_is_lost_moves_the_group_once) {
  put_all({"1"});
  BOOST_TEST(!seek(source_position::begin()));
  const auto before = get("/t/0000/_at/g").stat.version;
  auto far = connect_far();
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!std::get<0>(run(over(far).async_seek(0, "g", source_position::end(), tuple))));
  BOOST_TEST(get("/t/0000/_at/g").stat.version == before + 1);
}

BOOST_AUTO_TEST_CASE(a_seek_that_makes_a_group_is_found_again_after_a_lost_reply) {
  put_all({"1"});
  auto far = connect_far();
  const auto cuts = own().drops();
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(!std::get<0>(run(over(far).async_seek(0, "g", source_position::end(), tuple))));
  BOOST_TEST(own().drops() == cuts + 1);
  const auto version = get("/t/0000/_at/g").stat.version;
  BOOST_TEST(version >= 2);  // no consumer knows it
  BOOST_TEST(version < 64);
}

BOOST_AUTO_TEST_CASE(what_is_in_hand_while_the_position_is_moved_is_not_committed) {
  with.retention = {};
  hold_point hold(executor());
  bool is_held = true;
  put_all(numbers(1, 10));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "5" && std::exchange(is_held, false)) co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 4; }));
  BOOST_TEST(!seek(source_position::begin()));
  hold.open();
  BOOST_TEST_REQUIRE(has_results(14));
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == twice(numbers(1, 4), numbers(1, 10)), boost::test_tools::per_element());
  BOOST_TEST(who.does.ends.empty());
}

BOOST_AUTO_TEST_CASE(messages_can_be_skipped_while_a_consumer_fails_at_them) {
  options.retry = {.first = 1h, .longest = 1h, .attempts = 3};
  put_all({"bad", "behind", "behind"});  // they take all places of the window
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "bad") throw std::runtime_error("no");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 1; }));
  BOOST_TEST(!seek(source_position::end()));
  put_all({"1"});
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(letters().empty());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 0; }));
}

BOOST_AUTO_TEST_CASE(two_consumers_of_a_group_without_a_common_election_do_not_double_effects) {
  options.window = 16;
  put_all(numbers(1, 300));
  create("/e-other");
  auto& first = consume(&succeed);
  session own_session = connect();
  acting_consumer other(over(own_session).feed(0, "g"), options, {}, &succeed);
  consumer_coordinator coordinator(own_session, "/e-other", {.id = "other"});
  recorder<> ended(executor());
  coordinator.async_run(other, ended.token());
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(run_until([&] { return first.does.status().done + other.status().done == 300; }));
  BOOST_TEST(results().size() == 300u);
  coordinator.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return ended.done(); }));
  BOOST_TEST(!ended.error(), ended.error().message());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  remove("/e-other");
}

BOOST_AUTO_TEST_SUITE_END()

// Consumers of a topic: retries, dead letters, order, guarantees, and what is settled out of order.

namespace {

/// The effect of each message is the sum of all so far, in one node.
processor summing(int& sum) {
  return [&sum](term, message item) -> asio::awaitable<message_outcome> {
    sum += std::stoi(item.data);
    co_return transaction().set("/results", std::to_string(sum));
  };
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_consumers, topics)

BOOST_AUTO_TEST_CASE(dead_letters_come_back_or_go) {
  options.retry.attempts = 1;
  put_all({"bad", "worse"});
  bool is_cured = false;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (!is_cured) throw std::runtime_error("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_consumed());
  const auto found = letters();
  BOOST_TEST_REQUIRE(found.size() == 2u);
  is_cured = true;
  auto mine = over(zk());
  BOOST_TEST(!std::get<0>(run(mine.async_revive("g", found[0], tuple))));
  BOOST_TEST(!std::get<0>(run(mine.async_discard("g", found[1], tuple))));
  for (const auto& each : found) {
    BOOST_TEST(std::get<0>(run(mine.async_revive("g", each, tuple))) == errc::no_node);
    BOOST_TEST(std::get<0>(run(mine.async_discard("g", each, tuple))) == errc::no_node);
  }
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(results() == std::vector<std::string>({"bad"}), boost::test_tools::per_element());
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(refused_effects_are_those_of_one_message_only) {
  put_all(numbers(1, 40));
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    auto effects = effect_of(item);
    if (item.data == "7") co_return transaction().set("/missing", "");  // no operation of the source is in front of it
    co_return effects;
  });
  BOOST_TEST_REQUIRE(is_consumed());
  auto expected = numbers(1, 40);
  expected.erase(expected.begin() + 6);
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  BOOST_TEST(letters()[0].data == "7");
  BOOST_TEST(letters()[0].reason.starts_with("its effects were refused"), letters()[0].reason);
  BOOST_TEST(who.does.status().refused == 3u);
  BOOST_TEST(who.does.status().passed_over == 0u);
}

BOOST_AUTO_TEST_CASE(a_letter_whose_revival_lost_its_reply_comes_back_once) {
  options.retry.attempts = 1;
  bool is_cured = false;
  put_all({"1"});
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (!is_cured) throw std::runtime_error("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_consumed());
  const auto found = letters();
  BOOST_TEST_REQUIRE(found.size() == 1u);
  is_cured = true;
  auto far = connect_far();
  own().drop_reply(testcluster::op::multi);
  BOOST_TEST(std::get<0>(run(over(far).async_revive("g", found[0], tuple))) == errc::outcome_unknown);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 1; }));
  BOOST_TEST(results() == numbers(1, 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_settled_ahead_is_not_processed_again_by_the_next_term) {
  options.order = message_order::none;
  options.parallel = 8;
  options.retry.first = options.retry.longest = 1h;
  bool is_cured = false;  // two messages: three that fail before any other succeeds are an outage
  put_all(numbers(1, 20));
  put_all(numbers(21, 40));
  auto& first = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    const bool fails = item.data == "3" || item.data == "17";
    if (fails && !is_cured) co_return message_outcome::again("not yet");
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return first.does.status().done == 38 && first.does.status().resting == 2; }));
  BOOST_TEST(lag().front().messages == 2u);
  const auto stored = position();
  BOOST_TEST(stored.find("ahead") != stored.npos, stored);
  is_cured = true;
  first.coordinator.resign();
  BOOST_TEST_REQUIRE(is_consumed());
  auto seen = results();
  std::ranges::sort(seen, {}, [](const std::string& each) { return std::stoi(each); });
  BOOST_TEST(seen == numbers(1, 40), boost::test_tools::per_element());
  for (const auto& each : numbers(1, 40)) {
    const bool failed = each == "3" || each == "17";
    BOOST_TEST(first.does.attempts[each] == (failed ? std::vector<std::int32_t>{1, 2} : std::vector<std::int32_t>{1}),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(sets_of_one_path_are_sent_once_for_each_commit) {
  put_all(numbers(1, 500));
  int sum = 0;
  options.window = 256;
  auto& who = consume(summing(sum));
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 500; }));
  BOOST_TEST(get("/results").data == std::to_string(500 * 501 / 2));
  BOOST_TEST(static_cast<std::uint64_t>(get("/results").stat.version) == who.does.status().commits);
}

BOOST_AUTO_TEST_CASE(the_first_of_refused_sets_of_one_path_is_found) {
  put_all(numbers(1, 40));
  auto& who = consume([](term, message item) -> asio::awaitable<message_outcome> {
    if (std::stoi(item.data) > 10 && std::stoi(item.data) <= 13) co_return transaction().set("/missing", item.data);
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results().size() == 37u);
  const auto found = letters();
  BOOST_TEST_REQUIRE(found.size() == 3u);
  for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(found[i].data == std::to_string(11 + i));
  BOOST_TEST(who.does.attempts["11"].size() == 3u);
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_change_nothing) {
  for (const auto order : {message_order::strict, message_order::none}) {
    options.order = order;
    options.parallel = order == message_order::none ? 4 : 1;
    options.window = 16;
    put_all(numbers(1, 200));
    for (int k = 1; k <= 5; ++k) own().drop_reply(testcluster::op::multi, 4 * k);
    const auto drops = own().drops();
    consume(connect(far_options()), [](term, message item) -> asio::awaitable<message_outcome> {
      if (item.data == "50" || item.data == "150") co_return message_outcome::again("no");
      co_return effect_of(item);
    });
    BOOST_TEST_REQUIRE(is_consumed());
    auto seen = results();
    if (order == message_order::none) {
      std::ranges::sort(seen, {}, [](const std::string& each) { return std::stoi(each); });
    }
    auto expected = numbers(1, 200);
    std::erase(expected, "50");
    std::erase(expected, "150");
    BOOST_TEST(seen == expected, boost::test_tools::per_element());
    const auto found = letters();
    BOOST_TEST_REQUIRE(found.size() == 2u);
    for (const auto& each : found) {
      BOOST_TEST(each.attempts == 3);
      BOOST_TEST(!std::get<0>(run(over(zk()).async_discard("g", each, tuple))));
    }
    BOOST_TEST(own().drops() == drops + 5u);
    end_runs(all);
    for (const auto& each : children("/results")) remove("/results/" + each);
  }
}

BOOST_AUTO_TEST_CASE(at_least_once_has_no_effects_here) {
  options.delivery = delivery_guarantee::at_least_once;
  put_all(numbers(1, 100));
  std::vector<std::string> seen;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    seen.push_back(item.data);
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(seen == numbers(1, 100), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(at_most_once_the_position_is_behind_a_message_that_is_processed) {
  options.delivery = delivery_guarantee::at_most_once;
  options.window = 4;
  put_all(numbers(1, 6));
  std::vector<std::uint64_t> left;
  auto& who = consume([&](term present, message item) -> asio::awaitable<message_outcome> {
    auto own = present.get_session();
    auto read = co_await topic(own, "/t", with).async_lag("g", asio::use_awaitable);
    left.push_back(read.front().messages);
    if (item.data == "2") throw std::runtime_error("lost");
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 5; }));
  BOOST_TEST(who.does.status().lost == 1u);
  BOOST_TEST_REQUIRE(left.size() == 6u);
  for (std::size_t i = 0; i < left.size(); ++i) BOOST_TEST(left[i] <= 5 - i);
}

BOOST_AUTO_TEST_SUITE_END()
