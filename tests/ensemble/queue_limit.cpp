// Queues that must not grow without bound.
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
  auto alone = connect(log.noted(options()));
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
  const auto with = log.noted(options());
  std::vector<queue> all;
  for (std::size_t i = 0; i < producers; ++i) all.push_back(limited(connect(with), 10'000));
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
    auto [error, made] = run(by.async_create("/q/_gate/t-", "", create_mode::ephemeral_sequential, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
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
  recorder<std::string> first(executor());
  recorder<std::string> second(executor());
  q.async_put("never", first.token());
  q.async_put("2", second.token());
  first.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return second.done(); }));
  BOOST_TEST(!second.error(), second.error().message());
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
