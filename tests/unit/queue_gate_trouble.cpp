// Puts to a queue with a limit: lost replies, a gate that is missing, and numbers that are used up.
#include <algorithm>
#include <chrono>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/queue.hpp>

#include "unit/gate_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

BOOST_FIXTURE_TEST_SUITE(queue_gates, gate_case)

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
  BOOST_TEST_REQUIRE(done.done());
  BOOST_TEST(!done.error());
}

BOOST_AUTO_TEST_CASE(a_put_whose_reply_was_lost_is_not_sent_again_where_its_ticket_has_gone) {
  queue limited(zk, "/q", {.limit = 100});
  auto done = put(limited);
  admit_first();
  reconnect();
  fail(errc::no_node);
  BOOST_TEST_REQUIRE(done.done());
  BOOST_TEST((done.error() == errc::outcome_unknown));
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
      backend::reply seen;
      seen.children = {lost, "_c_guid-t-0000000001"};
      seen.stat.num_children = seen.stat.cversion = 2;
      answer(seen);
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
  auto refused = record<std::vector<std::string>>();
  limited.async_put_many({"a", "b", "c"}, refused.token());
  settle();
  answer_made(0, {0, 1, 2});
  answer_stat(3, 3);
  answer_stat(10);
  list_tickets({0, 1, 2}, 3);
  std::vector<std::string> names;
  for (int i = 0; i < 9; ++i) names.push_back("qn-000000000" + std::to_string(i));
  list(names);
  BOOST_TEST_REQUIRE(refused.done());
  BOOST_TEST((refused.error() == errc::full));
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
  BOOST_TEST_REQUIRE(refused.done());
  BOOST_TEST((refused.error() == errc::full));
}

BOOST_AUTO_TEST_CASE(numbers_that_run_out_are_told_and_refused) {
  std::vector<std::string> told;
  queue old(zk, "/q", {.max_list_bytes = 0, .on_unavailable_item = [&](error_code why, const std::string& name) {
                         told.push_back(name + ' ' + why.message());
                       }});
  const auto made = [this](const std::string& number) {
    backend::reply created;
    created.path = item + number;
    answer(created);
  };
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
  BOOST_TEST_REQUIRE(refused.done());
  BOOST_TEST((refused.error() == errc::sequence_exhausted));
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
  backend::reply refused;
  refused.error = errc::not_empty;
  const auto removal = answer(refused);
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
  BOOST_TEST_REQUIRE(one.done());
  BOOST_TEST(!one.error(), one.error().message());
}

BOOST_AUTO_TEST_CASE(a_dead_letter_comes_back_only_where_there_is_room) {
  queue limited(zk, "/q", {.limit = 1});
  const dead_letter letter{.name = "letter-0000000001", .item = "qn-0000000001", .data = "data", .reason = {}};
  auto revived = record<>();
  limited.async_revive(letter, revived.token());
  settle();
  admit_first();
  CHECK_PENDING("multi /");
  const auto sent = answer_made(3, {});
  BOOST_TEST(paths_of(sent) == (strings{"/q/_dead/letter-0000000001", item, ticket(0)}),
             boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(revived.done());
  BOOST_TEST(!revived.error());
  auto refused = record<>();
  limited.async_revive(letter, refused.token());
  settle();
  answer_made(0, {1});
  answer_stat(1, 2);
  answer_stat(2);
  list_tickets({1}, 2);
  list({"_gate", "qn-0000000002"});
  BOOST_TEST_REQUIRE(refused.done());
  BOOST_TEST((refused.error() == errc::full));
}

BOOST_AUTO_TEST_SUITE_END()
