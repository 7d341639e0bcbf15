// What goes wrong beside a producer: rights, memory, replicas, late scripts, other objects.
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <thread>

#include <boost/asio/detached.hpp>

#include "redis/producer_case.hpp"
#include "redis/redis_producer_state.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_producer_faults, producer_case)

// The number that is asked for must not take the name back from another object for the puts that are under way.
BOOST_AUTO_TEST_CASE(what_another_object_has_put_is_not_taken_for_ours) {
  const auto usual = with.retry;
  with.retry = {.first_pause = 2s, .max_pause = 2s};
  auto by = producer();
  put_well(by, 1);
  end_connections();
  recorder<std::uint64_t> waits(executor()), last(executor());
  by.async_put("k", "ours", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connection_lost redis"); }));
  with.retry = usual;
  auto other = producer();
  put_well(other, 2);
  by.async_last(last.token());
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done() && last.done(); }));
  // Open, if it was given to the connection before its end was seen.
  BOOST_TEST((waits.error() == errc::superseded || waits.error() == errc::outcome_unknown), waits.error().message());
  check({last.error(), last.result<0>()}, {}, 2);
  has_put(2);
  put_well(by, 3);
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_number_that_others_have_moved_on_ends_the_puts_behind_the_question) {
  auto by = producer();
  put_well(by, 1);
  auto other = producer();
  put_well(other, 2);
  recorder<std::uint64_t> last(executor()), waits(executor());
  by.async_last(last.token());
  by.async_put("k", "ours", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done() && last.done(); }));
  check({last.error(), last.result<0>()}, {}, 2);
  check({waits.error(), waits.result<0>()}, errc::superseded, 0);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_question_is_answered_behind_the_puts_in_front_of_it) {
  auto by = producer();
  recorder<std::uint64_t> first(executor()), second(executor()), last(executor());
  by.async_last(first.token());
  for (int i = 1; i < 5; ++i) by.async_put("k", std::to_string(i), asio::detached);
  by.async_last(second.token());
  by.async_put("k", "5", asio::detached);
  by.async_last(last.token());
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  BOOST_TEST(first.result<0>() == 0u);
  BOOST_TEST(second.result<0>() == 4u);
  BOOST_TEST(last.result<0>() == 5u);
  has_put(5);
}

BOOST_AUTO_TEST_CASE(a_script_from_before_the_name_was_taken_again_does_nothing) {
  auto by = producer();
  put_well(by, 1);
  const auto old = owner();
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 1u);
  BOOST_TEST(owner() != old);
  client().get(detail::put_command(with, "orders:producer:p", old, 1, {{"orders:0", "k", "late"}}));
  put_well(by, 2);
  has_put(2);
}

// The first try is still in the socket of a broker that does not go on; the next broker refuses us.
BOOST_AUTO_TEST_CASE(a_refusal_after_a_lost_reply_leaves_the_outcome_open) {
  with.timeout = 200ms;
  with.password = "ours";
  auto& own = use_own_broker({.password = "ours"});
  testcluster::redis_broker other({.password = "another"});
  with.hosts += ',' + other.address();
  auto by = producer();
  put_well(by, 1);
  own.pause();
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check({waits.error(), waits.result<0>()}, errc::outcome_unknown, 0);
  BOOST_TEST(has_logged("authentication_failed redis"));
  own.resume();
  BOOST_TEST_REQUIRE(run_until([&] { return client().length("orders:0") == 2; }));
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 2u);
  put_well(by, 3);
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_connection_that_was_lost_often_is_made_anew_without_growing_pauses) {
  with.retry = {.first_pause = 5ms, .max_pause = 1h};
  auto by = producer();
  for (std::uint64_t i = 1; i < 18; ++i) {
    put_well(by, i);
    end_connections();
  }
}

BOOST_AUTO_TEST_CASE(what_the_page_lists_as_rights_is_enough_and_without_one_nothing_is_put) {
  auto& own = use_own_broker({});
  BOOST_TEST(own.running());
  const auto allow = [this](const std::string& more) {
    client().get({"ACL", "SETUSER", "ours", "reset", "on", ">secret", "~orders:*", "+role", "+select", "+eval", "+xadd",
                  "+hget", "+hset", "+exists", more});
  };
  with.user = "ours";
  with.password = "secret";
  with.database = 1;
  client().get({"SELECT", "1"});
  for (const std::string right : {"hget", "hset", "eval", "role", "select"}) {
    allow('-' + right);
    auto by = producer();
    check(put(by, "x"), redis_errc::refused_credentials, 0);
    BOOST_TEST(client().get({"DBSIZE"})->integer == 0, right);
  }
  allow("-exists");
  auto by = producer();
  check(put(by, "x"), redis_errc::refused_credentials, 0);
  int number = 0;
  for (const std::string right : {"hget", "hset", "xadd", "eval"}) {
    allow("+exists");
    put_well(by, static_cast<std::uint64_t>(++number));
    allow('-' + right);
    check(put(by, "x"), redis_errc::refused_credentials, 0);
    has_put(number);
  }
}

BOOST_AUTO_TEST_CASE(a_broker_that_can_not_write_at_present_is_waited_for) {
  use_own_broker({});
  auto by = producer();
  waits_for(by, "maxmemory", "1", "OOM", 1);
  waits_for(by, "maxmemory", "1", "OOM", 2);
  waits_for(by, "min-replicas-to-write", "1", "NOREPLICAS", 3);
  auto next = producer();
  waits_for(next, "min-replicas-to-write", "1", "NOREPLICAS", 4);
  has_put(4);
}

BOOST_AUTO_TEST_CASE(a_broker_that_has_become_a_replica_is_left_and_waited_for) {
  use_own_broker({});
  auto by = producer();
  put_well(by, 1);
  client().get({"REPLICAOF", "127.0.0.1", "1"});
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("it is no primary"); }));
  client().get({"REPLICAOF", "NO", "ONE"});
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check({waits.error(), waits.result<0>()}, {}, 2);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_broker_that_is_busy_with_a_script_is_waited_for) {
  use_own_broker({});
  auto by = producer();
  put_well(by, 1);
  client().get({"CONFIG", "SET", "lua-time-limit", "20"});
  const auto address = with.hosts;
  std::thread busy([address] {
    redis_client other(address);
    other.ask({"EVAL", "while true do end", "0"});
  });
  BOOST_TEST(run_until([&] {
    const auto reply = client().ask({"HGET", "orders:producer:p", "by"});
    return reply && reply->type == REDIS_REPLY_ERROR;
  }));
  recorder<std::uint64_t> waits(executor());
  by.async_put("k", "2", waits.token());
  BOOST_TEST(run_until([&] { return has_logged("BUSY"); }));
  client().get({"SCRIPT", "KILL"});
  busy.join();
  BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
  check({waits.error(), waits.result<0>()}, {}, 2);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_deleted_or_replaced_is_told_and_not_written) {
  auto by = producer();
  put_well(by, 1);
  client().get({"DEL", "orders:producer:p"});
  check(put(by, "x"), redis_errc::source_regressed, 0);
  BOOST_TEST(client().get({"EXISTS", "orders:producer:p"})->integer == 0);
  BOOST_TEST(std::get<1>(run(by.async_last(tuple))) == 0u);
  check(put(by, "2"), {}, 1);
  client().get({"SET", "orders:producer:p", "somebody else's"});
  check(put(by, "x"), errc::foreign_data, 0);
  BOOST_TEST(client().get({"GET", "orders:producer:p"})->str == std::string("somebody else's"));
  client().get({"DEL", "orders:producer:p"});
  check(put(by, "x"), redis_errc::source_regressed, 0);
  check(put(by, "3"), {}, 1);
  has_put(3);
}

BOOST_AUTO_TEST_SUITE_END()

// Producers whose session, context or handle ends, of many threads, and of many and large messages.

BOOST_FIXTURE_TEST_SUITE(redis_producer_endings, producer_case)

#include "brokers/producer_ending_cases.hpp"

BOOST_AUTO_TEST_CASE(a_question_that_is_cancelled_ends_at_once) {
  expect_outage();
  auto by = producer();
  put_well(by, 1);
  begin_outage();
  recorder<std::uint64_t> last(executor());
  by.async_last(last.token());
  last.cancel(asio::cancellation_type::total);
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  BOOST_TEST((last.error() == asio::error::operation_aborted), last.error().message());
  end_outage();
  put_well(by, 2);
  has_put(2);
}

BOOST_AUTO_TEST_CASE(a_question_that_waits_goes_with_its_context) {
  check_goes_with_its_context([&](const session& own, std::shared_ptr<int> held) {
    auto by = producer_of(own);
    by.async_put("k", "x", asio::detached);
    by.async_last([held, by](error_code, std::uint64_t) {});
    return by;
  });
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_ends_the_question_that_waits_for_a_broker) {
  with.hosts = "127.0.0.1:1";
  auto own = connect(logging());
  auto by = producer_of(own);
  recorder<std::uint64_t> last(executor());
  by.async_put("k", "1", asio::detached);
  by.async_last(last.token());
  BOOST_TEST_REQUIRE(run_until([&] { return has_logged("connect_failed redis"); }));
  BOOST_TEST(!std::get<0>(run(own.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return last.done(); }));
  check(last.error(), errc::closed);
}

BOOST_AUTO_TEST_CASE(large_messages_and_calls_over_many_streams) {
  with.shards = 1'000;
  with.timeout = 60s;
  auto by = producer();
  std::vector<topic_message> many;
  for (int i = 0; i < 10'000; ++i) many.push_back({"key " + std::to_string(i), std::to_string(i)});
  check(run(by.async_put_all(std::move(many), tuple)), {}, 10'000);
  const auto over = streams(zk());
  long long found = 0;
  for (std::uint32_t shard = 0; shard < 1'000; ++shard) found += client().length(over.stream_of(shard));
  BOOST_TEST(found == 10'000);
  const std::string key("k\0y", 3);
  std::string large((std::size_t{64} << 20) - key.size(), 'x');
  large[1] = '\0';
  check(run(by.async_put(key, large, tuple)), {}, 10'001);
  const auto last = client().get({"XREVRANGE", over.stream_of(over.shard_of(key)), "+", "-", "COUNT", "1"});
  const auto& fields = *last->element[0]->element[1];
  BOOST_TEST(std::string(fields.element[1]->str, fields.element[1]->len) == key);
  BOOST_TEST((std::string_view(fields.element[3]->str, fields.element[3]->len) == large));
  check(run(by.async_put("", "", tuple)), {}, 10'002);
}

BOOST_AUTO_TEST_SUITE_END()
