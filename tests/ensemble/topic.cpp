// What a topic takes comes out, once and in order.
#include <set>

#include "ensemble/topic_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(topic_messages, topics)

BOOST_AUTO_TEST_CASE(what_was_put_is_consumed_once_and_in_order) {
  put_all(numbers(1, 300));
  BOOST_TEST(batches().size() < 10u);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 300), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().done == 300; }));
  BOOST_TEST(who.does.status().commits < 100u);
  BOOST_TEST(batches().empty());
}

BOOST_AUTO_TEST_CASE(what_comes_later_is_consumed_too) {
  consume(&succeed);
  for (int i = 1; i <= 20; ++i) put_all({std::to_string(i)});
  BOOST_TEST_REQUIRE(has_results(20));
  BOOST_TEST(results() == numbers(1, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_message_has_its_key_its_name_and_its_place) {
  put_with_keys({"k1", "k2"}, {"1", "2"});
  std::vector<message> seen;
  consume([&](term, message item) -> asio::awaitable<message_outcome> {
    seen.push_back(item);
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST_REQUIRE(seen.size() == 2u);
  BOOST_TEST(seen[0].key == "k1");
  BOOST_TEST(seen[1].key == "k2");
  BOOST_TEST(seen[0].name != seen[1].name);
  BOOST_TEST(seen[0].attempts == 1);
  BOOST_TEST(seen[0].stat.ctime > 0);
}

BOOST_AUTO_TEST_CASE(messages_go_to_the_shards_of_their_keys) {
  with.shards = 5;
  put_all(numbers(1, 100));
  auto read = run(over(zk()).async_shards(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(read));
  std::vector<std::uint64_t> expected(5);
  for (const auto& each : numbers(1, 100)) ++expected[shard_of(each, 5)];
  for (const auto& each : std::get<1>(read)) BOOST_TEST(each.messages == expected[each.shard]);
  BOOST_TEST(std::get<1>(read).size() == 5u);
  consume(&succeed);
  BOOST_TEST_REQUIRE(run_until([&] { return lag()[0].messages == 0; }));
  const auto seen = results();
  BOOST_TEST(seen.size() == expected[0]);
  for (const auto& each : seen) BOOST_TEST(shard_of(each, 5) == 0u);
}

BOOST_AUTO_TEST_CASE(the_figures_of_a_topic_that_is_not_there_yet) {
  BOOST_TEST(std::get<0>(run(over(zk()).async_lag("g", tuple))) == errc::no_node);
  BOOST_TEST(std::get<0>(run(over(zk()).async_shards(tuple))) == errc::no_node);
  BOOST_TEST(letters().empty());
}

BOOST_AUTO_TEST_CASE(a_topic_has_one_number_of_shards) {
  put_all({"1"});
  with.shards = 2;
  auto other = over(zk());
  BOOST_TEST(std::get<0>(run(topic_producer(other, "q").async_put("k", "2", tuple))) == errc::size_mismatch);
  BOOST_TEST(std::get<0>(run(other.async_lag("g", tuple))) == errc::size_mismatch);
  BOOST_TEST(std::get<0>(run(other.async_seek(0, "g", source_position::begin(), tuple))) == errc::size_mismatch);
  create_election("g");
  running_reader who(connect(), other, "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(ends_with(who.ended, errc::career_failed));
}

BOOST_AUTO_TEST_CASE(a_consumer_with_another_number_of_shards_is_refused_also_when_its_group_has_a_position) {
  put_all({"1"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  end_runs(all);
  with.shards = 2;
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(ends_with(who.ended, errc::career_failed));
  with.shards = 1;
}

BOOST_AUTO_TEST_CASE(a_path_that_somebody_else_uses_is_left_alone) {
  create("/t", "mine");
  BOOST_TEST(std::get<0>(run(topic_producer(over(zk()), "p").async_put("k", "1", tuple))) == errc::foreign_data);
  BOOST_TEST(std::get<0>(run(over(zk()).async_lag("g", tuple))) == errc::foreign_data);
  BOOST_TEST(get("/t").data == "mine");
}

BOOST_AUTO_TEST_CASE(arguments_are_checked) {
  with.shards = 4;
  auto mine = over(zk());
  BOOST_CHECK_THROW(mine.feed(4, "g"), std::invalid_argument);
  for (const auto* bad : {"", "a/b", "..", "a\n", "a\xff", "\xee\x80\x80"}) {
    BOOST_CHECK_THROW(mine.feed(0, bad), std::invalid_argument);
    BOOST_TEST(std::get<0>(run(mine.async_lag(bad, tuple))) == errc::bad_arguments);
    BOOST_TEST(std::get<0>(run(mine.async_seek(0, bad, source_position::end(), tuple))) == errc::bad_arguments);
    BOOST_TEST(std::get<0>(run(mine.async_dead_letters(bad, tuple))) == errc::bad_arguments);
  }
  BOOST_TEST(std::get<0>(run(mine.async_seek(4, "g", source_position::end(), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_seek(0, "g", source_position::at("-1.0"), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_revive("g", dead_letter(), tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(mine.async_discard("g", dead_letter(), tuple))) == errc::bad_arguments);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.shards = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.shards = 10'001}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "t"), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.groups = {"/"}}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.age = 1ms}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic(zk(), "/t", {.retention = {.bytes = 0}}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a/b"), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "\xff"), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, ".."), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.max_batch = 0}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.max_bytes = 1}), std::invalid_argument);
  BOOST_CHECK_THROW(topic_producer(mine, "a", {.linger = -1ms}), std::invalid_argument);
  options.order = message_order::by_key;
  options.spent = spent_message::park_key;
  BOOST_CHECK_THROW(acting_consumer(mine.feed(0, "g"), options, {}, &succeed), std::invalid_argument);
  BOOST_CHECK_THROW(acting_consumer(message_feed(), {}, {}, &succeed), std::invalid_argument);
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

// What others do to a topic, and what the servers refuse.
namespace {

const acl no_write{{perm_read | perm_create | perm_delete | perm_admin, "world", "anyone"}};
const acl no_delete{{perm_read | perm_write | perm_create | perm_admin, "world", "anyone"}};
const acl no_read{{perm_write | perm_create | perm_delete | perm_admin, "world", "anyone"}};

class faults : public topics {
 public:
  session impatient() {
    auto how = fixture::options();
    how.retry.first_pause = how.retry.max_pause = 5ms;
    return connect(how);
  }
  void set_acl(const std::string& path, const acl& rights) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set_acl(path, rights, any_version, tuple))));
  }
  void remove_all(const std::string& path) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_remove_with_children(path, tuple))));
  }
  /// Whether the consumer has caught up with its list, so that it waits for changes.
  bool has_done(running_reader& who, std::uint64_t count) {
    return run_until([&] { return who.does.status().done == count; }, 30s);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topic_faults, faults)

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored) {
  put_all({"1"});
  create("/t/0000/notes", "not a batch");
  create("/t/0000/b-1-12", "not a batch");
  put_all({"2"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(exists("/t/0000/notes"));
}

BOOST_AUTO_TEST_CASE(a_batch_that_is_none_is_parked_and_stops_nobody) {
  put_all({"1"});
  put_raw("b-3-", "no netstring");
  put_raw("b-1-", "17:zkrecipes:batch:1,3:key");
  put_all({"2"});
  put_raw("b-0-", "17:zkrecipes:batch:1,");
  put_all({"3"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
  const auto found = letters();
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].data == "no netstring");
  BOOST_TEST(found[0].reason.find("its data is not that of a batch") != std::string::npos, found[0].reason);
  BOOST_TEST(found[1].data == "17:zkrecipes:batch:1,3:key");
  BOOST_TEST(who.does.attempts.size() == 3u);
  BOOST_TEST(run_until([&] { return who.does.status().parked == 2; }));
}

BOOST_AUTO_TEST_CASE(a_batch_that_may_not_be_read_is_told_and_stays) {
  put_all({"1"});
  const auto hidden = batches().front();
  set_acl("/t/0000/" + hidden, no_read);
  put_all({"2"});
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(1));
  BOOST_TEST(results() == std::vector<std::string>({"2"}), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(run_until([&] { return letters().size() == 1; }));
  BOOST_TEST(letters()[0].reason.find(hidden) != std::string::npos, letters()[0].reason);
  BOOST_TEST(batches() == std::vector<std::string>{hidden}, boost::test_tools::per_element());
  who.coordinator.resign();  // the next term trims what is behind its position
  BOOST_TEST_REQUIRE(run_until([&] { return who.coordinator.status().epoch == 2; }));
  put_all({"3"});
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST_REQUIRE(run_until([&] { return batches().size() == 1; }));
  BOOST_TEST(batches().front() == hidden);
  BOOST_TEST(position().find("\"kept\"") != std::string::npos, position());
}

BOOST_AUTO_TEST_CASE(a_large_batch_that_is_none_stays_beside_its_letter) {
  put_all({"1"});
  put_raw("b-1-", std::string(1'000'000, 'x'));
  put_all({"2"});
  consume(&succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  BOOST_TEST(letters()[0].data.empty());
  BOOST_TEST(batches().size() == 1u);
}

BOOST_AUTO_TEST_CASE(batches_that_somebody_removes_are_passed_over) {
  options.window = 1;
  hold_point hold(executor());
  for (const auto& each : numbers(1, 30)) put_all({each});
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "1") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto names = batches();
  std::ranges::sort(names);
  remove("/t/0000/" + names[0]);   // that of the message in hand: its effects happen all the same
  remove("/t/0000/" + names[25]);  // listed, and not read yet
  hold.open();
  BOOST_TEST_REQUIRE(is_consumed());
  auto expected = numbers(1, 30);
  expected.erase(expected.begin() + 25);
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return who.does.status().passed_over == 1; }));
  BOOST_TEST(batches().empty());
}

BOOST_AUTO_TEST_CASE(a_group_whose_position_is_removed_begins_with_what_is_there) {
  with.retention = {};
  put_all(numbers(1, 3));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 3));
  remove("/t/0000/_at/g");
  BOOST_TEST_REQUIRE(has_done(who, 6));
  put_all({"4"});
  BOOST_TEST_REQUIRE(has_done(who, 7));
  BOOST_TEST(results() == std::vector<std::string>({"1", "2", "3", "1", "2", "3", "4"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_shard_that_is_removed_begins_anew) {
  put_all(numbers(1, 3));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 3));
  remove_all("/t/0000");
  put_all(numbers(4, 6));  // its numbers begin at 0 again
  BOOST_TEST_REQUIRE(has_done(who, 6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_topic_that_is_wiped_out_begins_anew) {
  hold_point hold(executor());
  put_all(numbers(1, 3));
  auto& who = consume([&](term, message item) -> asio::awaitable<message_outcome> {
    if (item.data == "2") co_await hold.pass();
    co_return effect_of(item);
  });
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached() && who.does.status().done == 1; }));
  remove_all("/t");
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/0000/_at/g"); }));
  put_all({"4"});
  BOOST_TEST_REQUIRE(has_done(who, 2));
  BOOST_TEST(results() == std::vector<std::string>({"1", "4"}), boost::test_tools::per_element());
  BOOST_TEST(get("/t").data == R"({"zkrecipes":"topic","count":1,"hash":"crc32"})");
}

BOOST_AUTO_TEST_CASE(a_position_that_is_none_ends_the_run) {
  put_all({"1"});
  create("/t/0000/_at");
  create("/t/0000/_at/g", "mine");
  create_election("g");
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(ends_with(who.ended, errc::career_failed));
  try {
    std::rethrow_exception(who.coordinator.failure());
  } catch (const boost::system::system_error& failure) {
    BOOST_TEST(failure.code() == errc::foreign_data);
    BOOST_TEST(std::string(failure.what()).starts_with("topic /t, shard 0000, group g"), failure.what());
  }
}

BOOST_AUTO_TEST_CASE(a_position_that_may_not_be_written_ends_the_run_and_nothing_happens) {
  put_all({"1"});
  BOOST_TEST(!seek(source_position::begin()));
  forbid_writing("/t/0000/_at/g", no_write);
  create_election("g");
  running_reader who(connect(), over(zk()), "g", options, {}, &succeed);
  BOOST_TEST_REQUIRE(ends_with(who.ended, errc::career_failed));
  BOOST_TEST(results().empty());
}

BOOST_AUTO_TEST_CASE(without_the_right_to_remove_batches_they_stay) {
  put_all(numbers(1, 5));
  BOOST_TEST(!seek(source_position::begin()));
  forbid_deleting("/t/0000", no_delete);
  auto& who = consume(impatient(), &succeed);
  BOOST_TEST_REQUIRE(is_consumed());
  put_all(numbers(6, 10));
  BOOST_TEST_REQUIRE(has_done(who, 10));
  BOOST_TEST(results() == numbers(1, 10), boost::test_tools::per_element());
  BOOST_TEST(batches().size() == 2u);
  set_acl("/t/0000", open_acl());
}

BOOST_AUTO_TEST_CASE(a_batch_with_nodes_below_it_stays) {
  put_all(numbers(1, 3));
  const auto kept = batches().front();
  create("/t/0000/" + kept + "/mine");
  put_all(numbers(4, 6));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_done(who, 6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return batches() == std::vector<std::string>{kept}; }));
}

BOOST_AUTO_TEST_CASE(the_folder_of_the_letters_can_go_at_any_time) {
  options.retry.attempts = 1;
  put_all({"bad"});
  auto& who = consume([](term, message) -> asio::awaitable<message_outcome> { throw std::runtime_error("no"); });
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 1; }));
  remove_all("/t/_dead");
  put_all({"worse"});
  BOOST_TEST_REQUIRE(run_until([&] { return who.does.status().parked == 2; }));
  BOOST_TEST_REQUIRE(letters().size() == 1u);
  BOOST_TEST(letters()[0].data == "worse");
}

BOOST_AUTO_TEST_CASE(a_list_of_ten_thousand_batches_is_worked_off) {
  options.window = 1'000;
  put_all({"0"});
  std::string batch = "17:zkrecipes:batch:1,1:k,1:x,";
  auto put_many = [&]() -> asio::awaitable<bool> {
    for (int i = 0; i < 100; ++i) {
      transaction all;
      for (int k = 0; k < 100; ++k) all.create("/t/0000/b-1-", batch, create_mode::persistent_sequential);
      co_await zk().async_commit(all, asio::use_awaitable);
    }
    co_return true;
  };
  run(put_many(), 60s);
  int count = 0;
  auto& who = consume([&](term, message) -> asio::awaitable<message_outcome> {
    co_return transaction().set("/results", std::to_string(++count));
  });
  BOOST_TEST_REQUIRE(has_done(who, 10'001));
  BOOST_TEST(get("/results").data == "10001");
  BOOST_TEST(run_until([&] { return batches().empty(); }));
}

BOOST_AUTO_TEST_SUITE_END()
