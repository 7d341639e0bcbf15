// Queues that must not grow without bound.
#include <map>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class limits : public queue_case {
 public:
  queue limited(session which, std::size_t limit) { return queue(std::move(which), "/q", {.limit = limit}); }
  void clear_items() {
    for (const auto& name : children("/q")) {
      if (name.starts_with("qn-")) zk().async_remove("/q/" + name, any_version, [](error_code) {});
    }
    BOOST_TEST(run_until([&] { return size() == 0; }));
  }
  error_code put_one(queue into, std::string data = "x") {
    return std::get<0>(run(into.async_put(std::move(data), tuple)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_limit, limits)

BOOST_AUTO_TEST_CASE(a_full_queue_takes_no_more_until_there_is_room) {
  auto q = limited(zk(), 3);
  for (int i = 0; i < 3; ++i) BOOST_TEST(!put_one(q));
  BOOST_TEST(put_one(q) == errc::full);
  BOOST_TEST(std::get<0>(run(q.async_put_many({"x", "y"}, tuple))) == errc::full);
  BOOST_TEST(size() == 3u);
  auto from = over(zk());
  const auto item = take(from);
  BOOST_TEST(put_one(q) == errc::full, "a claimed item is one, too; a claim is none");
  expect_done(from, item);
  BOOST_TEST(std::get<0>(run(q.async_put_many({"x", "y"}, tuple))) == errc::full, "all or none");
  BOOST_TEST(!put_one(q));
  BOOST_TEST(put_one(q) == errc::full);
  drain();
}

BOOST_AUTO_TEST_CASE(it_holds_exactly_for_many_that_put_at_once) {
  std::vector<queue> producers;
  for (int i = 0; i < 4; ++i) producers.push_back(limited(connect(), 10));
  std::vector<recorder<std::string>> puts(40, recorder<std::string>(executor()));
  for (std::size_t i = 0; i < puts.size(); ++i) {
    puts[i] = recorder<std::string>(executor());
    producers[i % 4].async_put(std::to_string(i), puts[i].token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(puts.begin(), puts.end(), [](auto& p) { return p.done(); }); }));
  const auto fine = std::count_if(puts.begin(), puts.end(), [](auto& p) { return !p.error(); });
  const auto full = std::count_if(puts.begin(), puts.end(), [](auto& p) { return p.error() == errc::full; });
  BOOST_TEST(fine == 10);
  BOOST_TEST(full == 30);
  BOOST_TEST(size() == 10u);
  producers.clear();
  drain();
}

BOOST_AUTO_TEST_CASE(puts_that_follow_each_other_cost_one_request) {
  request_log log;
  auto alone = log.connect(*this);
  auto q = limited(alone, 100);
  BOOST_TEST(!put_one(q));
  log.clear();
  std::vector<recorder<std::string>> puts(20, recorder<std::string>(executor()));
  for (auto& each : puts) {
    each = recorder<std::string>(executor());
    q.async_put("x", each.token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return puts.back().done(); }));
  for (auto& each : puts) BOOST_TEST(!each.error());
  BOOST_TEST(log.count("multi") == 21, "the first of them draws a ticket, and looks");
  BOOST_TEST(log.count("exists") == 2);
  BOOST_TEST(log.count("children") == 0);
  drain();
}

BOOST_AUTO_TEST_CASE(many_that_put_at_once_cost_two_requests_a_put) {
  constexpr std::size_t producers = 50;
  constexpr std::size_t each_puts = 10;
  request_log log;
  std::vector<queue> all;
  for (std::size_t i = 0; i < producers; ++i) all.push_back(limited(log.connect(*this), 10'000));
  BOOST_TEST(!put_one(all.front()));
  log.clear();
  std::vector<recorder<std::string>> puts(producers * each_puts, recorder<std::string>(executor()));
  for (std::size_t i = 0; i < puts.size(); ++i) {
    puts[i] = recorder<std::string>(executor());
    all[i % producers].async_put(std::to_string(i), puts[i].token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(puts.begin(), puts.end(), [](auto& p) { return p.done(); }); }));
  for (auto& each : puts) BOOST_TEST(!each.error());
  const auto requests = log.count("multi") + log.count("exists") + log.count("children") + log.count("create");
  BOOST_TEST(requests <= 22 * static_cast<long>(puts.size()) / 10, requests << " for " << puts.size());
  BOOST_TEST(log.count("children") == 0);
  all.clear();
  clear_items();
}

/// The number of tickets ever drawn is computed from `cversion`, in which a server counts created and removed children.
BOOST_AUTO_TEST_CASE(a_server_counts_the_children_there_were) {
  run(zk().async_ensure_path("/q/_gate", tuple));
  auto other = connect();
  const auto draw = [&](session& by) {
    auto made = must(run(by.async_create("/q/_gate/t-", "", create_mode::ephemeral_sequential, tuple)));
    return made.path;
  };
  for (int i = 0; i < 7; ++i) {
    const auto mine = draw(zk());
    draw(other);
    if (i % 2) run(zk().async_remove(mine, any_version, tuple));
    transaction both;
    both.create("/q/_gate/t-", "", create_mode::ephemeral_sequential);
    if (i % 2 == 0) both.remove(mine);
    BOOST_TEST(!std::get<0>(run(zk().async_commit(both, tuple))));
  }
  run(other.async_close(tuple));
  settle(zk());
  const auto seen = get("/q/_gate").stat;
  BOOST_TEST((seen.cversion + seen.num_children) / 2 == 21);
  BOOST_TEST(draw(zk()).ends_with("0000000021"));
  for (const auto& each : children("/q/_gate")) remove("/q/_gate/" + each);
}

BOOST_AUTO_TEST_CASE(dead_letters_come_back_only_where_there_is_room) {
  auto q = limited(zk(), 4);
  for (int i = 0; i < 4; ++i) BOOST_TEST(!put_one(q));
  for (int i = 0; i < 3; ++i) {
    const auto bad = take(q);
    BOOST_TEST(!std::get<0>(run(q.async_reject(bad, "bad", tuple))));
  }
  BOOST_TEST(!put_one(q));
  auto letters = dead_letters(q);
  BOOST_TEST_REQUIRE(letters.size() == 3u);
  for (int i = 0; i < 2; ++i) BOOST_TEST(!std::get<0>(run(q.async_revive(letters[i], tuple))));
  BOOST_TEST(std::get<0>(run(q.async_revive(letters[2], tuple))) == errc::full);
  BOOST_TEST(put_one(q) == errc::full);
  BOOST_TEST(size() == 4u);
  BOOST_TEST(!std::get<0>(run(q.async_discard(dead_letters(q).at(0), tuple))));
  drain();
}

BOOST_AUTO_TEST_CASE(a_put_whose_reply_is_lost_is_not_put_again) {
  run(zk().async_ensure_path("/q/_gate", tuple));
  auto far = connect_far();
  auto q = limited(far, 3);
  own().drop_reply(testcluster::op::multi, 2);  // the put; the first transaction draws its ticket
  BOOST_TEST(put_one(q) == errc::outcome_unknown);
  BOOST_TEST(!put_one(q));
  BOOST_TEST(!put_one(q));
  BOOST_TEST(put_one(q) == errc::full);
  BOOST_TEST(size() == 3u);
  drain();
}

BOOST_AUTO_TEST_CASE(a_ticket_whose_reply_is_lost_takes_no_room) {
  run(zk().async_ensure_path("/q/_gate", tuple));
  auto far = connect_far();
  auto q = limited(far, 3);
  own().drop_reply(testcluster::op::multi);
  for (int i = 0; i < 3; ++i) BOOST_TEST(!put_one(q));
  BOOST_TEST(put_one(q) == errc::full);
  BOOST_TEST(run_until([&] { return tickets() == 0; }));
  BOOST_TEST(size() == 3u);
  drain();
}

BOOST_AUTO_TEST_CASE(a_put_that_is_cancelled_does_not_keep_the_next_waiting) {
  auto far = connect_far();
  auto q = limited(far, 5);
  BOOST_TEST(!put_one(q));
  disconnect(far);
  auto first = q.async_put("never", recorded());
  auto second = q.async_put("2", recorded());
  first.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  reconnect();
  BOOST_TEST_REQUIRE(succeeds(second));
  drain();
}

BOOST_AUTO_TEST_CASE(a_producer_keeps_the_limit_and_cuts_its_batches) {
  run(zk().async_ensure_path("/q", tuple));
  auto q = limited(zk(), 5);
  make_producer(zk(), "p");
  producer p(q, "p");
  std::vector<recorder<std::uint64_t>> puts(8, recorder<std::uint64_t>(executor()));
  for (auto& each : puts) {
    each = recorder<std::uint64_t>(executor());
    p.async_put("x", each.token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(puts.begin(), puts.end(), [](auto& one) { return one.done(); }); }));
  for (std::size_t i = 0; i < puts.size(); ++i) BOOST_TEST((puts[i].error() == errc::full) == (i >= 5));
  BOOST_TEST(size() == 5u);
  drain();
  auto again = run(p.async_put("x", tuple));
  BOOST_TEST(!std::get<0>(again), std::get<0>(again).message());
  BOOST_TEST(std::get<1>(again) == 6u);
  drain();
}

BOOST_AUTO_TEST_CASE(a_list_that_others_could_not_read_any_more_is_not_made_longer) {
  // Each name takes 17 bytes in the list.
  queue q(zk(), "/q", {.max_list_bytes = 17 * 10});
  run(q.async_put_many(std::vector<std::string>(10), tuple));
  BOOST_TEST(run_until([&] { return put_one(q) == errc::full; }, 10s));
  const auto before = size();
  BOOST_TEST(put_one(q) == errc::full);
  BOOST_TEST(size() == before);
  BOOST_TEST(status_of(q).list_bytes >= 17u * 10);
  drain();
  BOOST_TEST(!put_one(q), "it looks again");
  drain();
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused_by_name) {
  for (int bad : {-1, 101}) {
    try {
      queue(zk(), "/q", {.max_attempts = bad});
      BOOST_ERROR("accepted " << bad);
    } catch (const std::invalid_argument& refused) {
      BOOST_TEST(std::string(refused.what()).find("max_attempts") != std::string::npos);
    }
  }
  BOOST_CHECK_THROW(queue(zk(), "q"), std::invalid_argument);
  run(zk().async_ensure_path("/q", tuple));
}

BOOST_AUTO_TEST_CASE(the_status_tells_all) {
  put("1");
  put("2");
  create("/q/note");
  auto from = over(zk());
  const auto first = take(from);
  BOOST_TEST(!std::get<0>(run(from.async_reject(first, "bad", tuple))));
  put("3");
  const auto second = take(from);
  const auto seen = status_of(from);
  BOOST_TEST(seen.items == 2u);
  BOOST_TEST(seen.claimed == 1u);
  BOOST_TEST(seen.dead == 1u);
  BOOST_TEST(seen.foreign == 1u);
  settle(zk());
  create("/q/now");
  BOOST_TEST(seen.oldest.count() <= get("/q/now").stat.ctime - second.stat.ctime, "not older than it is");
  remove("/q/now");
  BOOST_TEST(run_until([&] { return status_of(from).oldest > seen.oldest; }), "it grows older");
  BOOST_TEST(status_of(from).oldest < 60s);
  expect_done(from, second);
  for (auto& each : dead_letters(from)) run(from.async_discard(each, tuple));
  remove("/q/note");
  drain();
}

BOOST_AUTO_TEST_SUITE_END()

// A producer puts exactly once and in order, whatever happens to the replies.
namespace {

class producers : public queue_case {
 public:
  /// Puts all items at once, waits for all of them, and checks that their numbers follow each other.
  void put_all(producer& by, const std::vector<std::string>& items) {
    std::vector<recorder<std::uint64_t>> each(items.size(), recorder<std::uint64_t>(executor()));
    for (std::size_t i = 0; i < items.size(); ++i) {
      each[i] = recorder<std::uint64_t>(executor());
      by.async_put(items[i], each[i].token());
    }
    auto is_done = [](const recorder<std::uint64_t>& r) { return r.done(); };
    BOOST_TEST_REQUIRE(run_until([&] { return std::all_of(each.begin(), each.end(), is_done); }));
    for (std::size_t i = 0; i < items.size(); ++i) {
      BOOST_TEST(!each[i].error(), each[i].error().message());
      BOOST_TEST(each[i].result<0>() == each[0].result<0>() + i);
    }
  }
  error_code put_one(producer& by, const std::string& data) { return std::get<0>(run(by.async_put(data, tuple))); }
  /// How many items each transaction has put, in order: the items of one have the same `czxid`.
  std::vector<std::size_t> batches() {
    auto names = children("/q");
    std::erase_if(names, [](const std::string& each) { return !each.starts_with("qn-"); });
    std::map<std::int64_t, std::size_t> sizes;
    for (const auto& each : names) ++sizes[get("/q/" + each).stat.czxid];
    std::vector<std::size_t> all;
    for (const auto& [zxid, items] : sizes) all.push_back(items);
    return all;
  }
  std::uint64_t last(producer& by) { return std::get<1>(run(by.async_last(tuple))); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_producer, producers)

BOOST_AUTO_TEST_CASE(items_are_numbered_and_travel_together) {
  auto zk_of_p = connect();
  auto p = make_producer(zk_of_p, "p");
  put_all(p, numbers(1, 300));
  BOOST_TEST(last(p) == 300u);
  BOOST_TEST(zk_of_p.counters().requests < 20u, "not one request each");
  BOOST_TEST(drain() == numbers(1, 300), boost::test_tools::per_element());
}

// All eight are there when the node of the producer has been read.
BOOST_AUTO_TEST_CASE(a_batch_has_as_many_items_as_the_options_say) {
  auto p = make_producer(zk(), "p", {.max_batch = 3});
  put_all(p, numbers(1, 8));
  const std::vector<std::size_t> expected{3, 3, 2};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 8), boost::test_tools::per_element());
}

// In a queue with a limit the transaction has their tickets, too.
BOOST_AUTO_TEST_CASE(many_items_travel_in_one_transaction) {
  for (const auto& [limit, most] : {std::pair<std::size_t, int>{0, 1000}, {400, 400}}) {
    queue into(zk(), "/q", {.limit = limit});
    const producer_options how{.max_batch = static_cast<std::size_t>(most), .linger = 60s};
    auto p = make_producer(into, "p" + std::to_string(limit), how);
    put_all(p, numbers(1, most));
    auto [error, all] = run(into.async_take_many(how.max_batch, tuple));
    BOOST_TEST(!error, error.message());
    BOOST_TEST_REQUIRE(all.size() == how.max_batch);
    for (const auto& each : all) {
      BOOST_TEST(each.stat.czxid == all[0].stat.czxid);
      expect_done(into, each);
    }
  }
}

BOOST_AUTO_TEST_CASE(items_that_linger_are_put_in_one_transaction_when_the_batch_is_full) {
  auto p = make_producer(connect(), "p", {.max_batch = 3, .linger = 60s});
  std::vector<recorder<std::uint64_t>> each(3, recorder<std::uint64_t>(executor()));
  for (std::size_t i = 0; i < each.size(); ++i) {
    BOOST_TEST(!exists("/q"), "nothing was sent yet");
    each[i] = recorder<std::uint64_t>(executor());
    p.async_put(std::to_string(i + 1), each[i].token());
  }
  BOOST_TEST_REQUIRE(run_until([&] { return each[2].done(); }));
  for (auto& put : each) BOOST_TEST((put.done() && !put.error()));
  const std::vector<std::size_t> expected{3};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(items_that_linger_are_put_when_the_first_one_is_due) {
  auto p = make_producer(connect(), "p", {.linger = 100ms});
  put_all(p, numbers(1, 3));
  const std::vector<std::size_t> expected{3};
  BOOST_TEST(batches() == expected, boost::test_tools::per_element());
  BOOST_TEST(drain() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(items_that_linger_end_with_their_session) {
  create("/q");
  auto brief = connect();
  auto p = producer(over(brief), "p", {.linger = 60s});
  recorder<std::uint64_t> put(executor());
  p.async_put("never put", put.token());
  settle(brief);
  BOOST_TEST(!put.done());
  BOOST_TEST(!std::get<0>(run(brief.async_close(tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return put.done(); }, 20s), "before its batch would have been sent");
  BOOST_TEST(put.error() == errc::closed);
  BOOST_TEST(children("/q").empty());
}

BOOST_AUTO_TEST_CASE(large_items_travel_in_several_batches) {
  auto p = make_producer(zk(), "p");
  std::vector<std::string> items;
  for (int i = 0; i < 12; ++i) items.push_back(std::string(200'000, static_cast<char>('a' + i)));
  put_all(p, items);
  BOOST_TEST((drain() == items));
}

BOOST_AUTO_TEST_CASE(every_lost_reply_is_settled) {
  auto far = connect_far();
  for (int k = 1; k <= 5; ++k) {
    auto p = make_producer(far, "p" + std::to_string(k));
    own().drop_reply(testcluster::op::multi, k);
    put_all(p, numbers(1, 300));
    for (const auto& each : numbers(301, 304)) BOOST_TEST(!put_one(p, each));
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(drain() == numbers(1, 304), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(every_lost_request_is_sent_again) {
  auto far = connect_far();
  for (int k = 1; k <= 5; ++k) {
    auto p = make_producer(far, "p" + std::to_string(k));
    own().drop_request(testcluster::op::multi, k);
    put_all(p, numbers(1, 300));
    for (const auto& each : numbers(301, 304)) BOOST_TEST(!put_one(p, each));
    BOOST_TEST(own().drops() == static_cast<std::size_t>(k));
    BOOST_TEST(drain() == numbers(1, 304), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_in_between_changes_nothing) {
  auto mortal = connect();
  auto p = make_producer(mortal, "p");
  BOOST_TEST(!put_one(p, "1"));
  cluster().expire(mortal.status().session_id);
  BOOST_TEST(!put_one(p, "2"));
  BOOST_TEST(mortal.status().incarnation == 2u);
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_next_run_continues_the_numbers) {
  {
    auto p = make_producer(connect(), "p");
    BOOST_TEST(last(p) == 0u);
    put_all(p, numbers(1, 3));
  }
  auto p = make_producer(connect(), "p");
  BOOST_TEST(last(p) == 3u);
  auto [error, number] = run(p.async_put("4", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(number == 4u);
  auto other = make_producer(connect(), "other");
  BOOST_TEST(last(other) == 0u);
  BOOST_TEST(drain() == numbers(1, 4), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_two_with_one_name_the_one_that_comes_too_late_is_told) {
  auto a = make_producer(connect(), "p");
  auto b = make_producer(connect(), "p");
  BOOST_TEST(!put_one(a, "1"));
  BOOST_TEST(!put_one(b, "2"));
  BOOST_TEST(put_one(a, "never put") == errc::superseded);
  const std::vector<std::string> expected{"1", "2"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(even_if_a_reply_was_lost_in_the_same_moment) {
  auto far = connect_far();
  auto a = make_producer(far, "p");
  auto b = make_producer(connect(), "p");
  BOOST_TEST(!put_one(a, "1"));
  own().drop_request(testcluster::op::multi);
  own().refuse(true);
  auto lost = a.async_put("never put", recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(!put_one(b, "2"));
  reconnect();
  BOOST_TEST_REQUIRE(ends_with(lost, errc::superseded));
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_cancelled_put_is_put_all_the_same) {
  auto p = make_producer(zk(), "p");
  BOOST_TEST(last(p) == 0u, "connected: without a connection the item is forgotten instead");
  auto first = p.async_put("1", recorded());
  first.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  BOOST_TEST(!put_one(p, "2"));
  BOOST_TEST(drain() == numbers(1, 2), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_record_that_is_not_ours_is_left_alone) {
  create("/q");
  auto p = make_producer(zk(), "p");
  create("/q/_producer-p", "seventeen");
  BOOST_TEST(put_one(p, "1") == errc::foreign_data);
  BOOST_TEST(get("/q/_producer-p").data == "seventeen");
  BOOST_TEST(size() == 0u);
}

BOOST_AUTO_TEST_CASE(a_name_must_be_one_part_of_a_path) {
  BOOST_CHECK_THROW(producer(over(zk()), ""), std::invalid_argument);
  BOOST_CHECK_THROW(producer(over(zk()), "a/b"), std::invalid_argument);
  create("/q");
}

BOOST_AUTO_TEST_CASE(a_queue_that_was_removed_is_made_again) {
  auto p = make_producer(connect(), "p");
  for (auto each : {"1", "2"}) BOOST_TEST(!put_one(p, each));
  for (const auto& each : children("/q")) remove("/q/" + each);
  remove("/q");
  auto [error, number] = run(p.async_put("3", tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(number == 1u, "as its record is new, too");
  const std::vector<std::string> expected{"3"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
