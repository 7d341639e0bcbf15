// A value, and a counter, that many write, and what is known of a write whose reply was lost.
#include <limits>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/counter.hpp>
#include <zkrecipes/shared_value.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class values : public ensemble_case {
 public:
  void teardown() {
    remove("/v");
    ensemble_case::teardown();
  }
  error_code set(shared_value& value, const std::string& data) {
    return std::get<0>(run(value.async_set(data, tuple)));
  }
  std::pair<error_code, node_stat> replace(shared_value& value, const node_stat& seen, const std::string& data) {
    auto [error, now] = run(value.async_compare_and_set(seen, data, tuple));
    return {error, now};
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_values, values)

BOOST_AUTO_TEST_CASE(it_is_set_read_and_replaced_on_condition) {
  session other = connect();
  shared_value ours(zk(), "/v");
  shared_value theirs(other, "/v");
  BOOST_TEST(std::get<0>(run(ours.async_get(tuple))) == errc::no_node);
  auto [error, first] = replace(ours, node_stat{}, "1");
  BOOST_TEST(!error);
  BOOST_TEST(replace(theirs, node_stat{}, "2").first == errc::node_exists);
  BOOST_TEST(replace(theirs, first, "2").first == error_code());
  BOOST_TEST(replace(ours, first, "3").first == errc::bad_version);
  BOOST_TEST(get("/v").data == "2");
  BOOST_TEST(!set(ours, "4"));
  BOOST_TEST(std::get<1>(run(ours.async_get(tuple))).data == "4");
  BOOST_TEST(set(ours, std::string(1'000'001, 'x')) == errc::too_large);
  BOOST_TEST(replace(ours, get("/v").stat, std::string(1'000'001, 'x')).first == errc::too_large);
  BOOST_CHECK_THROW(shared_value(zk(), "v"), std::invalid_argument);
}

// The proxy drops the reply, and the value is deleted before the writer is connected again.
BOOST_AUTO_TEST_CASE(a_set_whose_reply_is_lost_and_whose_value_is_deleted_is_not_repeated) {
  auto far = connect_far();
  shared_value value(far, "/v");
  own().drop_reply(testcluster::op::create2);
  own().refuse(true);  // refuses the next connection, which the writer needs for its look
  recorder<node_stat> written(executor());
  value.async_set("x", written.token());
  BOOST_TEST_REQUIRE(run_until([&] { return own().drops() == 1; }));
  BOOST_TEST_REQUIRE(run_until([&] { return far.status().state == session_state::suspended; }));
  BOOST_TEST(get("/v").data == "x");
  remove("/v");
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return written.done(); }));
  BOOST_TEST(written.error() == errc::outcome_unknown);
  BOOST_TEST(!exists("/v"));
  BOOST_TEST(!set(value, "y"));
}

BOOST_AUTO_TEST_CASE(a_change_is_seen_also_the_first_and_one_behind_a_lost_connection) {
  auto far = connect_far();
  shared_value value(far, "/v");
  shared_value close_by(zk(), "/v");
  recorder<node_data> created(executor());
  value.async_change(node_stat{}, created.token());
  settle(far);
  BOOST_TEST(!set(close_by, "1"));
  BOOST_TEST_REQUIRE(run_until([&] { return created.done(); }));
  BOOST_TEST(created.result<0>().data == "1", "version 0 is a change, too (CURATOR-329)");
  recorder<node_data> changed(executor());
  value.async_change(created.result<0>().stat, changed.token());
  settle(far);
  disconnect(far);
  BOOST_TEST(!set(close_by, "2"));
  BOOST_TEST(!changed.done());
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return changed.done(); }));
  BOOST_TEST(changed.result<0>().data == "2", "CURATOR-311");
}

BOOST_AUTO_TEST_CASE(a_value_made_again_is_another_one) {
  shared_value value(zk(), "/v");
  BOOST_TEST(!set(value, "same"));
  const auto seen = get("/v").stat;
  remove("/v");
  create("/v", "same");
  auto changed = run(value.async_change(seen, tuple));
  BOOST_TEST(!std::get<0>(changed));
  BOOST_TEST(std::get<1>(changed).stat.version == seen.version);
  BOOST_TEST(replace(value, seen, "new").first == errc::node_removed, "written, but not over what was seen");
  remove("/v");
  BOOST_TEST(replace(value, seen, "new").first == errc::no_node);
  create("/v");
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_looked_up) {
  auto far = connect_far();
  shared_value value(far, "/v");
  own().drop_reply(testcluster::op::create2);
  BOOST_TEST(!set(value, "1"));
  BOOST_TEST(own().drops() == 1u);
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(!set(value, "2"));
  BOOST_TEST(own().drops() == 2u);
  BOOST_TEST(get("/v").data == "2");
  BOOST_TEST(get("/v").stat.version == 1, "once");
}

BOOST_AUTO_TEST_CASE(a_lost_condition_is_told_as_it_is) {
  auto far = connect_far();
  shared_value value(far, "/v");
  BOOST_TEST(!set(value, "1"));
  const auto seen = get("/v").stat;
  own().drop_request(testcluster::op::set_data);
  auto [error, second] = replace(value, seen, "2");
  BOOST_TEST(!error, "it never arrived: tried again");
  BOOST_TEST(get("/v").data == "2");
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(replace(value, second, "3").first == errc::outcome_unknown, "others may have written the same");
  BOOST_TEST(get("/v").data == "3");
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(replace(value, second, "4").first == errc::bad_version, "surely not done, although unheard");
  BOOST_TEST(get("/v").data == "3");
}

BOOST_AUTO_TEST_SUITE_END()

// The counter: no addition counts twice, and none is lost without an error.

namespace {

class counters : public ensemble_case {
 public:
  void teardown() {
    remove("/c/n");
    remove("/c");
    ensemble_case::teardown();
  }
  std::int64_t add(counter& to, std::int64_t delta) {
    auto result = run(to.async_add(delta, tuple));
    BOOST_TEST(!std::get<0>(result), std::get<0>(result).message());
    return std::get<1>(result);
  }
  error_code add_error(counter& to, std::int64_t delta) { return std::get<0>(run(to.async_add(delta, tuple))); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(counting, counters)

BOOST_AUTO_TEST_CASE(it_begins_at_zero_and_is_text) {
  counter ours(zk(), "/c/n");
  BOOST_TEST(std::get<1>(run(ours.async_get(tuple))).value == 0);
  BOOST_TEST(add(ours, 5) == 5);
  BOOST_TEST(add(ours, -7) == -2);
  BOOST_TEST(get("/c/n").data == "-2", "as kazoo writes it");
  auto [error, seen] = run(ours.async_get(tuple));
  BOOST_TEST(!error);
  recorder<counter_reading> change(executor());
  ours.async_change(seen, change.token());
  auto set = run(ours.async_compare_and_set(seen, 100, tuple));
  BOOST_TEST(!std::get<0>(set));
  BOOST_TEST(std::get<0>(run(ours.async_compare_and_set(seen, 101, tuple))) == errc::bad_version);
  BOOST_TEST_REQUIRE(run_until([&] { return change.done(); }));
  BOOST_TEST(change.result<0>().value == 100);
  BOOST_TEST(change.result<0>().stat.mzxid == std::get<1>(set).stat.mzxid);
}

BOOST_AUTO_TEST_CASE(many_add_at_once_and_every_addition_counts_once) {
  constexpr int sessions = 4;
  constexpr int each = 25;
  std::vector<std::unique_ptr<session>> zks;
  std::vector<counter> all;
  for (int i = 0; i < sessions; ++i) {
    zks.push_back(std::make_unique<session>(connect()));
    all.emplace_back(*zks.back(), "/c/n");
  }
  int done = 0;
  for (int i = 0; i < sessions * each; ++i) {
    all[static_cast<std::size_t>(i % sessions)].async_add(1, [&](error_code error, std::int64_t) {
      BOOST_TEST(!error, error.message());
      ++done;
    });
  }
  BOOST_TEST_REQUIRE(run_until([&] { return done == sessions * each; }));
  BOOST_TEST(get("/c/n").data == std::to_string(sessions * each));
}

BOOST_AUTO_TEST_CASE(an_addition_without_rivals_costs_a_read_and_a_write) {
  counter first(zk(), "/c/n");
  add(first, 1);
  request_log log;
  session third = connect(log.noted(options()));
  settle(third);
  log.clear();
  counter ours(third, "/c/n");
  BOOST_TEST(add(ours, 1) == 2);
  BOOST_TEST(log.all().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_told_and_a_lost_request_tried_again) {
  auto far = connect_far();
  counter ours(far, "/c/n");
  add(ours, 1);
  own().drop_request(testcluster::op::set_data);
  BOOST_TEST(add(ours, 1) == 2);
  BOOST_TEST(own().drops() == 1u);
  own().drop_reply(testcluster::op::set_data);
  BOOST_TEST(add_error(ours, 1) == errc::outcome_unknown);
  BOOST_TEST(own().drops() == 2u);
  BOOST_TEST(get("/c/n").data == "3", "added, at most once");
}

BOOST_AUTO_TEST_CASE(bad_numbers_and_bad_options_are_refused) {
  counter ours(zk(), "/c/n");
  add(ours, std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(add_error(ours, 1) == errc::bad_arguments);
  for (const auto* text : {"1.5", "one", " 1", "99999999999999999999"}) {
    must(run(zk().async_set("/c/n", text, any_version, tuple)));
    BOOST_TEST(std::get<0>(run(ours.async_get(tuple))) == errc::foreign_data);
    BOOST_TEST(add_error(ours, 1) == errc::foreign_data);
  }
  BOOST_TEST(!std::get<0>(run(zk().async_set("/c/n", "", any_version, tuple))));
  BOOST_TEST(add(ours, 2) == 2);
  BOOST_CHECK_THROW(counter(zk(), "n"), std::invalid_argument);
  BOOST_CHECK_THROW(counter(zk(), "/c/n", {.max_tries = 0}), std::invalid_argument);
}

BOOST_AUTO_TEST_CASE(a_cancelled_addition_does_not_hold_up_the_next) {
  auto far = connect_far();
  counter ours(far, "/c/n");
  add(ours, 1);
  disconnect(far);
  recorder<std::int64_t> first(executor());
  recorder<std::int64_t> second(executor());
  ours.async_add(1, first.token());
  ours.async_add(1, second.token());
  first.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return first.done(); }));
  BOOST_TEST(first.error() == asio::error::operation_aborted);
  reconnect();
  BOOST_TEST_REQUIRE(run_until([&] { return second.done(); }));
  BOOST_TEST(second.result<0>() == 2, "nothing was sent of the first");
}

BOOST_AUTO_TEST_SUITE_END()
