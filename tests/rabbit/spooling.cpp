// Spooled producers that put into queues of RabbitMQ: over restarts, lost confirms and outages each message is taken
// once.
#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

#include "rabbit/producer_case.hpp"
#include "spool/file_case.hpp"
#include "spool/killed_process.hpp"

namespace zkrecipes::test {

// Cases of spooled producers that put into queues of RabbitMQ.

/// A process with a spooled producer, in so far as its end closes the session: nothing is sent behind it.
struct spooling_life {
  spooling_life(session over, const rabbit_options& where, const spool_options& how)
      : zk(std::move(over)), spool(spool_into(rabbit_queues(zk, "/t", where), "p", how)) {}

  session zk;
  spooled_producer spool;
  bool is_over = false;
};

/// The producers are named "p", have one file and one key unless a case says otherwise, and connect through a proxy.
struct spool_case : producer_case {
  spool_case() : between(&use_proxy()) { how.file = file.path(); }
  void teardown() {
    for (auto& each : lives) end(each);
    lives.clear();
    producer_case::teardown();
  }

  spooling_life& begin() { return lives.emplace_back(connect(logging()), with, how); }
  void end(spooling_life& which) {
    if (std::exchange(which.is_over, true)) return;
    which.spool = spooled_producer();
    BOOST_TEST(!std::get<0>(run(which.zk.async_close(tuple))));
  }

  /// They are accepted.
  void accept(spooled_producer& by, int from, int to, const std::string& key = "k") {
    std::deque<recorder<std::uint64_t>> puts;
    for (const auto& each : numbers(from, to)) {
      puts.emplace_back(executor());
      by.async_put(key, each, puts.back().token());
    }
    BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(puts, &recorder<std::uint64_t>::done); }));
    for (const auto& each : puts) BOOST_TEST(!each.error(), each.error().message());
  }
  error_code flush(spooled_producer& by, std::chrono::milliseconds within = 60s) {
    recorder<> done(executor());
    by.async_flush(within, done.token());
    BOOST_TEST_REQUIRE(run_until([&] { return done.done(); }, 2min));
    return done.error();
  }
  void flush_well(spooled_producer& by) {
    const auto error = flush(by);
    BOOST_TEST(!error, error.message() << ": " << by.status().trouble);
  }
  bool has_trouble(spooled_producer& by, const error_code& what) {
    return run_until([&] { return by.status().error == what; });
  }

  file_case file;
  spool_options how;
  testcluster::proxy* between;
  std::deque<spooling_life> lives;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(rabbit_spooling, spool_case)

BOOST_AUTO_TEST_CASE(messages_are_put_in_order_over_restarts) {
  for (const int from : {1, 501, 1'001}) {
    auto& life = begin();
    accept(life.spool, from, from + 499);
    recorder<> closed(executor());
    life.spool.async_close(30s, closed.token());
    BOOST_TEST_REQUIRE(run_until([&] { return closed.done(); }));
    check(closed.error(), {});
    BOOST_TEST(life.spool.status().lag == 0u);
    BOOST_TEST(life.spool.status().gap == 0u);
  }
  has_put(1'500);
  BOOST_TEST(reader().repeats() == 0u);
}

BOOST_AUTO_TEST_CASE(a_put_through_is_confirmed_by_the_broker) {
  auto& life = begin();
  recorder<std::uint64_t> through(executor());
  life.spool.async_put_through("k", "1", through.token());
  BOOST_TEST_REQUIRE(run_until([&] { return through.done(); }));
  check(through.error(), {});
  BOOST_TEST(through.result<0>() == 1u);
  BOOST_TEST(client().depth(queue()) == 1u);
  recorder<std::uint64_t> large(executor());
  life.spool.async_put(std::string(1'001, 'k'), "x", large.token());
  BOOST_TEST_REQUIRE(run_until([&] { return large.done(); }));
  check(large.error(), errc::too_large);
}

BOOST_AUTO_TEST_CASE(an_id_is_made_of_the_origin_and_the_number_in_the_file) {
  for (const int number : {1, 2}) {
    auto& life = begin();
    accept(life.spool, number, number);
    flush_well(life.spool);
    end(life);
  }
  const auto& found = reader().read();
  BOOST_TEST_REQUIRE(found.size() == 2u);
  BOOST_TEST(found[0].id.starts_with("zkr:p:0:"), found[0].id);
  BOOST_TEST(found[0].id.ends_with(":1"), found[0].id);
  BOOST_TEST(found[1].id.ends_with(":2"), found[1].id);
  const auto origin_of = [](const std::string& id) { return id.substr(0, id.rfind(':')); };
  BOOST_TEST(origin_of(found[0].id) != origin_of(found[1].id));
}

BOOST_AUTO_TEST_CASE(a_memory_has_ranges_although_the_numbers_of_a_queue_have_holes) {
  with.shards = 4;
  auto& life = begin();
  std::vector<std::string> of_first;
  for (int i = 1; i <= 400; ++i) {
    const auto key = "key " + std::to_string(i % 20);
    if (shard_of(key, 4) == 0) of_first.push_back(std::to_string(i));
    accept(life.spool, i, i, key);
  }
  flush_well(life.spool);
  BOOST_TEST_REQUIRE(of_first.size() > 20u);
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(of_first.size()));
  BOOST_TEST(results() == of_first, boost::test_tools::per_element());
  const auto runs = memory().substr(memory().find("runs"));
  BOOST_TEST(runs.substr(0, runs.find(']')).find(',') == runs.npos, memory());
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(what_was_not_confirmed_is_put_again_by_the_next_object_and_has_its_effect_once) {
  auto& life = begin();
  accept(life.spool, 1, 1);
  flush_well(life.spool);
  between->blackhole(testcluster::proxy::way::to_client);
  accept(life.spool, 2, 50);
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(50); }));
  BOOST_TEST(life.spool.status().lag == 49u);
  end(life);
  between->heal();
  auto& next = begin();
  accept(next.spool, 51, 60);
  flush_well(next.spool);
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(60 + 49); }));
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(60));
  accept(next.spool, 61, 61);
  BOOST_TEST_REQUIRE(has_results(61));
  BOOST_TEST(results() == numbers(1, 61), boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts.size() == 61u);
  end_when_all_is_acknowledged();
}

// A consumer has settled them, and a new one has only the memory.
BOOST_AUTO_TEST_CASE(what_was_settled_long_ago_is_known_when_it_is_put_again) {
  auto& life = begin();
  accept(life.spool, 1, 1);
  flush_well(life.spool);
  between->blackhole(testcluster::proxy::way::to_client);
  accept(life.spool, 2, 30);
  BOOST_TEST_REQUIRE(run_until([&] { return has_depth(30); }));
  end(life);
  with.hosts = broker().address();
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(30));
  end_when_all_is_acknowledged();
  all.clear();
  auto& next = begin();
  accept(next.spool, 31, 40);
  flush_well(next.spool);
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(41));
  auto expected = numbers(1, 30);
  expected.push_back("end");
  for (const auto& each : numbers(31, 40)) expected.push_back(each);
  BOOST_TEST(results() == expected, boost::test_tools::per_element());
  BOOST_TEST(who.does.attempts.size() == 10u);
  end_when_all_is_acknowledged();
}

BOOST_AUTO_TEST_CASE(under_cut_connections_each_message_is_put_once_and_in_order) {
  auto& life = begin();
  for (int cuts = 0; cuts < 8; ++cuts) {
    accept(life.spool, 1'000 * cuts + 1, 1'000 * cuts + 1'000);
    BOOST_TEST_REQUIRE(run_until([&] { return has_depth(static_cast<std::size_t>(1'000 * cuts + 100 * cuts)); }));
    between->cut();
  }
  flush_well(life.spool);
  has_put(8'000);
}

BOOST_AUTO_TEST_CASE(objects_that_end_while_they_put_lose_and_double_nothing) {
  for (int round = 0; round < 10; ++round) {
    auto& life = begin();
    accept(life.spool, 300 * round + 1, 300 * round + 300);
    BOOST_TEST_REQUIRE(run_until([&] { return life.spool.status().put > static_cast<std::uint64_t>(300 * round); }));
    end(life);
  }
  auto& last = begin();
  flush_well(last.spool);
  BOOST_TEST(last.spool.status().lag == 0u);
  has_put(3'000);
}

BOOST_AUTO_TEST_CASE(while_the_broker_is_away_messages_are_accepted_and_put_later) {
  auto& life = begin();
  accept(life.spool, 1, 1);
  flush_well(life.spool);
  between->refuse(true);
  between->cut();
  accept(life.spool, 2, 200);
  check(flush(life.spool, 50ms), errc::timed_out);
  BOOST_TEST_REQUIRE(has_trouble(life.spool, rabbit_errc::unavailable));
  BOOST_TEST(life.spool.status().trouble.find("no broker of RabbitMQ") != std::string::npos,
             life.spool.status().trouble);
  BOOST_TEST(life.spool.status().lag == 199u);
  between->refuse(false);
  flush_well(life.spool);
  BOOST_TEST(!life.spool.status().error, life.spool.status().trouble);
  has_put(200);
}

BOOST_AUTO_TEST_CASE(under_kills_of_the_broker_each_message_is_put_once_and_in_order) {
  with.hosts = broker().address();
  auto& life = begin();
  accept(life.spool, 1, 1);
  flush_well(life.spool);
  for (int kills = 0; kills < 2; ++kills) {
    const int first = 2 + 2'000 * kills;
    accept(life.spool, first, first + 1'999);
    BOOST_TEST_REQUIRE(run_until([&] { return has_depth(static_cast<std::size_t>(first + 300 * kills)); }));
    await_kept();
    broker().kill();
    client().disconnect();
    beside([&] { broker().start(); });
    flush_well(life.spool);
  }
  has_put(4'001);
}

BOOST_AUTO_TEST_CASE(two_objects_with_files_of_their_own_go_on_both_and_one_file_is_one_object_s) {
  auto& one = begin();
  accept(one.spool, 1, 1);
  auto& locked = begin();
  BOOST_TEST_REQUIRE(has_trouble(locked.spool, spool_errc::locked));
  end(locked);
  how.file += "-other";
  auto& other = begin();
  flush_well(one.spool);
  for (int i = 2; i <= 10; i += 2) {
    accept(other.spool, i, i);
    flush_well(other.spool);
    accept(one.spool, i + 1, i + 1);
    flush_well(one.spool);
  }
  has_put(11);
}

BOOST_AUTO_TEST_CASE(a_copy_of_the_file_loses_and_doubles_nothing) {
  {
    auto& life = begin();
    between->refuse(true);
    accept(life.spool, 1, 20);
    end(life);
  }
  between->refuse(false);
  for (const auto* end_of_name : {"", "-wal"})
    std::filesystem::copy_file(file.path() + end_of_name, file.path() + "-copy" + end_of_name);
  auto& original = begin();
  flush_well(original.spool);
  accept(original.spool, 21, 30);
  flush_well(original.spool);
  how.file += "-copy";
  auto& copy = begin();
  flush_well(copy.spool);
  accept(copy.spool, 31, 40);
  flush_well(copy.spool);
  has_put(40);
  BOOST_TEST(reader().repeats() == 20u);
}

BOOST_AUTO_TEST_CASE(what_the_broker_refuses_is_told_and_what_is_behind_it_waits) {
  auto& life = begin();
  accept(life.spool, 1, 1);
  recorder<std::uint64_t> large(executor());
  life.spool.async_put("k", std::string(largest_message + 1, 'x'), large.token());
  BOOST_TEST_REQUIRE(run_until([&] { return large.done(); }));
  check(large.error(), {});
  accept(life.spool, 2, 2);
  BOOST_TEST_REQUIRE(has_trouble(life.spool, rabbit_errc::refused));
  BOOST_TEST(life.spool.status().put == 1u);
  has_put(1);
  BOOST_TEST(reader().repeats() == 0u);
}

BOOST_AUTO_TEST_CASE(a_queue_that_has_gone_is_told_and_waited_for) {
  auto& life = begin();
  accept(life.spool, 1, 1);
  flush_well(life.spool);
  client().remove(queue());
  accept(life.spool, 2, 2);
  BOOST_TEST_REQUIRE(has_trouble(life.spool, rabbit_errc::missing_queue));
  accept(life.spool, 3, 10);
  client().declare(queue());
  flush_well(life.spool);
  BOOST_TEST(take_what_is_left() == numbers(2, 10), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_file_belongs_to_its_queues) {
  auto& life = begin();
  BOOST_TEST_REQUIRE(run_until([&] { return life.spool.status().is_open; }));
  end(life);
  with.shards = 2;
  auto& wider = begin();
  BOOST_TEST_REQUIRE(has_trouble(wider.spool, spool_errc::foreign_file));
  BOOST_TEST(wider.spool.status().trouble.find(", 1 shards)") != std::string::npos, wider.spool.status().trouble);
  BOOST_TEST(wider.spool.path() == "/t");
  end(wider);
  with.shards = 1;
}

BOOST_AUTO_TEST_CASE(a_path_of_somebody_else_is_left_alone_and_waited_for) {
  create("/t", "mine");
  auto& life = begin();
  accept(life.spool, 1, 3);
  BOOST_TEST_REQUIRE(has_trouble(life.spool, errc::foreign_data));
  BOOST_TEST(!client().look_at(queue()).has_value());
  BOOST_TEST(get("/t").data == "mine");
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t", "", any_version, tuple))));
  flush_well(life.spool);
  has_put(3);
}

BOOST_AUTO_TEST_CASE(a_file_without_origins_is_taken_over) {
  {
    auto settings = file.settings();
    settings.path = root() + "/t (RabbitMQ: " + with.queue + ", 1 shards)";
    detail::spool_file before(settings);
    BOOST_TEST_REQUIRE(!before.open({}).error);
    detail::spool_change change;
    for (std::uint64_t i = 1; i <= 5; ++i) {
      const detail::spool_row row{i, "k", std::to_string(i)};
      change.rows.push_back(std::make_shared<detail::spool_row>(row));
    }
    BOOST_TEST_REQUIRE(!before.commit(change).error);
  }
  auto& life = begin();
  accept(life.spool, 6, 8);
  flush_well(life.spool);
  has_put(8);
}

BOOST_AUTO_TEST_CASE(bad_names_and_options_are_refused) {
  for (const std::string name : {"", "a/b", "a\nb", ".", ".."})
    BOOST_CHECK_THROW(spool_into(queues(zk()), name, how), std::invalid_argument);
  BOOST_CHECK_THROW(spool_into(queues(zk()), std::string(201, 'x'), how), std::invalid_argument);
  BOOST_CHECK_THROW(spool_into(rabbit_queues(), "p", how), std::invalid_argument);
  how.count = 0;
  BOOST_CHECK_THROW(spool_into(queues(zk()), "p", how), std::invalid_argument);
}

// Real processes that are killed while they put, and a consumer with a memory behind them.
BOOST_AUTO_TEST_CASE(under_kills_of_the_process_each_message_has_its_effect_once_and_in_order) {
  with.hosts = broker().address();
  client().declare(queue());
  consume(&succeed);
  noted_numbers notes(file.path() + "-notes");
  for (int life = 0; life < 6; ++life) {
    const bool is_last = life == 5;
    const auto first = std::to_string(100'000 * life + 1);
    const auto last = std::to_string(100'000 * life + (is_last ? 1'000 : 90'000));
    killed_process worker({SPOOL_WORKER, hosts_of_worker(), root(), with.hosts, with.queue, how.file,
                           file.path() + "-notes", first, last});
    const auto wanted = notes.look() + 700;
    if (is_last) {
      BOOST_TEST_REQUIRE(run_until([&] { return worker.has_ended(); }, 2min));
    } else {
      BOOST_TEST_REQUIRE(run_until([&] { return notes.look() >= wanted; }, 2min));
      worker.end();
    }
  }
  notes.look();
  const auto last_result = [&] {
    const auto names = children("/results");
    return names.empty() ? std::string() : get("/results/" + *std::ranges::max_element(names)).data;
  };
  BOOST_TEST_REQUIRE(run_until([&] { return last_result() == "501000"; }, 3min));
  const auto seen = results();
  std::set<long long> found;
  long long before = 0;
  for (const auto& each : seen) {
    BOOST_TEST(std::stoll(each) > before, each << " behind " << before);
    before = std::stoll(each);
    found.insert(before);
  }
  for (const auto each : notes.all()) BOOST_TEST(found.contains(each), each << " was accepted and is not there");
  end_runs(all);
}

BOOST_AUTO_TEST_SUITE_END()
