// Keys whose messages are parked, and how they come back.
#include "ensemble/delivery_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class parked_keys : public deliveries {
 public:
  parked_keys() {
    options.order = message_order::by_key;
    options.key = [](const message& item) { return item.data.substr(0, 1); };
    options.spent = spent_message::park_key;
    options.window = options.parallel = 8;
  }
  void teardown() {
    for (const auto& each : keys()) revive(each);
    drain();
    deliveries::teardown();
  }

  /// A consumer that can not process what begins with a letter of `bad`.
  running_consumer& consume_but(const std::string& bad) {
    broken = bad;
    return consume([this](term, message item) -> asio::awaitable<message_outcome> {
      if (broken.find(item.data[0]) != broken.npos) throw std::runtime_error("the bank is closed");
      co_return effect_of(item);
    });
  }
  std::vector<parked_key> keys() {
    settle(zk());
    return must(run(over(zk()).async_parked_keys(tuple)));
  }
  std::pair<error_code, std::size_t> try_revive(queue which, const parked_key& key) {
    auto result = run(which.async_revive_key(key, tuple));
    return {std::get<0>(result), std::get<1>(result)};
  }
  std::size_t revive(const parked_key& key) {
    const auto [error, count] = try_revive(over(zk()), key);
    BOOST_TEST(!error, error.message());
    return count;
  }
  void expect_letters(std::size_t count) {
    BOOST_TEST_REQUIRE(run_until([&] { return dead_letters(over(zk())).size() == count; }));
  }
  void expect_results(const std::vector<std::string>& expected) {
    BOOST_TEST(run_until([&] { return results().size() == expected.size(); }));
    BOOST_TEST(results() == expected, boost::test_tools::per_element());
  }
  /// Ends the consumers, so that what is parked stays.
  void park(const std::vector<std::string>& data) {
    put_all(data);
    consume_but("a");
    expect_letters(data.size());
    end_runs(all);
  }

  std::string broken;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delivery_parked_keys, parked_keys)

BOOST_AUTO_TEST_CASE(what_follows_of_a_key_is_parked_and_comes_back_in_order) {
  put_all({"a1", "b1", "a2", "a3", "b2"});
  auto& who = consume_but("a");
  expect_letters(3);
  expect_results({"b1", "b2"});
  const auto letters = dead_letters(over(zk()));
  for (std::size_t i = 0; i < letters.size(); ++i) {
    BOOST_TEST(letters[i].data == "a" + std::to_string(i + 1));
    BOOST_TEST(letters[i].key == "a");
    BOOST_TEST(letters[i].attempts == (i == 0 ? 3 : 0));
    BOOST_TEST((letters[i].reason == "the bank is closed") == (i == 0), letters[i].reason);
  }
  const auto parked = keys();
  BOOST_TEST_REQUIRE(parked.size() == 1u);
  BOOST_TEST(parked[0].key == "a");
  BOOST_TEST(parked[0].letters == 3u);
  BOOST_TEST((std::get<0>(run(over(zk()).async_revive(letters[1], tuple))) == errc::bad_arguments));

  broken.clear();
  put_all({"a4", "b3"});
  expect_letters(4);
  BOOST_TEST(revive(parked[0]) == 4u);
  put_all({"a5"});
  expect_results({"b1", "b2", "b3", "a1", "a2", "a3", "a4", "a5"});
  BOOST_TEST(is_done());
  BOOST_TEST(dead_letters(over(zk())).empty());
  BOOST_TEST(keys().empty());
  BOOST_TEST((try_revive(over(zk()), parked[0]).first == errc::no_node));
  BOOST_TEST(who.does.attempts["a1"] == std::vector<std::int32_t>({1, 2, 3, 1}), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return who.does.status().parked == 4 && who.does.status().done == 8; }));
}

BOOST_AUTO_TEST_CASE(a_letter_that_was_discarded_does_not_come_back) {
  park({"a1", "a2", "a3"});
  BOOST_TEST(!std::get<0>(run(over(zk()).async_discard(dead_letters(over(zk()))[0], tuple))));
  BOOST_TEST(revive(keys()[0]) == 2u);
  consume_but("");
  expect_results({"a2", "a3"});
}

BOOST_AUTO_TEST_CASE(a_key_without_letters_goes_on_when_it_is_revived) {
  park({"a1"});
  BOOST_TEST(!std::get<0>(run(over(zk()).async_discard(dead_letters(over(zk()))[0], tuple))));
  consume_but("");
  put_all({"a2"});
  expect_letters(1);
  BOOST_TEST(!std::get<0>(run(over(zk()).async_discard(dead_letters(over(zk()))[0], tuple))));
  BOOST_TEST(keys()[0].letters == 0u);
  BOOST_TEST(revive(keys()[0]) == 0u);
  put_all({"a3"});
  expect_results({"a3"});
}

BOOST_AUTO_TEST_CASE(the_next_term_knows_the_parked_keys) {
  put_all({"a1"});
  auto& who = consume_but("a");
  expect_letters(1);
  broken.clear();
  who.coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.ends.size() == 1; }));
  put_all({"a2", "b1"});
  expect_letters(2);
  expect_results({"b1"});
  BOOST_TEST(revive(keys()[0]) == 2u);
  put_all({"a3"});
  expect_results({"b1", "a1", "a2", "a3"});
}

BOOST_AUTO_TEST_CASE(a_revival_that_was_interrupted_holds_the_key_until_it_is_completed) {
  park({"a1", "a2"});
  const auto mark = "/q/_parked/" + keys()[0].name;
  auto begun = run(zk().async_set(mark, get(mark).data, any_version, tuple));  // as a revival does
  BOOST_TEST_REQUIRE(!std::get<0>(begun));
  auto& who = consume_but("");
  put_all({"a3", "b1"});
  expect_results({"b1"});
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().resting == 1; }));
  BOOST_TEST(dead_letters(over(zk())).size() == 2u);
  BOOST_TEST(who.does.attempts["a3"].empty());
  BOOST_TEST(revive(keys()[0]) == 2u);
  expect_results({"b1", "a1", "a2", "a3"});
}

BOOST_AUTO_TEST_CASE(a_revived_message_that_fails_again_parks_its_key_again) {
  put_all({"a1", "a2"});
  consume_but("a");
  expect_letters(2);
  BOOST_TEST(revive(keys()[0]) == 2u);
  expect_letters(2);
  BOOST_TEST(dead_letters(over(zk()))[0].data == "a1");
  broken.clear();
  BOOST_TEST(revive(keys()[0]) == 2u);
  expect_results({"a1", "a2"});
}

BOOST_AUTO_TEST_CASE(many_and_large_letters_come_back_in_several_transactions) {
  std::vector<std::string> data;
  for (int i = 0; i < 230; ++i) data.push_back("a" + std::to_string(i));
  for (int i = 230; i < 236; ++i) data.push_back("a" + std::to_string(i) + std::string(100'000, 'x'));
  std::vector<std::string> most(data.begin(), data.begin() + 230);
  put_all(most);
  for (int i = 230; i < 236; ++i) put(data[static_cast<std::size_t>(i)]);
  consume_but("a");
  expect_letters(data.size());
  end_runs(all);
  BOOST_TEST(revive(keys()[0]) == data.size());
  BOOST_TEST(drain() == data, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_revival_keeps_to_the_limit_of_the_queue) {
  park({"a1", "a2", "a3"});
  const auto key = keys()[0];
  queue narrow(zk(), "/q", {.limit = 2});
  BOOST_TEST((try_revive(narrow, key).first == errc::full));
  BOOST_TEST(dead_letters(over(zk())).size() == 3u);
  BOOST_TEST(get("/q/_parked/" + key.name).stat.version == 0);
  BOOST_TEST((try_revive(narrow, {.name = "no-mark"}).first == errc::bad_arguments));
}

BOOST_AUTO_TEST_CASE(replies_that_are_lost_do_not_change_what_comes_back) {
  std::vector<std::string> data;
  for (int i = 0; i < 250; ++i) data.push_back("a" + std::to_string(i));
  park(data);
  const auto key = keys()[0];
  auto far = connect(far_options());
  for (int k = 1; k <= 2; ++k) own().drop_reply(testcluster::op::multi, k);
  BOOST_TEST(try_revive(over(far), key).second == data.size());
  BOOST_TEST(own().drops() == 2u);
  BOOST_TEST(drain() == data, boost::test_tools::per_element());
  BOOST_TEST(keys().empty());
}

BOOST_AUTO_TEST_CASE(a_late_end_of_a_revival_does_not_end_the_next_one) {
  put_all({"a1"});
  consume_but("a");
  expect_letters(1);
  const auto key = keys()[0];
  const auto mark = "/q/_parked/" + key.name;
  auto far = connect_far();
  own().refuse(true);
  own().drop_reply(testcluster::op::multi, 3);  // the one that removes the mark
  recorder<std::size_t> first(executor());
  over(far).async_revive_key(key, first.token());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() == 1; }));
  expect_letters(1);  // it was parked again
  put_all({"a2"});
  expect_letters(2);
  auto begun = run(zk().async_set(mark, get(mark).data, any_version, tuple));  // as the next revival does
  BOOST_TEST_REQUIRE(!std::get<0>(begun));
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  BOOST_TEST(!first.error(), first.error().message());
  BOOST_TEST(exists(mark));
  broken.clear();
  put_all({"a3"});
  BOOST_TEST(revive(key) == 2u);
  expect_results({"a1", "a2", "a3"});
}

BOOST_AUTO_TEST_CASE(a_mark_that_somebody_has_written_does_not_hold_its_key_for_ever) {
  park({"a1"});
  const auto key = keys()[0];
  for (int i = 0; i < 3; ++i) run(zk().async_set("/q/_parked/" + key.name, "", any_version, tuple));
  BOOST_TEST(revive(key) == 1u);
  BOOST_TEST(drain() == std::vector<std::string>({"a1"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_mark_that_was_made_by_hand_parks_its_key_until_it_is_revived) {
  create("/q");
  create("/q/_parked");
  park({"a1"});
  const auto name = keys()[0].name;
  BOOST_TEST(revive(keys()[0]) == 1u);
  create("/q/_parked/" + name, "no mark");
  consume_but("");
  expect_letters(1);
  BOOST_TEST_REQUIRE(keys().size() == 1u);
  BOOST_TEST(keys()[0].name == name);
  BOOST_TEST(revive(keys()[0]) == 1u);
  expect_results({"a1"});
}

BOOST_AUTO_TEST_CASE(a_revival_that_is_cancelled_at_any_moment_is_completed_by_the_next) {
  std::vector<std::string> data;
  for (int i = 0; i < 250; ++i) data.push_back("a" + std::to_string(i));
  park(data);
  const auto key = keys()[0];
  auto by = connect();
  bool is_complete = false;
  for (std::uint64_t requests = 1; !is_complete; ++requests) {
    const auto before = by.counters().requests;
    recorder<std::size_t> ended(executor());
    over(by).async_revive_key(key, ended.token());
    run_until([&] { return ended.done() || by.counters().requests >= before + requests; });
    ended.cancel();
    BOOST_TEST_REQUIRE(run_until([&] { return ended.done(); }));
    is_complete = !ended.error() || ended.error() == errc::no_node;
    BOOST_TEST((is_complete || ended.error() == asio::error::operation_aborted), ended.error().message());
  }
  BOOST_TEST(drain() == data, boost::test_tools::per_element());
  BOOST_TEST(keys().empty());
}

BOOST_AUTO_TEST_CASE(many_can_revive_a_key_at_the_same_time) {
  std::vector<std::string> data;
  for (int i = 0; i < 250; ++i) data.push_back("a" + std::to_string(i));
  park(data);
  const auto key = keys()[0];
  std::deque<session> sessions;
  std::deque<recorder<std::size_t>> ends;
  for (int i = 0; i < 10; ++i) {
    sessions.push_back(connect());
    ends.emplace_back(executor());
    over(sessions.back()).async_revive_key(key, ends.back().token());
  }
  std::size_t count = 0;
  for (auto& each : ends) {
    BOOST_TEST_REQUIRE(run_until([&] { return each.done(); }));
    BOOST_TEST((!each.error() || each.error() == errc::no_node), each.error().message());
    count += each.result<0>();
  }
  BOOST_TEST(count == data.size());
  BOOST_TEST(drain() == data, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
