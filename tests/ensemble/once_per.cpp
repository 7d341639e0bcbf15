// Calls that are made once in a period, on real servers with a real clock.
#include <deque>
#include <set>
#include <vector>

#include <zkrecipes/flow/once_per.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class once_on_servers : public ensemble_case {
 public:
  void teardown() {
    if (exists("/once")) run(zk().async_remove_with_children("/once", tuple));
    ensemble_case::teardown();
  }
  once_per make(const session& over, std::string id, once_per_options with = {.per = 24h * 366}) {
    with.id = std::move(id);
    return once_per(over, "/once", std::move(with));
  }
  once_intent claim(once_per& by, const std::string& key) {
    auto found = run(by.async_claim(key, "", tuple));
    BOOST_TEST(!std::get<0>(found), std::get<0>(found).message());
    return std::get<1>(found);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(once_per_period, once_on_servers)

BOOST_AUTO_TEST_CASE(one_of_fifty_callers_at_once_makes_the_call) {
  std::deque<session> sessions;
  std::vector<once_per> all;
  for (int i = 0; i < 50; ++i) {
    if (i % 10 == 0) sessions.push_back(connect());
    all.push_back(make(sessions.back(), std::to_string(i)));
  }
  std::vector<once_intent> found;
  for (auto& each : all) {
    each.async_claim("smith", "", [&](error_code error, once_intent intent) {
      BOOST_TEST(!error, error.message());
      found.push_back(std::move(intent));
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return found.size() == all.size(); }));
  std::set<std::string> guids;
  for (const auto& each : found) guids.insert(each.guid);
  BOOST_TEST(guids.size() == 1u, "all are told of the same one");
  BOOST_TEST(std::ranges::count_if(found, [](const once_intent& each) { return each.is_new; }) == 1);
}

BOOST_AUTO_TEST_CASE(an_intent_outlives_its_process) {
  {
    auto dies = connect();
    auto a = make(dies, "a");
    BOOST_TEST(claim(a, "smith").is_new);
    cluster().expire(dies.status().session_id);
  }
  auto again = connect();
  auto a = make(again, "a");
  const auto found = claim(a, "smith");
  BOOST_TEST(!found.is_new);
  BOOST_TEST(found.id == "a");
  const auto late = std::chrono::system_clock::now() - found.at;
  BOOST_TEST((late > -1min && late < 10min));
}

BOOST_AUTO_TEST_CASE(a_claim_costs_a_write_and_a_read) {
  request_log log;
  auto far = connect(log.noted(options()));
  auto a = make(far, "a");
  claim(a, "first");
  settle(far);
  log.clear();
  BOOST_TEST(claim(a, "second").is_new);
  BOOST_TEST(log.all().size() == 2u);
  log.clear();
  BOOST_TEST(!claim(a, "second").is_new);
  BOOST_TEST(log.all().size() == 2u);
}

BOOST_AUTO_TEST_CASE(lost_requests_and_lost_replies_are_settled) {
  auto far = connect_far();
  auto a = make(far, "a");
  claim(a, "first");
  own().drop_reply(testcluster::op::create2);
  BOOST_TEST(claim(a, "second").is_new);
  BOOST_TEST(own().drops() == 1u);
  own().drop_request(testcluster::op::create2);
  BOOST_TEST(claim(a, "third").is_new);
  BOOST_TEST(own().drops() == 2u);
  const auto mine = claim(a, "fourth");
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!std::get<0>(run(a.async_withdraw(mine, tuple))));
  BOOST_TEST(own().drops() == 3u);
  BOOST_TEST(claim(a, "fourth").is_new);
}

BOOST_AUTO_TEST_CASE(each_second_has_one_call_and_old_seconds_are_removed) {
  auto other = connect();
  std::vector<once_per> all{make(zk(), "a", {.per = 1s, .keep = 1s}), make(other, "b", {.per = 1s, .keep = 1s})};
  std::set<std::int64_t> periods;
  bool is_right = true;
  for (std::size_t i = 0; periods.size() < 5; ++i) {
    const auto found = claim(all[i % 2], "smith");
    is_right =
        is_right && std::chrono::floor<std::chrono::seconds>(found.at).time_since_epoch().count() == found.period;
    if (found.is_new) BOOST_TEST(periods.insert(found.period).second);
  }
  BOOST_TEST(is_right);
  auto cleaned = run(all[0].async_clean(tuple));
  BOOST_TEST(!std::get<0>(cleaned));
  BOOST_TEST(std::get<1>(cleaned) > 0u);
  BOOST_TEST(!exists("/once/" + std::to_string(*periods.begin())));
  BOOST_TEST(exists("/once/" + std::to_string(*periods.rbegin())));
}

BOOST_AUTO_TEST_CASE(paths_and_nodes_of_others_are_left_alone) {
  create("/once", "theirs");
  auto a = make(zk(), "a");
  BOOST_TEST(std::get<0>(run(a.async_claim("smith", "", tuple))) == errc::foreign_data);
  BOOST_TEST(get("/once").data == "theirs");
  BOOST_TEST(children("/once").empty());
  remove("/once");
  claim(a, "smith");
  auto of_seconds = make(zk(), "b", {.per = 1s});
  BOOST_TEST(std::get<0>(run(of_seconds.async_claim("smith", "", tuple))) == errc::size_mismatch);
}

BOOST_AUTO_TEST_SUITE_END()
