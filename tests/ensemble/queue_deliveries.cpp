// Items that were handed out: attempts that are counted, returns, dead letters, acknowledgements with effects.
#include <zkrecipes/consumer/queue_consumer.hpp>

#include "ensemble/queue_case.hpp"
#include "ensemble/replica.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class item_deliveries : public queue_case {
 public:
  queue with(queue_options options) { return queue(zk(), "/q", std::move(options)); }
  error_code give_back(queue& from, const message& item, return_to where, std::string reason = {}) {
    return std::get<0>(run(from.async_return(item, where, std::move(reason), tuple)));
  }
  error_code reject(queue& from, const message& item, std::string reason) {
    return std::get<0>(run(from.async_reject(item, std::move(reason), tuple)));
  }
  void discard_all() {
    auto which = over(zk());
    for (auto& each : dead_letters(which)) BOOST_TEST(!std::get<0>(run(which.async_discard(each, tuple))));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_deliveries, item_deliveries)

BOOST_AUTO_TEST_CASE(attempts_are_counted_by_the_server) {
  put("1");
  auto from = over(zk());
  for (int attempt = 1; attempt <= 3; ++attempt) {
    const auto item = take(from);
    BOOST_TEST(item.attempts == attempt);
    BOOST_TEST(!queue_case::give_back(from, item));
  }
  auto mortal = connect();
  BOOST_TEST(take(over(mortal)).attempts == 4);
  cluster().expire(mortal.status().session_id);
  const auto item = take(from);
  BOOST_TEST(item.attempts == 5, "who dies of it counts, too");
  BOOST_TEST(get("/q/" + item.name).data == "1", "and what others see of it is as it was");
  expect_done(from, item);
}

BOOST_AUTO_TEST_CASE(an_item_given_back_to_the_end_keeps_nobody_waiting_and_its_attempts) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto from = over(zk());
  const auto first = take(from);
  BOOST_TEST(!give_back(from, first, return_to::end));
  const std::vector<std::string> in_order{"2", "3", "1"};
  for (const auto& each : in_order) {
    const auto item = take(from);
    BOOST_TEST(item.data == each);
    BOOST_TEST(item.attempts == (each == "1" ? 2 : 1));
    BOOST_TEST(item.name.size() == first.name.size(), "the name does not grow");
    expect_done(from, item);
  }
  BOOST_TEST(children("/q").empty());
}

BOOST_AUTO_TEST_CASE(lost_replies_on_the_way_to_the_end_make_no_second_item) {
  auto far = connect_far();
  auto from = over(far);
  for (auto op : {testcluster::op::create2, testcluster::op::get_data, testcluster::op::multi}) {
    for (bool executed : {true, false}) {
      put("1");
      const auto item = take(from);
      executed ? own().drop_reply(op) : own().drop_request(op);
      const auto error = give_back(from, item, return_to::end);
      // An error means that the number could not be drawn: nothing has happened, and the item is still ours.
      if (error) {
        BOOST_TEST(error == errc::connection_loss);
        BOOST_TEST(!give_back(from, item, return_to::end));
      }
      BOOST_TEST(size() == 1u);
      const auto again = take(from);
      BOOST_TEST(again.data == "1");
      BOOST_TEST(again.attempts == 2);
      expect_done(from, again);
      // If the taker had to wait in line, the folder of the line stays.
      const auto left = [&] {
        return std::ranges::count_if(children("/q"), [](const std::string& name) { return name != "_idle"; });
      };
      BOOST_TEST(run_until([&] { return left() == 0; }, 10s));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rejected_item_is_a_dead_letter_with_the_reason) {
  const std::string binary("\0\n{\xff", 4);
  put(binary);
  put("next");
  auto from = over(zk());
  auto item = take(from);
  auto taken_apart = item;
  taken_apart.data = "what the caller has made of it";
  BOOST_TEST(!reject(from, taken_apart, "no \"such\" \xe9 customer"));
  const auto next = take(from);
  BOOST_TEST(next.data == "next");
  expect_done(from, next);
  auto letters = dead_letters(from);
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST((letters[0].data == binary), "as it stood in the queue");
  BOOST_TEST(letters[0].item == item.name);
  BOOST_TEST(letters[0].reason == "no \"such\" \xe9 customer");
  BOOST_TEST(letters[0].attempts == 1);
  BOOST_TEST(letters[0].since >= item.stat.ctime);
  BOOST_TEST((reject(from, item, "again") == errc::superseded));
  BOOST_TEST(!std::get<0>(run(from.async_revive(letters[0], tuple))));
  BOOST_TEST((std::get<0>(run(from.async_revive(letters[0], tuple))) == errc::no_node));
  BOOST_TEST(dead_letters(from).empty());
  const auto revived = take(from);
  BOOST_TEST((revived.data == binary));
  BOOST_TEST(revived.attempts == 1);
  expect_done(from, revived);
}

BOOST_AUTO_TEST_CASE(who_kills_its_takers_is_not_handed_out_for_ever) {
  put("poison");
  put("next");
  auto careful = with({.max_attempts = 2});
  for (int i = 0; i < 2; ++i) {
    auto mortal = connect();
    BOOST_TEST(take(queue(mortal, "/q", {.max_attempts = 2})).data == "poison");
    cluster().expire(mortal.status().session_id);
    BOOST_TEST(run_until([&] { return claims() == 0; }));
  }
  const auto item = take(careful);
  BOOST_TEST(item.data == "next");
  auto letters = dead_letters(careful);
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters[0].data == "poison");
  BOOST_TEST(letters[0].attempts == 2);
  BOOST_TEST(letters[0].reason == "no taker acknowledged it in queue_options::max_attempts deliveries");
  expect_done(careful, item);
  discard_all();
}

BOOST_AUTO_TEST_CASE(nor_who_is_given_back_again_and_again) {
  put("1");
  auto from = with({.max_attempts = 3});
  const std::vector<return_to> ways{return_to::place, return_to::end, return_to::end};
  for (auto where : ways) BOOST_TEST(!give_back(from, take(from), where, "not today"));
  auto letters = dead_letters(from);
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  BOOST_TEST(letters[0].attempts == 3);
  BOOST_TEST(letters[0].reason == "not today");
  BOOST_TEST(size() == 0u);
  discard_all();
}

BOOST_AUTO_TEST_CASE(a_dead_letter_is_written_once_though_replies_are_lost) {
  auto far = connect_far();
  auto from = over(far);
  for (auto op : {testcluster::op::multi, testcluster::op::get_data}) {
    for (bool executed : {true, false}) {
      put("1");
      const auto item = take(from);
      executed ? own().drop_reply(op) : own().drop_request(op);
      BOOST_TEST(!reject(from, item, "no"));
      BOOST_TEST(dead_letters(over(zk())).size() == 1u);
      BOOST_TEST(size() == 0u);
      BOOST_TEST(claims() == 0u);
      discard_all();
    }
  }
}

BOOST_AUTO_TEST_CASE(what_can_not_be_handed_out_stays_and_keeps_nobody_waiting) {
  run(zk().async_ensure_path("/q", tuple));
  const acl unreadable{{perm_all & ~perm_read}};
  auto made = run(zk().async_create("/q/qn-", "secret", create_mode::persistent_sequential, unreadable, tuple));
  const auto locked = put("children below it");
  create("/q/" + locked + "/child");
  put("next");
  std::vector<std::string> told;
  auto from = with(
      {.max_attempts = 1, .on_unavailable_item = [&](error_code, const std::string& name) { told.push_back(name); }});
  const auto item = take(from);
  BOOST_TEST(item.data == "next");
  expect_done(from, item);
  const auto unread = std::get<1>(made).path.substr(3);
  const std::vector<std::string> expected{unread, locked};
  BOOST_TEST(told == expected, boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(size() == 2u, "nothing is lost");
  auto plain = over(zk());
  const auto odd = take(plain);
  BOOST_TEST(odd.data == "children below it", "it can be read");
  BOOST_TEST((acknowledge(plain, odd) == errc::not_empty));
  BOOST_TEST((reject(plain, odd, "no") == errc::not_empty), "nor can it die");
  remove("/q/" + locked + "/child");
  expect_done(plain, odd);
  recorder<message> next(executor());
  plain.async_next(next.token());
  settle(zk());
  BOOST_TEST(!next.done(), "who reads alone passes it over, too");
  next.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  remove(std::get<1>(made).path);
}

BOOST_AUTO_TEST_CASE(effects_happen_with_the_acknowledgement_or_not_at_all) {
  put("1");
  create("/done");
  auto mortal = connect();
  auto from = over(mortal);
  auto item = take(from);
  auto bad = transaction().create("/missing/r");
  BOOST_TEST((std::get<0>(run(from.async_acknowledge(item, bad, tuple))) == errc::no_node));
  BOOST_TEST(size() == 1u, "it is still ours");
  auto effect = transaction().create("/done/r-", "1", create_mode::persistent_sequential);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  auto other = over(connect());
  const auto theirs = take(other);
  BOOST_TEST((std::get<0>(run(from.async_acknowledge(item, effect, tuple))) == errc::superseded));
  BOOST_TEST(children("/done").empty(), "who comes too late does nothing");
  BOOST_TEST(!std::get<0>(run(other.async_acknowledge(theirs, effect, tuple))));
  BOOST_TEST(children("/done").size() == 1u);
  for (const auto& each : children("/done")) remove("/done/" + each);
  remove("/done");
}

BOOST_AUTO_TEST_CASE(of_two_objects_of_one_session_only_one_has_an_item_though_the_reply_is_lost) {
  put("1");
  put("2");
  auto far = connect_far();
  auto a = over(far);
  auto b = over(far);
  // Both objects have the list. Then `b` loses the reply to its claim of the item that `a` has.
  recorder<message> of_a(executor());
  recorder<message> of_b(executor());
  own().drop_reply(testcluster::op::multi, 2);
  a.async_take(of_a.token());
  b.async_take(of_b.token());
  BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(of_a.result<0>().data != of_b.result<0>().data);
  expect_done(a, of_a.result<0>());
  expect_done(b, of_b.result<0>());
}

BOOST_AUTO_TEST_SUITE_END()

// The leader works off a queue: each message has its effect once and in order, even if leaders die.

namespace {

/// Writes each processed message as a sequential node, so that a stale leader's writes would spoil the order.
class worker final : public queue_consumer {
 public:
  worker(queue from, hold_point* hold) : queue_consumer(std::move(from)), hold_(hold) {}

  career_traits traits() const override { return {.hand_over_deadline = 20s}; }

  asio::awaitable<message_outcome> process(term present, const message& item) override {
    epoch = present.epoch();
    if (hold_) co_await hold_->pass();
    co_return transaction().create("/results/r-", item.data, create_mode::persistent_sequential);
  }

  std::int64_t epoch = 0;

 private:
  hold_point* hold_;
};

struct replica_of_worker {
  replica_of_worker(session over, std::string id, hold_point* hold = nullptr)
      : zk(std::move(over)),
        does(queue(zk, "/q"), hold),
        coordinator(zk, "/e", {.id = std::move(id)}),
        ended(zk.get_executor()) {
    coordinator.async_run(does, ended.token());
  }

  session zk;
  worker does;
  consumer_coordinator coordinator;
  recorder<> ended;
};

class workers : public queue_case {
 public:
  workers() {
    create("/e");
    create("/results");
  }
  void teardown() {
    end_runs(all);
    for (const auto& each : children("/results")) run(zk().async_remove("/results/" + each, any_version, tuple));
    remove("/results");
    remove("/e");
    queue_case::teardown();
  }

  replica_of_worker& add(session over, hold_point* hold = nullptr) {
    return all.emplace_back(std::move(over), "w" + std::to_string(all.size()), hold);
  }
  std::size_t processed() { return children("/results").size(); }
  /// The session id of the first in line; 0 if nobody is.
  std::int64_t leading_session() {
    auto seen = run(election(zk(), "/e", {.id = "observer"}).async_view(tuple));
    const auto& candidates = std::get<1>(seen).candidates;
    return std::get<0>(seen) || candidates.empty() ? 0 : candidates[0].session_id;
  }

  bool leads(const replica_of_worker& who) {
    const auto leader = leading_session();
    return leader != 0 && leader == who.zk.status().session_id;
  }

  std::deque<replica_of_worker> all;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(queue_worker, workers)

BOOST_AUTO_TEST_CASE(every_message_has_its_effect_once_and_in_order_though_leaders_expire) {
  for (int i = 0; i < 3; ++i) add(connect());
  {
    auto source = make_producer(zk(), "p");
    std::size_t put = 0;
    for (const auto& each : numbers(1, 200)) {
      source.async_put(each, [&](error_code error, std::uint64_t) { put += error ? 0 : 1; });
    }
    for (std::size_t milestone = 40; milestone < 200; milestone += 40) {
      BOOST_TEST_REQUIRE(run_until([&] { return processed() >= milestone; }));
      BOOST_TEST_REQUIRE(run_until([&] { return leading_session() != 0; }));
      cluster().expire(leading_session());
    }
    BOOST_TEST_REQUIRE(run_until([&] { return put == 200 && processed() >= 200; }));
  }
  BOOST_TEST(size() == 0u);
  BOOST_TEST(results() == numbers(1, 200), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(nor_does_it_matter_that_replies_are_lost) {
  for (const auto& each : numbers(1, 40)) put(each);
  // These transactions include those of the term's record.
  for (int k = 1; k <= 8; ++k) own().drop_reply(testcluster::op::multi, 4 * k);
  add(connect(far_options()));
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 40; }));
  BOOST_TEST(own().drops() == 8u);
  BOOST_TEST(size() == 0u);
  BOOST_TEST(results() == numbers(1, 40), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_message_in_hand_of_an_expired_leader_is_committed_once) {
  hold_point hold(executor());
  auto& first = add(connect(), &hold);
  put("1");
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto& second = add(connect());
  cluster().expire(first.zk.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return leads(second); }));
  BOOST_TEST(processed() == 0u);
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 2; }));
  BOOST_TEST(results() == numbers(1, 2), boost::test_tools::per_element());
  BOOST_TEST(first.does.epoch == 1);
  BOOST_TEST(second.does.epoch == 2);
}

BOOST_AUTO_TEST_CASE(a_message_that_somebody_deletes_is_passed_over) {
  hold_point hold(executor());
  auto& first = add(connect(), &hold);
  put("1");
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return hold.is_reached(); }));
  auto items = children("/q");
  std::erase_if(items, [](const std::string& name) { return !name.starts_with("qn-"); });
  std::sort(items.begin(), items.end());
  BOOST_TEST_REQUIRE(items.size() == 2u);
  remove("/q/" + items[0]);
  hold.open();
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 1 || first.ended.done(); }));
  BOOST_TEST(!first.ended.done());
  BOOST_TEST(results() == numbers(2, 2), boost::test_tools::per_element());
  BOOST_TEST(first.does.epoch == 1);
}

BOOST_AUTO_TEST_CASE(a_leader_with_an_empty_queue_resigns_at_once) {
  auto& first = add(connect());
  put("1");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() == 1; }));
  auto& second = add(connect());
  BOOST_TEST_REQUIRE(run_until([&] { return children("/e").size() == 2; }));
  first.coordinator.resign();
  BOOST_TEST_REQUIRE(run_until([&] { return leading_session() == second.zk.status().session_id; }));
  put("2");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() == 2; }));
  BOOST_TEST(second.does.epoch == 2);
}

BOOST_AUTO_TEST_CASE(closing_the_session_of_a_busy_leader_is_no_failure) {
  for (const auto& each : numbers(1, 50)) put(each);
  replica_of_worker leader(connect(), "closing");
  BOOST_TEST_REQUIRE(run_until([&] { return processed() >= 5; }));
  run(leader.zk.async_close(tuple));
  BOOST_TEST_REQUIRE(run_until([&] { return leader.ended.done(); }));
  BOOST_TEST(leader.ended.error() == errc::closed);
  BOOST_TEST((leader.coordinator.failure() == nullptr));
  const auto worked_off = processed();
  BOOST_TEST(results() == numbers(1, static_cast<int>(worked_off)), boost::test_tools::per_element());
  BOOST_TEST(size() == 50 - worked_off);
  drain();
}

BOOST_AUTO_TEST_SUITE_END()
