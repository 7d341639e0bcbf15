// Puts to a queue with a limit: the tickets, and the looks at the gate and the items.
// Puts to a queue with a limit: lost replies, a gate that is missing, and numbers that are used up.
#include <algorithm>
#include <chrono>
#include <deque>

#include <zkrecipes/queue.hpp>

#include "unit/gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(queue_gates, gate_case)

BOOST_AUTO_TEST_CASE(the_puts_of_one_object_take_turns) {
  queue limited(zk, "/q", {.limit = 3});
  std::deque<recorder<std::string>> all;
  for (int i = 0; i < 3; ++i) all.push_back(put(limited));
  all[1].cancel();
  settle();
  BOOST_TEST_REQUIRE(all[1].done());
  admit_first();
  CHECK_PENDING("multi /");
  const auto first = answer_made(2, {1});  // the next put is waiting, so this transaction also draws its ticket
  BOOST_TEST_REQUIRE(first.operations.size() == 3u);
  BOOST_TEST(first.operations[0].path == item);
  BOOST_TEST(first.operations[1].path == ticket(0));
  BOOST_TEST(all[0].done());
  BOOST_TEST(!all[2].done());
  CHECK_PENDING("multi /");
  const auto second = answer_made(2, {});
  BOOST_TEST(paths_of(second) == (strings{item, ticket(1)}), boost::test_tools::per_element());
  BOOST_TEST(all[2].done());
  CHECK_PENDING();
}

BOOST_AUTO_TEST_CASE(one_look_serves_as_many_puts_as_there_was_room_for) {
  queue limited(zk, "/q", {.limit = 1000});
  auto first = put(limited);
  admit_first();
  answer_made(2, {});
  auto second = put(limited);
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  answer_made(0, {1});
  answer_stat(1, 2);
  answer_stat(2);
  answer_made(2, {2});
  BOOST_TEST(second.done());
  for (int i = 3; i < 900; ++i) {
    auto next = put(limited);
    CHECK_PENDING("multi /");
    backend::reply made;
    made.results.resize(2);
    made.results.push_back({{}, "/q/_gate/_c_guid-t-" + std::to_string(1'000'000'000 + i).replace(0, 1, "0"), {}});
    const auto sent = answer(made);
    BOOST_TEST_REQUIRE(sent.operations.size() == 3u);
    BOOST_TEST_REQUIRE(next.done());
  }
}

// The session ends while a put, after an earlier refusal, looks whether there is room now. The ticket is drawn, and
// given back, in the next session.
BOOST_AUTO_TEST_CASE(tickets_are_given_back_in_the_session_that_they_were_drawn_in) {
  queue limited(zk, "/q", {.limit = 3});
  const strings all{"qn-0000000001", "qn-0000000002", "qn-0000000003", "_gate"};
  const auto is_full = [&](int number) {
    answer_made(0, {number});
    answer_stat(1, number + 1);
    answer_stat(4);
    list_tickets({number}, number + 1);
    list(all);
    CHECK_PENDING("multi /");
  };
  auto first = put(limited);
  is_full(0);
  answer();
  auto second = put(limited);
  CHECK_PENDING("exists /q/_gate", "exists /q");
  expire();
  for (int i = 0; i < 5 && !pending().empty() && pending().front() == "exists /q/_gate"; ++i) {
    answer_stat(0, 1);
    answer_stat(1);
  }
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  is_full(1);
  BOOST_TEST(paths_of(answer()) == (strings{ticket(1)}), boost::test_tools::per_element());
  BOOST_TEST((second.error() == errc::full), second.error().message());
}

// The gate was removed and made again, so its numbers begin at 0. Stats of the old gate must not admit the new ticket.
BOOST_AUTO_TEST_CASE(a_gate_that_was_made_again_is_looked_at_again) {
  queue limited(zk, "/q", {.limit = 3});
  auto full = put(limited);
  reconnect();
  while (!pending().empty() && pending().front() != "exists /q/_gate") answer();
  CHECK_PENDING("exists /q/_gate", "exists /q");
  answer_stat(0, 1000);
  answer_stat(1);
  while (!pending().empty() && pending().front() != "multi /") answer();
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  answer_made(0, {0});
  answer_stat(1, 1);
  answer_stat(4);
  BOOST_TEST(!pending().empty());
  list_tickets({0}, 1);
  list({"qn-0000000001", "qn-0000000002", "qn-0000000003", "_gate"});
  BOOST_TEST_REQUIRE(ended_with(full, errc::full));
}

BOOST_AUTO_TEST_CASE(a_ticket_in_hand_is_given_back_when_nothing_is_put_any_more) {
  queue limited(zk, "/q", {.limit = 1000});
  auto first = put(limited);
  auto second = put(limited);
  admit_first();
  answer_made(2, {1});
  answer_made(2, {2});
  BOOST_TEST_REQUIRE(second.done());
  CHECK_PENDING();
  advance(2s);
  while (!pending().empty() && pending().front() != "multi /") answer();
  CHECK_PENDING("multi /");
  const auto back = answer();
  BOOST_TEST(paths_of(back) == (strings{ticket(2)}), boost::test_tools::per_element());
}

// Limit 10, 8 items, 3 tickets out, ours the last of them: the two free places belong to the other two tickets.
BOOST_AUTO_TEST_CASE(room_that_others_have_tickets_for_is_not_given_twice) {
  queue limited(zk, "/q", {.limit = 10});
  auto refused = put(limited);
  answer_made(0, {2});
  answer_stat(3, 3);
  answer_stat(9);
  CHECK_PENDING("children /q/_gate", "children /q");
  list_tickets({0, 1, 2}, 3);
  std::vector<std::string> names{"_gate"};
  for (int i = 0; i < 8; ++i) names.push_back("qn-000000000" + std::to_string(i));
  list(names);
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
  CHECK_PENDING("multi /");
  const auto back = answer();
  BOOST_TEST(paths_of(back) == (strings{ticket(2)}), boost::test_tools::per_element());
  auto again = put(limited);
  CHECK_PENDING("exists /q/_gate", "exists /q");  // nothing is written before there is room
}

// Limit 10, 9 items, two tickets out. Others were given back, so the number of tickets does not tell whether ours is
// the first.
BOOST_AUTO_TEST_CASE(the_last_place_is_given_to_the_first_ticket) {
  for (const bool is_first : {true, false}) {
    queue limited(zk, "/q", {.limit = 10});
    auto asked = put(limited);
    answer_made(0, {5});
    answer_stat(2, 7);
    answer_stat(10);
    CHECK_PENDING("children /q/_gate", "children /q");
    is_first ? list_tickets({8, 5}, 9) : list_tickets({5, 3}, 9);
    std::vector<std::string> names{"_gate"};
    for (int i = 0; i < 9; ++i) names.push_back("qn-000000000" + std::to_string(i));
    list(names);
    CHECK_PENDING("multi /");
    BOOST_TEST(asked.done() == !is_first);
    const auto sent = answer_made(2, {});
    BOOST_TEST(sent.operations.size() == (is_first ? 2u : 1u), "it is put, or the ticket is given back");
    BOOST_TEST_REQUIRE(asked.done());
    BOOST_TEST((asked.error() == (is_first ? error_code() : make_error_code(errc::full))));
  }
}

// Limit 10, 10 items. Our ticket is the only one out, and a ticket with a higher number was given back.
BOOST_AUTO_TEST_CASE(a_ticket_that_was_given_back_makes_no_room) {
  queue limited(zk, "/q", {.limit = 10});
  auto refused = put(limited);
  answer_made(0, {84});
  answer_stat(1, 86);
  answer_stat(11);
  list_tickets({84}, 86);
  std::vector<std::string> names{"_gate"};
  for (int i = 10; i < 20; ++i) names.push_back("qn-00000000" + std::to_string(i));
  list(names);
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
}

BOOST_AUTO_TEST_CASE(claims_are_no_items) {
  queue limited(zk, "/q", {.limit = 2});
  auto fine = put(limited);
  answer_made(0, {0});
  answer_stat(1, 1);
  answer_stat(4);
  list_tickets({0}, 1);
  list({"_gate", "_idle", "qn-0000000001", "_claim-qn-0000000001"});
  CHECK_PENDING("multi /");
  answer_made(2, {});
  BOOST_TEST_REQUIRE(succeeded(fine));
}

BOOST_AUTO_TEST_CASE(a_long_queue_is_not_listed) {
  queue limited(zk, "/q", {.limit = 20'000, .max_list_bytes = 0});
  auto refused = put(limited);
  answer_made(0, {0});
  answer_stat(1, 1);
  answer_stat(20'002);
  CHECK_PENDING("children /q/_gate", "exists /q/_idle", "exists /q/_dead", "exists /q/_clock", "exists /q");
  list_tickets({0}, 1);
  answer();
  fail(errc::no_node);
  fail(errc::no_node);
  answer_stat(20'002);  // the gate, the folder of waiting takers, and as many items as the limit allows
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
}

BOOST_AUTO_TEST_CASE(a_put_whose_reply_was_lost_is_sent_again_where_its_ticket_is_still_there) {
  queue limited(zk, "/q", {.limit = 100});
  auto done = put(limited);
  admit_first();
  reconnect();
  CHECK_PENDING("exists " + ticket(0));
  answer();
  CHECK_PENDING("multi /");
  const auto again = paths_of(answer_made(2, {1}));
  BOOST_TEST_REQUIRE(again.size() == 3u, "as the next put is expected soon it draws a ticket, too");
  BOOST_TEST(again[0] == item);
  BOOST_TEST(again[1] == ticket(0));
  BOOST_TEST_REQUIRE(succeeded(done));
}

BOOST_AUTO_TEST_CASE(a_put_whose_reply_was_lost_is_not_sent_again_where_its_ticket_has_gone) {
  queue limited(zk, "/q", {.limit = 100});
  auto done = put(limited);
  admit_first();
  reconnect();
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(ended_with(done, errc::outcome_unknown));
}

BOOST_AUTO_TEST_CASE(nor_is_the_ticket_left_there_that_it_may_have_drawn_for_the_next) {
  queue limited(zk, "/q", {.limit = 100});
  auto first = put(limited);
  auto second = put(limited);
  admit_first();
  CHECK_PENDING("multi /");
  const auto& sent = last().pending.front().first.operations;
  BOOST_TEST_REQUIRE(sent.size() == 3u);
  const auto drawn = sent[2].path;
  reconnect();
  CHECK_PENDING("exists " + ticket(0));
  fail(errc::no_node);
  BOOST_TEST((first.error() == errc::outcome_unknown));
  BOOST_TEST(is_removed(drawn));
}

BOOST_AUTO_TEST_CASE(a_draw_whose_reply_was_lost_leaves_no_ticket) {
  queue limited(zk, "/q", {.limit = 100});
  auto done = put(limited);
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  const auto drawn = last().pending.front().first.operations.at(0).path;
  reconnect();
  BOOST_TEST(std::ranges::count(pending(), "exists /q/_gate") >= 1);
  BOOST_TEST(is_removed(drawn));
}

// Limit 10, 9 items. The ticket of the lost reply still exists, but nothing will be put with it, so it takes no room.
BOOST_AUTO_TEST_CASE(nor_does_it_take_room_until_it_has_gone) {
  queue limited(zk, "/q", {.limit = 10});
  auto done = put(limited);
  const auto lost =
      last().pending.front().first.operations.at(0).path.substr(std::string("/q/_gate/").size()) + "0000000000";
  reconnect();
  std::vector<std::string> names{"_gate"};
  for (int i = 0; i < 9; ++i) names.push_back("qn-000000000" + std::to_string(i));
  bool is_put = false;
  for (int i = 0; i < 20 && !pending().empty() && !is_put; ++i) {
    const auto asked = pending().front();
    if (asked == "multi /") {
      is_put = last().pending.front().first.operations[0].path == item;
      if (!is_put) answer_made(0, {1});
    } else if (asked == "children /q/_gate") {
      answer_with({.stat = {.cversion = 2, .num_children = 2}, .children = {lost, "_c_guid-t-0000000001"}});
    } else if (asked == "children /q") {
      list(names);
    } else if (asked.starts_with("remove ")) {
      fail(errc::server_error);
    } else {
      answer_stat(asked == "exists /q" ? 10 : 2, 2);
    }
  }
  BOOST_TEST(is_put);
  BOOST_TEST(!done.done());
}

// Limit 10, 9 items: there is room for one item of a batch of three, so the whole batch is refused with `full`.
BOOST_AUTO_TEST_CASE(a_batch_that_does_not_fit_is_not_put_in_part) {
  queue limited(zk, "/q", {.limit = 10});
  auto refused = limited.async_put_many({"a", "b", "c"}, begun());
  answer_made(0, {0, 1, 2});
  answer_stat(3, 3);
  answer_stat(10);
  list_tickets({0, 1, 2}, 3);
  std::vector<std::string> names;
  for (int i = 0; i < 9; ++i) names.push_back("qn-000000000" + std::to_string(i));
  list(names);
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
  const auto back = answer();
  BOOST_TEST(back.operations.size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_gate_that_is_missing_is_made) {
  queue limited(zk, "/q", {.limit = 10});
  auto done = put(limited);
  backend::reply refused;
  refused.error = errc::no_node;
  refused.results.assign(1, {errc::no_node, {}, {}});
  answer(refused);
  fail(errc::no_node);
  fail(errc::no_node);
  make_gate_and_put();
  BOOST_TEST(done.done());
}

BOOST_AUTO_TEST_CASE(an_object_that_puts_once_sees_how_long_the_list_is) {
  queue once(zk, "/q", {.max_list_bytes = 170});
  auto refused = put(once);
  CHECK_PENDING("exists /q");
  answer_stat(10);
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
}

BOOST_AUTO_TEST_CASE(numbers_that_run_out_are_told_and_refused) {
  std::vector<std::string> told;
  queue old(zk, "/q", {.max_list_bytes = 0, .on_unavailable_item = [&](error_code why, const std::string& name) {
                         told.push_back(name + ' ' + why.message());
                       }});
  const auto made = [this](const std::string& number) { answer_with({.path = item + number}); };
  auto early = put(old);
  made("1900000000");
  BOOST_TEST(told.empty());
  for (const auto* number : {"1940000000", "1940000001"}) {
    auto late = put(old);
    made(number);
    BOOST_TEST(!late.error());
    BOOST_TEST(told.size() == 1u);
  }
  auto last = put(old);
  made("2147000000");
  BOOST_TEST(!last.error());
  auto refused = put(old);
  CHECK_PENDING("exists /q");
  answer_stat(7, 2'147'000'001);
  BOOST_TEST_REQUIRE(ended_with(refused, errc::sequence_exhausted));
  auto anew = put(old);
  answer_stat(0);  // somebody has made the queue anew
  CHECK_PENDING("create /q/qn-");
}

BOOST_AUTO_TEST_CASE(a_gate_whose_numbers_are_used_up_is_made_anew_once_nobody_has_a_ticket_there) {
  queue limited(zk, "/q", {.limit = 10});
  auto one = put(limited);
  const auto draw_last = [&] {
    CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
    backend::reply made;
    made.results.push_back({{}, "/q/_gate/_c_guid-t-2147000000", {}});
    answer(made);
    answer_stat(1, 2'147'000'001);
    answer_stat(1);
  };
  draw_last();
  CHECK_PENDING("multi /");
  const auto removal = answer_with({.error = errc::not_empty});
  BOOST_TEST(paths_of(removal) == (strings{"/q/_gate/_c_guid-t-2147000000", "/q/_gate"}),
             boost::test_tools::per_element());
  CHECK_PENDING("multi /");
  const auto back = answer();
  BOOST_TEST(paths_of(back) == (strings{"/q/_gate/_c_guid-t-2147000000"}), boost::test_tools::per_element());
  advance(100ms);
  draw_last();
  CHECK_PENDING("multi /");
  answer();
  CHECK_PENDING("multi /", "exists /q/_gate", "exists /q");
  fail(errc::no_node);
  answer_stat(0);
  answer_stat(0);
  make_gate_and_put();
  BOOST_TEST_REQUIRE(succeeded(one));
}

BOOST_AUTO_TEST_CASE(a_dead_letter_comes_back_only_where_there_is_room) {
  queue limited(zk, "/q", {.limit = 1});
  const dead_letter letter{.name = "letter-0000000001", .item = "qn-0000000001", .data = "data", .reason = {}};
  auto revived = limited.async_revive(letter, begun());
  admit_first();
  CHECK_PENDING("multi /");
  const auto sent = answer_made(3, {});
  BOOST_TEST(paths_of(sent) == (strings{"/q/_dead/letter-0000000001", item, ticket(0)}),
             boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(succeeded(revived));
  auto refused = limited.async_revive(letter, begun());
  answer_made(0, {1});
  answer_stat(1, 2);
  answer_stat(2);
  list_tickets({1}, 2);
  list({"_gate", "qn-0000000002"});
  BOOST_TEST_REQUIRE(ended_with(refused, errc::full));
}

BOOST_AUTO_TEST_SUITE_END()
