// Several takers wait for an item through one object. A taker that gives up leaves the items in view to the others.
#include <algorithm>

#include <zkrecipes/priority_queue.hpp>
#include <zkrecipes/queue.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct waiting_takers : fake_session {
  waiting_takers() : line(zk, "/q") { connect(); }

  recorder<message> pop() { return line.async_pop(begun()); }
  /// Answers requests, until the item is asked for or nothing is pending.
  void serve(const strings& items) {
    for (auto asked = next_request(); !asked.empty() && asked != "get /q/" + one; asked = next_request()) {
      if (asked == "children /q") {
        list(items);
      } else if (asked == "children /q/_idle") {
        list({idle_node});
      } else if (asked.starts_with("create ")) {
        get_in_line();
      } else {
        answer();
      }
    }
  }
  std::string next_request() { return last().pending.empty() ? "" : pending().front(); }
  void get_in_line() {
    backend::reply made;
    made.path = last().pending.front().first.path + "0000000001";
    made.stat.ephemeral_owner = 0x77;
    idle_node = made.path.substr(std::string("/q/_idle/").size());
    answer(made);
  }

  const std::string one = "qn-0000000001";
  std::string idle_node;
  bool ensured = false;
  queue line;
};

/// A server with many items and another taker that is quicker for a while.
struct crowded_queue : fake_session {
  crowded_queue() : line(zk, "/q") { connect(); }

  static std::string item(int number) {
    auto digits = std::to_string(number);
    return "qn-" + std::string(10 - digits.size(), '0') + digits;
  }
  void add(int how_many) {
    for (int i = 0; i < how_many; ++i) children.push_back(item(++last_item));
  }
  /// Answers all requests. The other taker is quicker than our next `lates` claims.
  void serve() {
    while (!pending().empty()) {
      const auto asked = pending().front();
      const auto& operations = last().pending.front().first.operations;
      if (asked == "children /q") {
        list(children);
      } else if (asked == "multi /") {
        children.push_back(operations.front().path.substr(std::string("/q/").size()));
        lates > 0 ? fail(errc::node_exists) : answer();
        lates = std::max(lates - 1, 0);
      } else {
        has_waited = has_waited || asked.starts_with("create /q/_idle");
        answer();
      }
    }
  }

  strings children;
  int last_item = 0;
  int lates = 0;
  bool has_waited = false;
  queue line;
};

}  // namespace

// A taker with many claims of its own must not take them for those of other takers, and wait in line beside the items.
BOOST_FIXTURE_TEST_CASE(claims_of_ones_own_are_no_crowd, crowded_queue) {
  add(30);
  auto many = line.async_take_many(30, begun());
  serve();
  BOOST_TEST_REQUIRE(many.done());
  BOOST_TEST(many.result<0>().size() == 30u);
  add(100);
  lates = 3;
  auto one = line.async_take(begun());
  serve();
  BOOST_TEST_REQUIRE(succeeded(one));
  BOOST_TEST(!has_waited);
}

BOOST_FIXTURE_TEST_SUITE(queue_waiters, waiting_takers)

BOOST_AUTO_TEST_CASE(what_a_cancelled_pop_had_in_view_goes_to_who_still_waits) {
  auto first = pop();
  auto second = pop();
  serve({});
  BOOST_TEST(!idle_node.empty(), "they wait in line");
  fire(backend::change::children, "/q");
  settle();
  serve({one});
  CHECK_PENDING("get /q/" + one);
  first.cancel();  // requests go out in order of arrival, so this one reads the item
  settle();
  BOOST_TEST_REQUIRE(first.done());
  BOOST_TEST(!second.done());
  answer();  // the answer for the cancelled one; nothing has changed on the server
  serve({one});
  BOOST_TEST_REQUIRE(!pending().empty());
  BOOST_TEST(pending().front() == "get /q/" + one);
  second.cancel();
  settle();
  serve({one});
}

// A taker whose claim came too late must not keep the other one from the next item.
BOOST_AUTO_TEST_CASE(one_who_was_late_leaves_no_item_to_nobody) {
  std::vector<recorder<message>> takers;
  for (int i = 0; i < 2; ++i) {
    line.async_take(takers.emplace_back(record<message>()).token());
    settle();
  }
  serve({});
  BOOST_TEST(!idle_node.empty(), "they wait in line");
  fire(backend::change::children, "/q");
  settle();
  while (next_request() == "children /q") list({one});
  CHECK_PENDING("multi /", "get /q/" + one);
  fail(errc::node_exists);
  answer();
  fire(backend::change::children, "/q");
  advance(1s);
  while (next_request() == "children /q") list({"qn-0000000002"});
  const auto asked = pending();  // and the place in line is given up for others, now that two were drawn
  for (const auto* each : {"multi /", "get /q/qn-0000000002"}) BOOST_TEST(std::ranges::count(asked, each) == 1, each);
  for (auto& each : takers) each.cancel();
  settle();
  serve({});
}

// A worker loop must end in an orderly shutdown, whether the close or the next take comes first.
BOOST_AUTO_TEST_CASE(what_is_begun_before_with_or_after_a_close_ends_with_closed) {
  std::vector<recorder<message>> each;
  std::vector<recorder<std::vector<message>>> several;
  auto begin = [&] {
    line.async_take(each.emplace_back(record<message>()).token());
    line.async_pop(each.emplace_back(record<message>()).token());
    line.async_next(each.emplace_back(record<message>()).token());
    line.async_take_many(3, several.emplace_back(record<std::vector<message>>()).token());
  };
  begin();
  settle();
  begin();
  auto closing = zk.async_close(recorded());
  begin();
  settle();
  lose(errc::closed);
  BOOST_TEST_REQUIRE(closing.done());
  begin();
  settle();
  for (const auto& taken : each) BOOST_TEST((taken.done() && taken.error() == errc::closed));
  for (const auto& taken : several) BOOST_TEST((taken.done() && taken.error() == errc::closed));
}

// A priority queue keeps its claims in a folder beside kazoo's path. That this folder is missing at first is no sign of
// a lost reply.
BOOST_AUTO_TEST_CASE(a_first_pop_that_is_overtaken_takes_the_next) {
  priority_queue ranked(zk, "/p");
  auto popped = ranked.async_pop(begun());
  const std::string item = "entry-100-0000000001";
  bool overtaken = false;
  for (int i = 0; i < 40 && !overtaken; ++i) {
    const auto asked = next_request();
    BOOST_TEST_REQUIRE(!popped.done(), popped.error().message());
    BOOST_TEST_REQUIRE(!asked.empty());
    if (asked == "children /p") {
      list({item});
    } else if (asked != "multi /") {
      answer();
    } else {
      backend::reply refused;
      refused.error = errc::no_node;
      refused.results.assign(2, {errc::rolled_back, {}, {}});
      overtaken = ensured;
      refused.results[ensured ? 1 : 0].error = errc::no_node;  // first the folder for claims is missing, then the item
      ensured = true;
      answer(refused);
    }
  }
  BOOST_TEST(overtaken);
  BOOST_TEST(std::ranges::count(pending(), "exists /p/" + item) == 0, "no reply was lost: there is no doubt");
  BOOST_TEST(!popped.done(), "it waits for the next");
  popped.cancel();
  settle();
}

BOOST_AUTO_TEST_SUITE_END()
