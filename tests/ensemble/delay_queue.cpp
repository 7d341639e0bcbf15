// Items that can be taken from a certain time on, by the leader's clock.
#include <zkrecipes/delay_queue.hpp>

#include "ensemble/queue_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class delays : public ensemble_case {
 public:
  void teardown() {
    for (const auto* each : {"/d/_idle", "/d/_dead", "/d/_gate", "/d/_clock", "/d"}) {
      if (exists(each)) remove(each);
    }
    queue_.reset();  // it would keep the session open
    ensemble_case::teardown();
  }
  std::string put(const std::string& data, std::chrono::milliseconds delay) {
    auto [error, name] = run(all.async_put(data, delay, tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return name;
  }
  message take() {
    auto [error, item] = run(all.async_take(tuple));
    BOOST_TEST_REQUIRE(!error, error.message());
    return item;
  }
  void expect_done(const message& item) { BOOST_TEST(!std::get<0>(run(all.async_acknowledge(item, tuple)))); }
  std::string next() {
    const auto item = take();
    expect_done(item);
    return item.data;
  }
  /// The present time, as the leader stamps it.
  std::int64_t leader_time() {
    create("/now");
    const auto time = get("/now").stat.ctime;
    remove("/now");
    return time;
  }
  static std::int64_t time_of(const std::string& name) { return std::stoll(name.substr(3, 16)); }

  std::unique_ptr<delay_queue> queue_ = std::make_unique<delay_queue>(zk(), "/d");
  delay_queue& all = *queue_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(delay_queues, delays)

BOOST_AUTO_TEST_CASE(an_item_comes_at_its_time_and_not_before) {
  const auto before = leader_time();
  const auto name = put("1", 700ms);
  const auto after = leader_time();
  BOOST_TEST(time_of(name) >= before + 700);
  const auto item = take();
  const auto taken = leader_time();
  BOOST_TEST(item.name == name);
  BOOST_TEST(taken >= time_of(name), "not before");
  BOOST_TEST(taken < time_of(name) + 5'000, "nor when it looks again some time or other");
  BOOST_TEST(time_of(name) <= after + 700 + (after - before), "the delay is measured to within the round trips");
  expect_done(item);
}

BOOST_AUTO_TEST_CASE(they_come_in_the_order_of_their_times) {
  put("third", 600ms);
  put("first", 0ms);
  put("second", 300ms);
  for (const auto* each : {"first", "second", "third"}) BOOST_TEST(next() == each);
}

BOOST_AUTO_TEST_CASE(those_that_are_due_together_come_in_the_order_of_their_times) {
  const auto past = std::chrono::system_clock::time_point(std::chrono::milliseconds(leader_time()) - 10s);
  for (int each : {3, 1, 4, 0, 2, 0}) {
    const auto data = std::to_string(each);
    BOOST_TEST(!std::get<0>(run(all.async_put_at(data, past + std::chrono::milliseconds(each), tuple))));
  }
  std::string order;
  for (int i = 0; i < 6; ++i) order += next();
  BOOST_TEST(order == "001234");
}

BOOST_AUTO_TEST_CASE(an_earlier_one_put_into_a_backlog_comes_next) {
  using clock = std::chrono::system_clock;
  constexpr int backlog = 40;
  for (int i = 0; i < backlog; ++i) {
    BOOST_TEST(!std::get<0>(run(all.async_put_at("later", clock::time_point(1000s + 1s * i), tuple))));
  }
  BOOST_TEST(next() == "later");
  delay_queue elsewhere(connect(), "/d");
  BOOST_TEST(!std::get<0>(run(elsewhere.async_put_at("earlier", clock::time_point(500s), tuple))));
  settle(zk());
  const auto drawn_before = next();
  BOOST_TEST((drawn_before == "earlier" || next() == "earlier"));
  for (int left = drawn_before == "earlier" ? backlog - 1 : backlog - 2; left > 0; --left)
    BOOST_TEST(next() == "later");
}

BOOST_AUTO_TEST_CASE(many_are_put_in_one_transaction_each_with_its_delay) {
  request_log log;
  session busy = connect(log.noted(options()));
  delay_queue into(busy, "/d");
  put("0", 0ms);
  BOOST_TEST(!std::get<0>(run(into.async_put("1", 0ms, tuple))));  // now this object knows the leader's time
  log.clear();
  auto [error, names] = run(into.async_put_many({{"3", 300ms}, {"2", 1ms}, {"tomorrow", 24h}}, tuple));
  BOOST_TEST_REQUIRE(!error, error.message());
  BOOST_TEST_REQUIRE(names.size() == 3u);
  BOOST_TEST(log.all().size() == 1u);
  BOOST_TEST(log.count("multi") == 1);
  BOOST_TEST(time_of(names[0]) - time_of(names[1]) == 299);
  for (const auto* each : {"0", "1", "2", "3"}) BOOST_TEST(next() == each);
  BOOST_TEST(leader_time() >= time_of(names[0]));
  for (auto bad : {-1ms, std::chrono::milliseconds(24h * 366 * 101)}) {
    BOOST_TEST(std::get<0>(run(into.async_put_many({{"x", 0ms}, {"y", bad}}, tuple))) == errc::bad_arguments);
  }
  BOOST_TEST(std::get<0>(run(into.async_put_many({}, tuple))) == errc::bad_arguments);
  remove("/d/" + names[2]);
}

BOOST_AUTO_TEST_CASE(a_sooner_one_put_later_is_not_kept_waiting) {
  const auto far_away = put("tomorrow", 24h);
  recorder<message> waiting(executor());
  all.async_take(waiting.token());
  settle(zk());
  BOOST_TEST(!waiting.done());
  delay_queue elsewhere(connect(), "/d");
  BOOST_TEST(!std::get<0>(run(elsewhere.async_put("now", 0ms, tuple))));
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.result<0>().data == "now");
  expect_done(waiting.result<0>());
  remove("/d/" + far_away);
}

BOOST_AUTO_TEST_CASE(what_is_popped_is_not_early_either) {
  const auto name = put("1", 400ms);
  auto [error, item] = run(all.async_pop(tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(leader_time() >= time_of(name));
  BOOST_TEST(item.data == "1");
  BOOST_TEST(children("/d").size() <= 2u, "the clock and the line");
}

BOOST_AUTO_TEST_CASE(the_time_can_be_given_as_such) {
  const auto when = std::chrono::system_clock::time_point(std::chrono::milliseconds(leader_time()) + 300ms);
  auto [error, name] = run(all.async_put_at("1", when, tuple));
  BOOST_TEST(!error, error.message());
  BOOST_TEST(time_of(name) == std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count());
  BOOST_TEST(next() == "1");
  BOOST_TEST(leader_time() >= time_of(name));
  BOOST_TEST(!std::get<0>(run(all.async_put_at("long ago", std::chrono::system_clock::time_point(), tuple))));
  BOOST_TEST(next() == "long ago");
}

BOOST_AUTO_TEST_CASE(times_that_are_none_are_refused) {
  BOOST_TEST(std::get<0>(run(all.async_put("x", -1ms, tuple))) == errc::bad_arguments);
  BOOST_TEST(std::get<0>(run(all.async_put("x", 24h * 366 * 101, tuple))) == errc::bad_arguments);
  const auto before_all = std::chrono::system_clock::time_point(-1h);
  BOOST_TEST(std::get<0>(run(all.async_put_at("x", before_all, tuple))) == errc::bad_arguments);
  const auto late = put("x", 24h * 365 * 99);
  remove("/d/" + late);
}

BOOST_AUTO_TEST_CASE(who_waits_for_a_time_can_give_up) {
  const auto name = put("1", 1h);
  recorder<message> waiting(executor());
  all.async_take(waiting.token());
  settle(zk());
  waiting.cancel();
  BOOST_TEST_REQUIRE(run_until([&] { return waiting.done(); }));
  BOOST_TEST(waiting.error() == asio::error::operation_aborted);
  BOOST_TEST(run_until([&] { return children("/d/_idle").empty(); }, 10s));
  remove("/d/" + name);
}

BOOST_AUTO_TEST_CASE(lost_replies_change_nothing) {
  auto far = connect_far();
  std::size_t drops = 0;
  for (auto op : {testcluster::op::set_data, testcluster::op::get_children2, testcluster::op::multi,
                  testcluster::op::get_data, testcluster::op::exists}) {
    for (bool executed : {true, false}) {
      put("1", 50ms);
      delay_queue from(far, "/d");  // a new object, which has to learn the leader's time first
      executed ? own().drop_reply(op) : own().drop_request(op);
      auto [error, item] = run(from.async_take(tuple));
      BOOST_TEST(!error, error.message());
      BOOST_TEST(item.data == "1");
      BOOST_TEST(!std::get<0>(run(from.async_acknowledge(item, tuple))));
      BOOST_TEST(own().drops() == ++drops, "operation " << op);
    }
  }
  settle(zk());
  BOOST_TEST(std::get<1>(run(all.async_size(tuple))) == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
