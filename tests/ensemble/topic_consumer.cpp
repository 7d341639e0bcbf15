// Consumers of a topic: retries, dead letters, order, guarantees, and what is settled out of order.
#include "ensemble/topic_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
