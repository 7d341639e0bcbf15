// What operators ask of streams, and what they change.
#include <string>

#include "brokers/letters_case.hpp"
#include "redis/redis_case.hpp"
#include "redis/source_case.hpp"

namespace zkrecipes::test {

// A case of what operators do with streams.

struct operators_case : letters_case<redis_case> {
  redis_streams streams() { return source(zk()); }
  error_code seek(source_position where, const std::string& group = "g") {
    auto done = run(streams().async_seek(0, group, std::move(where), tuple));
    return std::get<0>(done);
  }
  source_lag lag(const std::string& group = "g") { return lags(group).front(); }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_operators, operators_case)

#include "brokers/letter_cases.hpp"

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_the_begin_while_its_consumer_waits) {
  put_all(numbers(1, 5));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(5));
  BOOST_TEST(!seek(source_position::begin()));
  BOOST_TEST_REQUIRE(has_results(10));
  auto twice = numbers(1, 5);
  for (const auto& each : numbers(1, 5)) twice.push_back(each);
  BOOST_TEST(results() == twice, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_new_group_is_moved_to_the_end) {
  put_all(numbers(1, 5));
  BOOST_TEST(!seek(source_position::end()));
  put_all(numbers(6, 7));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
  BOOST_TEST(results() == numbers(6, 7), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_group_is_moved_to_an_entry_or_to_the_next_one) {
  std::vector<std::string> ids;
  for (const auto& each : numbers(1, 5)) ids.push_back(client().add("orders:0", each, each));
  BOOST_TEST(!seek(source_position::at(ids[2])));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(3, 5), boost::test_tools::per_element());
  client().get({"XDEL", "orders:0", ids[3]});
  BOOST_TEST(!seek(source_position::at(ids[3])));
  BOOST_TEST_REQUIRE(has_results(4));
  BOOST_TEST(results().back() == "5");
}

// It is no loss that the entry in front of the place was never there.
BOOST_AUTO_TEST_CASE(a_place_in_front_of_all_is_the_begin) {
  put_all(numbers(1, 3));
  for (const auto* each : {"5-0", "0-0"}) BOOST_TEST(!seek(source_position::at(each)));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(!has_logged("lost"));
}

BOOST_AUTO_TEST_CASE(a_stream_that_is_not_there_yet_has_an_end) {
  BOOST_TEST(!seek(source_position::end()));
  put_all(numbers(1, 2));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(2));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  auto over = streams();
  for (const auto* group : {"", "a/b", ".."}) {
    BOOST_TEST((seek(source_position::begin(), group) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_lag(group, tuple))) == errc::bad_arguments), group);
    BOOST_TEST((std::get<0>(run(over.async_dead_letters(group, tuple))) == errc::bad_arguments), group);
  }
  for (const auto* id : {"", "5", "5-x", "-", "+"})
    BOOST_TEST((seek(source_position::at(id)) == errc::bad_arguments), id);
  auto no_shard = run(over.async_seek(1, "g", source_position::begin(), tuple));
  BOOST_TEST((std::get<0>(no_shard) == errc::bad_arguments));
  dead_letter other;
  other.name = "letter-0000000000";
  for (const auto* item : {"", "0000/x", "0001/5-1", "5-1", "0000/5.1"}) {
    other.item = item;
    BOOST_TEST((std::get<0>(run(over.async_revive("g", other, tuple))) == errc::bad_arguments), item);
  }
  redis_streams nothing;
  BOOST_TEST((std::get<0>(run(nothing.async_lag("g", tuple))) == errc::closed));
}

BOOST_AUTO_TEST_CASE(the_lag_is_what_is_behind_the_position) {
  BOOST_TEST((std::get<0>(run(streams().async_lag("g", tuple))) == errc::no_node));
  put_all(numbers(1, 12));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(12));
  BOOST_TEST_REQUIRE(run_until([&] { return lag().messages == 0; }));
  BOOST_TEST((lag().oldest == 0ms));
  BOOST_TEST(lag("h").messages == 12u);
  BOOST_TEST((lag("h").oldest > 0ms));
  end_runs(all);
  put_all(numbers(13, 15));
  BOOST_TEST(lag().messages == 3u);
  BOOST_TEST(!lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_long_lag_is_counted_up_to_a_bound) {
  create("/t");
  BOOST_TEST(!seek(source_position::begin()));
  client().get({"EVAL", "for i = 1, 10001 do redis.call('XADD', KEYS[1], '*', 'data', i) end", "1", "orders:0"});
  BOOST_TEST(lag().messages == 10'000u);
  BOOST_TEST(lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_lag_of_many_bytes_is_counted_up_to_a_bound) {
  create("/t");
  BOOST_TEST(!seek(source_position::begin()));
  const auto* put =
      "for i = 1, tonumber(ARGV[1]) do redis.call('XADD', KEYS[1], '*', 'data', string.rep('x', 20000)) end";
  client().get({"EVAL", put, "1", "orders:0", "300"});
  BOOST_TEST(lag().messages == 300u);
  BOOST_TEST(!lag().is_more);
  client().get({"EVAL", put, "1", "orders:0", "2000"});
  BOOST_TEST(lag().messages == 900u);  // the first hundred with which it is more than 16 MiB
  BOOST_TEST(lag().is_more);
}

BOOST_AUTO_TEST_CASE(a_position_of_somebody_else_is_told) {
  BOOST_TEST(!seek(source_position::begin()));
  BOOST_TEST(!std::get<0>(run(zk().async_set("/t/0000/_at/g", "mine", any_version, tuple))));
  BOOST_TEST((std::get<0>(run(streams().async_lag("g", tuple))) == errc::foreign_data));
}

BOOST_AUTO_TEST_CASE(while_the_broker_is_away_they_end_with_the_time_for_retries) {
  BOOST_TEST(!seek(source_position::begin()));
  auto hasty_options = redis_case::logging();
  hasty_options.retry.limit = 300ms;
  auto hasty = connect(hasty_options);
  redis_streams over(hasty, "/t", with);
  broker().stop();
  client().disconnect();
  for (const auto& told : {std::get<0>(run(over.async_lag("g", tuple))),
                           std::get<0>(run(over.async_seek(0, "g", source_position::end(), tuple)))})
    BOOST_TEST((told == redis_errc::unavailable), told.message());
  BOOST_TEST(!std::get<0>(run(over.async_seek(0, "g", source_position::begin(), tuple))), "needs no broker");
}

BOOST_AUTO_TEST_SUITE_END()

// What a source believes of a broker: that it is a primary, that an entry is gone, and where a stream ends.

namespace {

std::string position_at(const std::string& id) { return "{\"zkrecipes\":\"stream_position\",\"last\":\"" + id + "\"}"; }

/// The id right behind this one, as a broker gives it whose clock is behind.
std::string id_behind(const std::string& id) {
  const auto dash = id.find('-');
  return id.substr(0, dash + 1) + std::to_string(std::stoi(id.substr(dash + 1)) + 1);
}

testcluster::redis_broker_options replica_of(const std::string& primary) {
  const auto colon = primary.find(':');
  testcluster::redis_broker_options how;
  how.extra_config = {"replicaof " + primary.substr(0, colon) + ' ' + primary.substr(colon + 1)};
  return how;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_judged, source_case<lossy_case<redis_case>>)

// The connection that reads entries again may be there before that of the reader.
BOOST_AUTO_TEST_CASE(an_entry_that_the_broker_has_lost_is_not_passed_over) {
  put_all(numbers(1, 3));
  open_source();
  const auto all_read = receive_all(3);
  lose_what_was_put_since_the_save();
  const auto again = read_again({all_read[0].name});
  BOOST_TEST((std::get<0>(again) == redis_errc::source_regressed), std::get<0>(again).message());
  BOOST_TEST(has_logged("and " + all_read[2].name + " was read from it before; the run ends"));
}

BOOST_AUTO_TEST_CASE(an_entry_that_is_missing_among_those_that_were_put_since_is_lost) {
  put_all({"1"});
  client().get({"SAVE"});
  put_all({"2"});
  open_source();
  const auto all_read = receive_all(2);
  lose_what_was_put_since_the_save();
  put_all(numbers(3, 4));
  const auto again = read_again({all_read[1].name});
  BOOST_TEST((std::get<0>(again) == redis_errc::source_regressed), std::get<0>(again).message());
}

// As after a commit whose reply was lost: the position is read again, and is in front of what was read.
BOOST_AUTO_TEST_CASE(what_was_read_before_the_source_was_opened_again_is_missed) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 2));
  client().get({"SAVE"});
  put_all({"3"});
  open_source();
  receive_all(3);
  lose_what_was_put_since_the_save();
  put_all({"4"});
  open_again();
  BOOST_TEST(data_of(receive_all(3)) == (std::vector<std::string>{"1", "2", "4"}), boost::test_tools::per_element());
  BOOST_TEST(has_logged("which was consumed or read, is not in the stream"));
}

BOOST_AUTO_TEST_CASE(an_entry_that_was_deleted_is_passed_over) {
  put_all(numbers(1, 3));
  open_source();
  const auto all_read = receive_all(3);
  client().get({"XDEL", "orders:0", all_read[1].name});
  const auto again = read_again({all_read[0].name, all_read[1].name});
  BOOST_TEST_REQUIRE(!std::get<0>(again), std::get<0>(again).message());
  BOOST_TEST(std::get<1>(again)[0].has_value());
  BOOST_TEST(!std::get<1>(again)[1].has_value());
  BOOST_TEST(!has_logged("the run ends"));
}

BOOST_AUTO_TEST_CASE(told_to_go_on_it_is_passed_over_and_what_is_put_then_is_received) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 3));
  open_source();
  auto rest = receive_all(3);
  lose_what_was_put_since_the_save();
  const auto again = read_again({rest[0].name});
  BOOST_TEST_REQUIRE(!std::get<0>(again), std::get<0>(again).message());
  BOOST_TEST(!std::get<1>(again)[0].has_value());
  BOOST_TEST(has_logged("going on with what is put from now on"));
  rest.erase(rest.begin());
  commit(rest);
  BOOST_TEST(receive(10).empty());
  commit({});
  put_all({"4"});
  BOOST_TEST(data_of(receive_all(1)) == numbers(4, 4), boost::test_tools::per_element());
}

// Its connections stay, and the reader has no XREAD in it that would be told.
BOOST_AUTO_TEST_CASE(a_broker_that_has_become_a_replica_is_left) {
  with.read_ahead = 1;
  testcluster::redis_broker other(replica_of(broker().address()));
  redis_client its_client(other.address());
  put_all(numbers(1, 3));
  BOOST_TEST_REQUIRE(run_until([&] { return its_client.length("orders:0") == 3; }));
  with.hosts += ',' + other.address();
  open_source();
  BOOST_TEST(data_of(receive(1)) == numbers(1, 1), boost::test_tools::per_element());
  its_client.get({"REPLICAOF", "NO", "ONE"});
  client().get({"REPLICAOF", "127.0.0.1", "1"});
  its_client.add("orders:0", "4", "4");
  BOOST_TEST(data_of(receive_all(3)) == numbers(2, 4), boost::test_tools::per_element());
  BOOST_TEST(has_logged("orders:0: it is no primary, but a slave"));
}

// Else an entry with an id in front of the stored position would be read and not be known to the next consumer.
BOOST_AUTO_TEST_CASE(where_a_stream_ends_is_stored_before_anything_is_read_behind_it) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  const auto end = last_id();
  put_all(numbers(6, 10));
  open_source();
  commit(receive_all(10));
  lose_what_was_put_since_the_save();
  client().get({"XADD", "orders:0", id_behind(end), "key", "11", "data", "11"});
  open_source();
  // The stream ends at 11 for this one, which has seen nothing of it before.
  BOOST_TEST(receive(10).empty());
  commit({});
  BOOST_TEST(position() == position_at(id_behind(end)));
  client().get({"XADD", "orders:0", id_behind(id_behind(end)), "key", "12", "data", "12"});
  BOOST_TEST(data_of(receive_all(1)) == numbers(12, 12), boost::test_tools::per_element());
  open_source();  // as if the process had died before it has committed 12
  BOOST_TEST(data_of(receive_all(1)) == numbers(12, 12), boost::test_tools::per_element());
}

// A whole consumer: its engine writes the position, although no message is settled.
BOOST_AUTO_TEST_CASE(a_consumer_that_goes_back_writes_its_position_at_once) {
  with.regress = redis_regress::go_on;
  put_all(numbers(1, 5));
  client().get({"SAVE"});
  const auto end = last_id();
  put_all(numbers(6, 10));
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(10));
  lose_what_was_put_since_the_save();
  BOOST_TEST_REQUIRE(run_until([&] { return position() == position_at(end); }));
  put_all({"11"});
  BOOST_TEST_REQUIRE(has_results(11));
  BOOST_TEST(results() == numbers(1, 11), boost::test_tools::per_element());
}

// Each second message fails: the position would have a range for each two.
BOOST_AUTO_TEST_CASE(no_more_is_begun_while_the_position_would_become_too_large) {
  with.read_ahead = 100'000;
  client().get({"EVAL", "for i = 1, 20000 do redis.call('XADD', KEYS[1], '*', 'data', i) end", "1", "orders:0"});
  open_source();
  messages resting;
  const auto settle_each_second = [&](const messages& some) {
    messages done;
    messages failed;
    for (std::size_t i = 0; i < some.size(); ++i) (i % 2 == 0 ? failed : done).push_back(some[i]);
    on_settled(failed, settled_as::count_attempt);
    on_settled(done);
    resting.insert(resting.end(), failed.begin(), failed.end());
  };
  settle_each_second(receive_all(1'790));
  settle_each_second(receive_all(100));
  auto next = begin_to_receive(100);
  BOOST_TEST(exists("/t"));  // a round trip, in which it would have come: it is in memory
  BOOST_TEST(!next.done());
  on_settled(resting);
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(!next.error(), next.error().message());
  const auto expected = numbers(1'891, 1'990);
  BOOST_TEST(data_of(next.result<0>()) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(redis_mistyped, operators_case)

BOOST_AUTO_TEST_CASE(a_letter_is_not_revived_into_another_stream) {
  const auto letter = make_letter();
  with.stream = "ordres";
  BOOST_TEST((revive(letter) == errc::foreign_data));
  BOOST_TEST(client().get({"EXISTS", "ordres:0"})->integer == 0);
  with.stream = "orders";
  BOOST_TEST(dead().size() == 1u);
  BOOST_TEST(!revive(letter));
}

BOOST_AUTO_TEST_SUITE_END()
