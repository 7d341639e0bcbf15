// Items that were handed out: attempts that are counted, returns, dead letters, acknowledgements with effects.
#include "ensemble/queue_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
