// Several takers share a queue: each item is with one of them, and comes back if that one fails.
#include "ensemble/queue_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_claims, queue_case)

BOOST_AUTO_TEST_CASE(two_takers_share_without_duplicates) {
  for (const auto& each : numbers(100, 139)) put(each);
  auto a = over(connect());
  auto b = over(connect());
  std::vector<std::string> seen;
  recorder<message> of_a(executor());
  recorder<message> of_b(executor());
  while (seen.size() < 40) {
    of_a = recorder<message>(executor());
    of_b = recorder<message>(executor());
    a.async_take(of_a.token());
    b.async_take(of_b.token());
    BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
    for (auto* each : {&of_a, &of_b}) seen.push_back(each->result<0>().data);
    expect_done(a, of_a.result<0>());
    expect_done(b, of_b.result<0>());
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(100, 139), boost::test_tools::per_element());
  BOOST_TEST(size() == 0u);
}

BOOST_AUTO_TEST_CASE(one_object_can_take_several_at_a_time) {
  for (const auto& each : numbers(10, 29)) put(each);
  auto from = over(zk());
  std::vector<recorder<message>> taken(20, recorder<message>(executor()));
  for (auto& each : taken) {
    each = recorder<message>(executor());
    from.async_take(each.token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(taken.begin(), taken.end(), [](auto& t) { return t.done(); }); }));
  std::vector<std::string> seen;
  for (auto& each : taken) {
    seen.push_back(each.result<0>().data);
    expect_done(from, each.result<0>());
  }
  std::sort(seen.begin(), seen.end());
  BOOST_TEST(seen == numbers(10, 29), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(looking_and_taking_at_once_mixes_nothing_up) {
  std::vector<std::string> names;
  for (const auto& each : numbers(10, 19)) names.push_back(put(each));
  auto from = over(zk());
  std::vector<recorder<message>> looks(10, recorder<message>(executor()));
  std::vector<recorder<message>> takes(10, recorder<message>(executor()));
  for (std::size_t i = 0; i < looks.size(); ++i) {
    looks[i] = recorder<message>(executor());
    takes[i] = recorder<message>(executor());
    from.async_next(looks[i].token());
    from.async_take(takes[i].token());
  }
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(takes.begin(), takes.end(), [](auto& t) { return t.done(); }); }));
  BOOST_TEST_REQUIRE(
      run_until([&] { return std::all_of(looks.begin(), looks.end(), [](auto& t) { return t.done(); }); }));
  for (auto* all : {&looks, &takes}) {
    for (auto& each : *all) {
      const auto place = std::find(names.begin(), names.end(), each.result<0>().name) - names.begin();
      BOOST_TEST(each.result<0>().data == std::to_string(10 + place), "name and data are of one item");
    }
  }
  for (auto& each : takes) expect_done(from, each.result<0>());
}

BOOST_AUTO_TEST_CASE(an_item_that_is_returned_is_taken_at_its_place) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto from = over(zk());
  const auto first = take(from);
  const auto second = take(from);
  const auto returned = give_back(from, first);
  BOOST_TEST(!returned, returned.message());
  const auto again = take(from);
  BOOST_TEST(again.data == "1");
  expect_done(from, again);
  expect_done(from, second);
  BOOST_TEST((acknowledge(from, second) == errc::superseded), "done is done");
  BOOST_TEST((give_back(from, second) == errc::superseded));
  drain();
}

BOOST_AUTO_TEST_CASE(an_item_of_a_session_that_ends_comes_back) {
  put("1");
  auto mortal = connect();
  auto a = over(mortal);
  auto b = over(connect());
  const auto item = take(a);
  auto waiting = b.async_take(recorded());
  settle(zk());
  BOOST_TEST(!waiting.done());
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.result<0>().name == item.name);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  BOOST_TEST((acknowledge(a, item) == errc::superseded));
  BOOST_TEST(claims() == 1u);
  expect_done(b, waiting.result<0>());
}

BOOST_AUTO_TEST_CASE(returning_too_late_takes_nothing_from_anybody) {
  put("1");
  auto mortal = connect();
  auto a = over(mortal);
  auto b = over(connect());
  const auto item = take(a);
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return mortal.status().incarnation == 2; }));
  const auto theirs = take(b);
  BOOST_TEST((give_back(a, item) == errc::superseded));
  settle(mortal);
  BOOST_TEST(claims() == 1u);
  expect_done(b, theirs);
}

BOOST_AUTO_TEST_CASE(a_take_that_is_cancelled_leaves_no_claim) {
  auto from = over(zk());
  for (auto type :
       {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
    auto waiting = from.async_take(recorded());
    settle(zk());
    waiting.cancel(type);
    BOOST_TEST_REQUIRE(ends_with(waiting, asio::error::operation_aborted));
  }
  put("1");
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_CASE(so_does_one_whose_claim_is_on_its_way) {
  put("1");
  auto far = connect_far();
  auto from = over(far);
  settle(far);
  own().freeze(true);
  auto taking = from.async_take(recorded());
  own().freeze(false);
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  BOOST_TEST(!give_back(from, taking.result<0>()));
  const auto before = far.counters().requests;
  taking = recorder<message>(executor());
  from.async_take(taking.token());
  BOOST_TEST_REQUIRE(run_until([&] { return far.counters().requests >= before + 2; }), "the list, and the claim");
  taking.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return taking.done(); }));
  if (!taking.error()) BOOST_TEST(!give_back(from, taking.result<0>()));
  settle(far);
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_CASE(and_one_that_is_still_settling_a_lost_reply) {
  put("1");
  auto far = connect_far();
  auto from = over(far);
  own().drop_reply(testcluster::op::multi);
  own().refuse(true);
  auto taking = from.async_take(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(run_until([&] { return claims() == 1; }), "seen also on the server that we ask");
  BOOST_TEST(!taking.done());
  taking.cancel();
  BOOST_TEST_REQUIRE(ends_with(taking, asio::error::operation_aborted));
  reconnect();
  BOOST_TEST(run_until([&] { return claims() == 0; }, 10s));
  BOOST_TEST(drain() == numbers(1, 1));
}

BOOST_AUTO_TEST_CASE(lost_replies_change_nothing) {
  // The first transaction is the claim, and the second one is the acknowledgement.
  using lossy_step = std::pair<std::int32_t, int>;
  const std::vector<lossy_step> lossy{{testcluster::op::get_children2, 1},
                                      {testcluster::op::multi, 1},
                                      {testcluster::op::get_data, 1},
                                      {testcluster::op::multi, 2}};
  auto far = connect_far();
  std::size_t drops = 0;
  for (auto [op, k] : lossy) {
    for (bool executed : {true, false}) {
      put("1");
      put("2");
      auto from = over(far);
      executed ? own().drop_reply(op, k) : own().drop_request(op, k);
      const auto first = take(from);
      BOOST_TEST(first.data == "1", "in order; operation " << op);
      expect_done(from, first);
      const auto second = take(from);
      BOOST_TEST(second.data == "2");
      expect_done(from, second);
      BOOST_TEST(size() == 0u);
      BOOST_TEST(claims() == 0u);
      BOOST_TEST(own().drops() == ++drops);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_taker_whose_session_ends_while_it_takes_goes_on_in_the_next) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto far = connect_far();
  auto from = over(far);
  const auto first = take(from);
  own().drop_request(testcluster::op::multi);
  own().refuse(true);
  auto next = from.async_take(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  cluster().expire(far.status().session_id);
  reconnect();
  BOOST_TEST_REQUIRE(succeeds(next));
  BOOST_TEST(far.status().incarnation == 2u);
  BOOST_TEST(next.result<0>().data == "1", "the claim on it is gone with the session");
  expect_done(from, next.result<0>());
  drain();
}

BOOST_AUTO_TEST_CASE(a_queue_that_is_wiped_out_begins_anew) {
  for (const auto& each : numbers(1, 3)) put(each);
  auto from = over(connect());
  const auto first = take(from);
  for (const auto& each : children("/q")) remove("/q/" + each);
  remove("/q");
  auto next = from.async_take(recorded());
  BOOST_TEST(run_until([&] { return exists("/q"); }, 10s));
  BOOST_TEST(!next.done());
  put("4");
  BOOST_TEST_REQUIRE(run_until([&] { return next.done(); }));
  BOOST_TEST(next.result<0>().data == "4");
  expect_done(from, next.result<0>());
}

BOOST_AUTO_TEST_SUITE_END()

// Items that were handed out: attempts that are counted, returns, dead letters, acknowledgements with effects.
namespace {

class deliveries : public queue_case {
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

BOOST_FIXTURE_TEST_SUITE(queue_deliveries, deliveries)

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
  BOOST_TEST(letters[0].reason == "handed out too often");
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
  auto next = plain.async_next(recorded());
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
  own().drop_reply(testcluster::op::multi, 2);
  auto of_a = a.async_take(recorded());
  auto of_b = b.async_take(recorded());
  BOOST_TEST_REQUIRE(run_until([&] { return of_a.done() && of_b.done(); }));
  BOOST_TEST(own().drops() == 1u);
  BOOST_TEST(of_a.result<0>().data != of_b.result<0>().data);
  expect_done(a, of_a.result<0>());
  expect_done(b, of_b.result<0>());
}

BOOST_AUTO_TEST_SUITE_END()
