// Spooled producers with their real file, on a real ensemble.
#include <deque>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/spool/spooled_producer.hpp>

#include "ensemble/ensemble_case.hpp"
#include "spool/file_case.hpp"
#include "topic/topic_layout.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class spools : public ensemble_case {
 public:
  void teardown() {
    for (const auto* each : {"/q", "/t"}) {
      if (exists(each)) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(each, tuple))));
    }
    ensemble_case::teardown();
  }

  spool_options options_with(spool_durability durability = spool_durability::power) {
    spool_options all;
    all.file = file.path();
    all.durability = durability;
    return all;
  }
  spooled_producer into_topic(session by, spool_options how) {
    return spooled_producer(topic(std::move(by), "/t", {.shards = 1}), "p", how);
  }
  spooled_producer into_queue(session by, spool_options how) {
    return spooled_producer(queue(std::move(by), "/q"), "p", how);
  }
  void put(spooled_producer& by, int from, int to, bool is_through = false) {
    for (const auto& each : numbers(from, to)) {
      const std::string key = by.path() == root() + "/t" || by.path() == "/t" ? each : "";
      puts.emplace_back(executor());
      if (is_through) {
        by.async_put_through(key, each, puts.back().token());
      } else {
        by.async_put(key, each, puts.back().token());
      }
    }
  }
  bool all_done() {
    return run_until([&] { return std::ranges::all_of(puts, &recorder<std::uint64_t>::done); });
  }
  void expect_good() {
    BOOST_TEST_REQUIRE(all_done());
    for (auto& each : puts) BOOST_TEST(!each.error(), each.error().message());
  }
  error_code close(spooled_producer& which, std::chrono::milliseconds within = 20s) {
    recorder<> end(executor());
    which.async_close(within, end.token());
    BOOST_TEST_REQUIRE(run_until([&] { return end.done(); }));
    return end.error();
  }
  error_code flush(spooled_producer& which, std::chrono::milliseconds within) {
    recorder<> end(executor());
    which.async_flush(within, end.token());
    BOOST_TEST_REQUIRE(run_until([&] { return end.done(); }));
    return end.error();
  }

  std::vector<std::string> in_topic() {
    auto names = children("/t/0000");
    std::erase_if(names, [](const std::string& each) { return !each.starts_with("b-"); });
    std::ranges::sort(names, {}, [](const std::string& each) { return each.substr(each.rfind('-')); });
    std::vector<std::string> all;
    for (const auto& each : names) {
      const auto text = get("/t/0000/" + each).data;
      const auto batch = detail::unpack(text);
      for (const auto& [key, data] : batch.value()) all.emplace_back(data);
    }
    return all;
  }
  std::vector<std::string> in_queue() {
    auto names = children("/q");
    std::erase_if(names, [](const std::string& each) { return !each.starts_with("qn-"); });
    std::ranges::sort(names);
    std::vector<std::string> all;
    for (const auto& each : names) all.push_back(get("/q/" + each).data);
    return all;
  }

  file_case file;
  std::deque<recorder<std::uint64_t>> puts;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(spool, spools)

BOOST_AUTO_TEST_CASE(messages_come_into_a_topic_in_order_over_restarts) {
  for (const int from : {1, 501, 1001}) {
    auto by = into_topic(connect(), options_with());
    put(by, from, from + 499);
    expect_good();
    BOOST_TEST(!close(by));
    BOOST_TEST(by.status().lag == 0u);
    BOOST_TEST(by.status().gap == 0u);
  }
  BOOST_TEST(in_topic() == numbers(1, 1500), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(messages_come_into_a_queue_in_order_over_restarts) {
  for (const int from : {1, 301}) {
    auto by = into_queue(connect(), options_with(spool_durability::process));
    put(by, from, from + 299, true);
    expect_good();
    BOOST_TEST(!close(by));
  }
  BOOST_TEST(in_queue() == numbers(1, 600), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_queue_takes_no_keys) {
  auto by = into_queue(connect(), options_with());
  put(by, 1, 1, true);
  expect_good();
  recorder<std::uint64_t> end(executor());
  by.async_put("key", "data", end.token());
  BOOST_TEST_REQUIRE(run_until([&] { return end.done(); }));
  BOOST_TEST((end.error() == errc::bad_arguments));
  BOOST_TEST(!close(by));
}

BOOST_AUTO_TEST_CASE(while_the_ensemble_is_away_messages_are_accepted_and_put_later) {
  auto far = connect_far();
  auto by = into_topic(far, options_with());
  put(by, 1, 100, true);
  expect_good();
  disconnect(far);
  puts.clear();
  put(by, 101, 400);
  expect_good();
  BOOST_TEST((flush(by, 50ms) == errc::timed_out));
  BOOST_TEST(by.status().lag == 300u);
  BOOST_TEST(run_until([&] { return by.status().error == errc::connection_loss; }));
  BOOST_TEST(by.status().trouble.find("no connection: check") != std::string::npos, by.status().trouble);
  reconnect();
  BOOST_TEST(!flush(by, 25s));
  BOOST_TEST(!by.status().error, by.status().trouble);
  BOOST_TEST(!close(by));
  BOOST_TEST(in_topic() == numbers(1, 400), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_was_accepted_without_an_ensemble_is_put_by_the_next_object) {
  {
    auto nowhere = options();
    nowhere.hosts = "127.0.0.1:1";
    auto by = into_topic(connect(nowhere), options_with());
    put(by, 1, 200);
    expect_good();
  }
  auto by = into_topic(connect(), options_with());
  BOOST_TEST(run_until([&] { return by.status().put == 200u; }));
  BOOST_TEST(!close(by));
  BOOST_TEST(in_topic() == numbers(1, 200), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(two_objects_with_one_file_or_one_name_do_not_mix) {
  auto first = into_topic(connect(), options_with());
  put(first, 1, 10, true);
  expect_good();
  puts.clear();
  auto same_file = into_topic(connect(), options_with());
  put(same_file, 11, 11);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST((puts[0].error() == spool_errc::locked));
  BOOST_TEST(same_file.status().trouble.find(file.path()) == 0u);
  puts.clear();
  auto other_file = options_with();
  other_file.file += "-other";
  auto same_name = into_topic(connect(), other_file);
  put(same_name, 11, 20, true);
  expect_good();
  BOOST_TEST(same_name.status().gap == 10u);
  puts.clear();
  put(first, 21, 21, true);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST((puts[0].error() == errc::superseded));
  BOOST_TEST((close(first) == errc::superseded));
  BOOST_TEST(!close(same_name));
  BOOST_TEST(in_topic() == numbers(1, 20), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(an_object_that_takes_over_while_puts_are_under_way_repeats_nothing) {
  auto far = connect_far();
  for (const bool is_topic : {true, false}) {
    const auto make = [&] { return is_topic ? into_topic(far, options_with()) : into_queue(far, options_with()); };
    std::filesystem::remove(file.path());
    std::filesystem::remove(file.path() + "-wal");
    std::optional<spooled_producer> by(make());
    for (int round = 0; round < 10; ++round) {
      puts.clear();
      put(*by, 300 * round + 1, 300 * round + 300);
      expect_good();
      BOOST_TEST_REQUIRE(run_until([&] { return by->status().put > static_cast<std::uint64_t>(300 * round); }));
      if (round % 3 == 1) {
        puts.clear();
        disconnect(far);
        reconnect();
      }
      by.reset();
      by.emplace(make());
    }
    BOOST_TEST(!flush(*by, 25s));
    BOOST_TEST(by->status().gap == 0u);
    BOOST_TEST(!close(*by));
    BOOST_TEST((is_topic ? in_topic() : in_queue()) == numbers(1, 3'000), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_session_that_is_closed_leaves_the_rest_in_the_file) {
  auto brief = connect();
  auto by = into_queue(brief, options_with());
  put(by, 1, 10, true);
  expect_good();
  BOOST_TEST(!std::get<0>(run(brief.async_close(tuple))));
  puts.clear();
  put(by, 11, 11);
  BOOST_TEST_REQUIRE(all_done());
  BOOST_TEST((!puts[0].error() || puts[0].error() == errc::closed));
  const bool is_in_file = !puts[0].error();
  const auto end = close(by);
  BOOST_TEST((!end || end == errc::closed));
  auto next = into_queue(connect(), options_with());
  BOOST_TEST(run_until([&] { return next.status().is_open; }));
  BOOST_TEST(!flush(next, 20s));
  BOOST_TEST(!close(next));
  BOOST_TEST(in_queue() == numbers(1, is_in_file ? 11 : 10), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
