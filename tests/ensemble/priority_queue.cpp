// Priority queues: the more urgent item comes first; the names are kazoo's.
#include <zkrecipes/priority_queue.hpp>

#include "ensemble/queue_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class priorities : public ensemble_case {
 public:
  void teardown() {
    for (const auto* each : {"/p-side/_idle", "/p-side/_dead", "/p-side/_gate", "/p-side/_clock", "/p-side", "/p"}) {
      if (exists(each)) remove(each);
    }
    queue_.reset();  // it would keep the session open
    ensemble_case::teardown();
  }
  std::string put(const std::string& data, int priority) {
    auto [error, name] = run(all.async_put(data, priority, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return name;
  }
  message take(priority_queue& from) {
    auto [error, item] = run(from.async_take(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return item;
  }
  void expect_done(priority_queue& from, const message& item) {
    BOOST_TEST(!std::get<0>(run(from.async_acknowledge(item, tuple))));
  }
  std::vector<std::string> drain() {
    std::vector<std::string> seen;
    while (std::get<1>(run(all.async_size(tuple))) > 0) {
      auto item = take(all);
      seen.push_back(item.data);
      expect_done(all, item);
    }
    return seen;
  }

  std::unique_ptr<priority_queue> queue_ = std::make_unique<priority_queue>(zk(), "/p");
  priority_queue& all = *queue_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(priority_queues, priorities)

BOOST_AUTO_TEST_CASE(the_lower_number_first_and_in_order_of_arrival) {
  put("later", 500);
  put("first", 7);
  put("second", 7);
  put("last", 999);
  put("urgent", 0);
  const std::vector<std::string> expected{"urgent", "first", "second", "later", "last"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_names_are_kazoos_and_nothing_else_stands_beside_them) {
  const auto name = put("1", 7);
  BOOST_TEST(name == "entry-007-0000000000");
  const auto item = take(all);
  BOOST_TEST(children("/p").size() == 1u, "kazoo takes every child for an item");
  BOOST_TEST(children("/p-side").size() == 1u);
  BOOST_TEST(item.name == name);
  expect_done(all, item);
  BOOST_TEST(children("/p-side").empty());
}

BOOST_AUTO_TEST_CASE(an_urgent_one_overtakes_those_that_wait) {
  for (int i = 0; i < 5; ++i) put("usual", 100);
  expect_done(all, take(all));
  put("urgent", 1);
  // The list that travels along with this take shows the urgent item.
  auto one = take(all);
  auto two = take(all);
  BOOST_TEST((one.data == "urgent" || two.data == "urgent"));
  expect_done(all, one);
  expect_done(all, two);
  drain();
}

BOOST_AUTO_TEST_CASE(a_priority_that_is_none_is_refused) {
  for (int bad : {-1, 1000}) {
    BOOST_TEST(std::get<0>(run(all.async_put("x", bad, tuple))) == errc::bad_arguments);
    BOOST_TEST(std::get<0>(run(all.async_put_many({{"x", 1}, {"y", bad}}, tuple))) == errc::bad_arguments);
  }
  auto both = run(all.async_put_many({{"slow", 9}, {"fast", 3}}, tuple));
  BOOST_TEST(!std::get<0>(both));
  const std::vector<std::string> expected{"fast", "slow"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(foreign_nodes_are_ignored) {
  put("1", 100);
  const std::vector<std::string> foreign{"entry-1-0000000000", "entry-0010-0000000000", "entry-001-",
                                         "entry--01-0000000001", "note"};
  for (const auto& each : foreign) create("/p/" + each);
  auto item = take(all);
  BOOST_TEST(item.data == "1");
  expect_done(all, item);
  auto [error, seen] = run(all.async_status(tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(seen.items == 0u);
  BOOST_TEST(seen.foreign == foreign.size());
  for (const auto& each : foreign) remove("/p/" + each);
}

BOOST_AUTO_TEST_CASE(given_back_to_the_end_means_the_end_of_its_priority) {
  put("1", 5);
  put("2", 5);
  put("3", 6);
  const auto item = take(all);
  BOOST_TEST(!std::get<0>(run(all.async_return(item, return_to::end, "later", tuple))));
  const std::vector<std::string> expected{"2", "1", "3"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_claim_of_a_session_that_ends_comes_back_to_who_waits) {
  put("1", 5);
  auto mortal = connect();
  priority_queue other(mortal, "/p");
  take(other);
  recorder<message> waiting(executor());
  all.async_take(waiting.token());
  BOOST_TEST_REQUIRE(run_until([&] { return exists("/p-side/_idle") && children("/p-side/_idle").size() == 1; }));
  cluster().expire(mortal.status().session_id);
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.result<0>().attempts == 2);
  expect_done(all, waiting.result<0>());
}

BOOST_AUTO_TEST_CASE(popped_at_most_once_and_dead_letters_come_back_with_their_priority) {
  put("1", 5);
  put("2", 3);
  auto [error, item] = run(all.async_pop(tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(item.data == "2");
  auto bad = take(all);
  BOOST_TEST(!std::get<0>(run(all.async_reject(bad, "no", tuple))));
  auto [letters_error, letters] = run(all.async_dead_letters(tuple));
  BOOST_TEST_REQUIRE(letters.size() == 1u);
  put("between", 6);
  BOOST_TEST(!std::get<0>(run(all.async_revive(letters[0], tuple))));
  const std::vector<std::string> expected{"1", "between"};
  BOOST_TEST(drain() == expected, boost::test_tools::per_element());
  BOOST_TEST(run_until([&] { return children("/p-side").size() <= 2; }, 10s));
}

BOOST_AUTO_TEST_CASE(lost_replies_change_nothing) {
  auto far = connect_far();
  std::size_t drops = 0;
  for (auto op : {testcluster::op::get_children2, testcluster::op::multi, testcluster::op::get_data}) {
    for (bool executed : {true, false}) {
      put("1", 1);
      priority_queue from(far, "/p");  // a new object, which has to read the list first
      executed ? own().drop_reply(op) : own().drop_request(op);
      const auto item = take(from);
      BOOST_TEST(item.data == "1");
      expect_done(from, item);
      BOOST_TEST(own().drops() == ++drops, "operation " << op);
    }
  }
  settle(zk());
  BOOST_TEST(std::get<1>(run(all.async_size(tuple))) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
