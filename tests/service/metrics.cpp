// Every figure that an object of the library tells is on the page of metrics. Each test takes a struct apart into all
// of its members, so it does not compile any more when the library gets a new one.
#include <chrono>
#include <concepts>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/service/metrics.hpp>
#include <zkrecipes/service/metrics_page.hpp>

using zkrecipes::service::add_metrics;
using zkrecipes::service::metrics_page;
using namespace std::chrono_literals;

namespace {

/// Gives each member a value of its own: 101, 102 ..., of a time 101 s and so on.
template <class... Members>
std::vector<std::string> number(Members&... members) {
  int next = 101;
  std::vector<std::string> values;
  const auto set = [&](auto& member) {
    using type = std::remove_reference_t<decltype(member)>;
    if constexpr (std::integral<type> || std::floating_point<type>)
      member = static_cast<type>(next);
    else
      member = std::chrono::seconds(next);
    values.push_back(" " + std::to_string(next++) + "\n");
  };
  (set(members), ...);
  return values;
}

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos || (BOOST_TEST_MESSAGE(text), false);
}

template <class Status>
std::string page_of(const Status& status) {
  metrics_page page;
  add_metrics(page, status);
  return page.text();
}

template <class Status>
void check_all(const Status& status, const std::vector<std::string>& values) {
  const auto text = page_of(status);
  for (const auto& each : values) BOOST_TEST(text.find(each) != std::string::npos, "not on the page:" << each << text);
}

/// The conventions of Prometheus: names, and a HELP and a TYPE line in front of the samples.
void check_conventions(const std::string& text) {
  std::istringstream lines(text);
  std::string name, type;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first, second;
    words >> first >> second;
    if (first == "#" && second == "HELP") {
      words >> name;
    } else if (first == "#" && second == "TYPE") {
      std::string same;
      words >> same >> type;
      BOOST_TEST(same == name);
      BOOST_TEST(name.ends_with("_total") == (type == "counter"));
    } else {
      BOOST_TEST(first.substr(0, first.find('{')) == name);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(service_library_metrics)

BOOST_AUTO_TEST_CASE(session_counters) {
  zkrecipes::session_counters of;
  auto& [requests, answers, retries, connects, incarnations, watch_events, heartbeats, guardian] = of;
  check_all(of, number(requests, answers, retries, connects, incarnations, watch_events, heartbeats, guardian));
}

BOOST_AUTO_TEST_CASE(session_status) {
  zkrecipes::session_status of;
  auto& [state, reason, incarnation, session_id, timeout, server, changes, failures, is_guarded] = of;
  const auto values = number(incarnation, session_id, timeout, changes);
  state = zkrecipes::session_state::suspended;
  reason = zkrecipes::errc::no_servers;
  server = "10.0.0.1:2181";
  failures.resize(17);
  is_guarded = true;
  check_all(of, values);
  const auto text = page_of(of);
  BOOST_TEST(has(text, "zkrecipes_session_state{state=\"suspended\"} 1"));
  BOOST_TEST(has(text, "zkrecipes_session_state{state=\"connected\"} 0"));
  BOOST_TEST(has(text, "zkrecipes_session_disturbed 1"));
  BOOST_TEST(has(text, "zkrecipes_session_connected{server=\"10.0.0.1:2181\"} 1"));
  BOOST_TEST(has(text, "zkrecipes_session_failing_servers 17"));
  BOOST_TEST(has(text, "zkrecipes_session_guarded 1"));
}

BOOST_AUTO_TEST_CASE(coordinator_status) {
  zkrecipes::coordinator_status of;
  auto& [phase, since, epoch, leader, ahead, trouble] = of;
  const auto values = number(epoch, ahead.emplace());
  phase = zkrecipes::coordinator_phase::executing;
  since = zkrecipes::lease_clock::now() - 1h;
  leader = "one";
  trouble = zkrecipes::errc::no_auth;
  check_all(of, values);
  const auto text = page_of(of);
  BOOST_TEST(has(text, "zkrecipes_coordinator_phase{phase=\"executing\"} 1"));
  BOOST_TEST(has(text, "zkrecipes_coordinator_phase{phase=\"idle\"} 0"));
  BOOST_TEST(text.find("zkrecipes_coordinator_phase_age_seconds 36") != std::string::npos);
  BOOST_TEST(has(text, "zkrecipes_coordinator_leader{leader=\"one\"} 1"));
  BOOST_TEST(has(text, "zkrecipes_coordinator_troubled 1"));
  ahead.reset();
  BOOST_TEST(page_of(of).find("ahead") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(queue_consumer_status) {
  zkrecipes::queue_consumer_status of;
  auto& [received, done, again, parked, passed_over, lost, declined, repeated, forgotten, evicted, waited, commits,
         refused, in_hand, finished, held_back, resting, limited, last_commit, held_off, oldest] = of;
  check_all(of, number(received, done, again, parked, passed_over, lost, declined, repeated, forgotten, evicted, waited,
                       commits, refused, in_hand, finished, held_back, resting, limited, last_commit, oldest));
  held_off = "the bank is closed";
  BOOST_TEST(has(page_of(of), "zkrecipes_consumer_held_off 1"));
}

BOOST_AUTO_TEST_CASE(shard_status) {
  zkrecipes::shard_group_status of;
  auto& [shard, phase, since, epoch, failures, last_failure] = of.shards.emplace_back();
  const auto values = number(epoch, failures);
  shard = 7;
  phase = zkrecipes::coordinator_phase::taking_over;
  since = zkrecipes::lease_clock::now() - 1h;
  last_failure = "the disk is full";
  check_all(of, values);
  const auto text = page_of(of);
  BOOST_TEST(has(text, "zkrecipes_shard_phase{shard=\"7\",phase=\"taking_over\"} 1"));
  BOOST_TEST(text.find("zkrecipes_shard_phase_age_seconds{shard=\"7\"} 36") != std::string::npos);
  BOOST_TEST(has(text, "zkrecipes_shard_failed{shard=\"7\"} 1"));
}

BOOST_AUTO_TEST_CASE(shard_group_status) {
  zkrecipes::shard_group_status of;
  auto& [member, is_planner, planner_error, trouble, is_draining, failing, plan, shards] = of;
  const auto values = number(plan);
  BOOST_TEST(has(page_of(of), "zkrecipes_group_member 0"));
  member = "one";
  is_planner = true;
  planner_error = zkrecipes::errc::no_auth;
  trouble = zkrecipes::errc::no_auth;
  is_draining = true;
  failing = "the disk is full";
  shards.resize(19);
  check_all(of, values);
  const auto text = page_of(of);
  for (const auto* each :
       {"member 1", "planner 1", "planner_failing 1", "troubled 1", "draining 1", "failing 1", "shards 19"})
    BOOST_TEST(has(text, std::string("zkrecipes_group_") + each));
}

BOOST_AUTO_TEST_CASE(gate_statistics) {
  zkrecipes::gate_statistics of;
  auto& [accepted, waited, declined, evicted, active, waiting] = of;
  check_all(of, number(accepted, waited, declined, evicted, active, waiting));
}

BOOST_AUTO_TEST_CASE(limiter_statistics) {
  zkrecipes::limiter_statistics of;
  auto& [acquired, waited, declined, held_off, waiting, time_waited] = of;
  check_all(of, number(acquired, waited, declined, held_off, waiting, time_waited));
}

BOOST_AUTO_TEST_CASE(keyed_limiter_statistics) {
  zkrecipes::keyed_limiter_statistics of;
  auto& [acquired, waited, declined, coalesced, held_off, evicted, waiting, keys, time_waited] = of;
  check_all(of, number(acquired, waited, declined, coalesced, held_off, evicted, waiting, keys, time_waited));
}

BOOST_AUTO_TEST_CASE(shared_limiter_status) {
  zkrecipes::shared_limiter_status of;
  auto& [slices, all, rate, unused, valid_until, group] = of;
  const auto values = number(slices, all, rate, unused, group.plan);
  valid_until = zkrecipes::lease_clock::now() + 1h;
  check_all(of, values);
  BOOST_TEST(page_of(of).find("zkrecipes_shared_limiter_lease_seconds 35") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(balance_status) {
  zkrecipes::balance_status of;
  auto& [tracks, range, limit, spread, largest_spread] = of;
  auto& [name, steps, waiting] = tracks.emplace_back();
  const auto values = number(range, limit, spread, largest_spread);
  name = "one";
  steps = 23;
  waiting = true;
  check_all(of, values);
  const auto text = page_of(of);
  BOOST_TEST(has(text, "zkrecipes_balance_steps_total{track=\"one\"} 23"));
  BOOST_TEST(has(text, "zkrecipes_balance_waiting{track=\"one\"} 1"));
}

BOOST_AUTO_TEST_CASE(shared_balance_status) {
  zkrecipes::shared_balance_status of;
  auto& [tracks, range, limit, floor, is_member, is_pacer, valid_until, joins, error, obstacle] = of;
  const auto values = number(range, limit, floor, joins);
  tracks.emplace_back().name = "one";
  is_member = is_pacer = true;
  valid_until = zkrecipes::lease_clock::now() + 1h;
  error = zkrecipes::errc::full;
  obstacle = "/balance/members/member-1";  // a text: the log and the status tell it
  check_all(of, values);
  const auto text = page_of(of);
  for (const auto* each : {"steps_total{track=\"one\"} 0", "member 1", "pacer 1", "failing 1"})
    BOOST_TEST(has(text, std::string("zkrecipes_shared_balance_") + each));
  BOOST_TEST(text.find("zkrecipes_shared_balance_lease_seconds 35") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(spool_status) {
  zkrecipes::spool_status of;
  auto& [is_open, accepted, spooled, put, lag, lag_bytes, memory, waiting, oldest, gap, error, trouble] = of;
  const auto values = number(accepted, spooled, put, lag, lag_bytes, memory, waiting, oldest, gap);
  is_open = true;
  error = zkrecipes::errc::full;
  trouble = "the disk is full";
  check_all(of, values);
  const auto text = page_of(of);
  BOOST_TEST(has(text, "zkrecipes_spool_open 1"));
  BOOST_TEST(has(text, "zkrecipes_spool_failing 1"));
  lag = lag_bytes = zkrecipes::spool_status::unknown;
  BOOST_TEST(page_of(of).find("zkrecipes_spool_lag") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(names_follow_the_conventions) {
  metrics_page page;
  add_metrics(page, zkrecipes::session_counters());
  add_metrics(page, zkrecipes::session_status());
  add_metrics(page, zkrecipes::coordinator_status());
  add_metrics(page, zkrecipes::queue_consumer_status());
  zkrecipes::shared_limiter_status limiter;
  limiter.group.shards.resize(2);
  add_metrics(page, limiter);
  add_metrics(page, zkrecipes::gate_statistics());
  add_metrics(page, zkrecipes::limiter_statistics(), {{"limiter", "a"}});
  add_metrics(page, zkrecipes::limiter_statistics(), {{"limiter", "b"}});
  add_metrics(page, zkrecipes::keyed_limiter_statistics());
  add_metrics(page, zkrecipes::spool_status());
  add_metrics(page, zkrecipes::shared_balance_status());
  zkrecipes::balance_status balance;
  balance.tracks.resize(2);
  add_metrics(page, balance);
  check_conventions(page.text());
}

BOOST_AUTO_TEST_SUITE_END()

// The text format of Prometheus.

BOOST_AUTO_TEST_SUITE(service_metrics_page)

BOOST_AUTO_TEST_CASE(samples_of_a_metric_stand_together) {
  metrics_page page;
  page.counter("b_total", "Of b.", 1, {{"way", "in"}});
  page.gauge("a", "Of a.", 0.25);
  page.counter("b_total", "Of b.", 2, {{"way", "out"}, {"by", "x"}});
  BOOST_TEST(page.text() ==
             "# HELP a Of a.\n# TYPE a gauge\na 0.25\n"
             "# HELP b_total Of b.\n# TYPE b_total counter\nb_total{way=\"in\"} 1\nb_total{way=\"out\",by=\"x\"} 2\n");
}

BOOST_AUTO_TEST_CASE(the_text_of_a_label_is_escaped) {
  metrics_page page;
  page.gauge("a", "Of a.", 1, {{"name", "q\"b\\n\nx"}});
  BOOST_TEST(page.text() == "# HELP a Of a.\n# TYPE a gauge\na{name=\"q\\\"b\\\\n\\nx\"} 1\n");
}

BOOST_AUTO_TEST_CASE(the_help_of_a_metric_is_one_line) {
  metrics_page page;
  page.gauge("a", "Of \"a\\b\",\nand c.", 1);
  BOOST_TEST(page.text() == "# HELP a Of \"a\\\\b\",\\nand c.\n# TYPE a gauge\na 1\n");
}

BOOST_AUTO_TEST_CASE(a_large_total_keeps_its_digits) {
  metrics_page page;
  page.counter("a_total", "Of a.", std::numeric_limits<std::uint64_t>::max());
  BOOST_TEST(page.text() == "# HELP a_total Of a.\n# TYPE a_total counter\na_total 18446744073709551615\n");
}

BOOST_AUTO_TEST_SUITE_END()
