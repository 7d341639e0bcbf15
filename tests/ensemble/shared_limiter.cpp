// A rate that processes share: all together keep within it, and reach it, also when some are killed or sleep.
#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/wait.h>

#include <zkrecipes/consumer/shared_limiter.hpp>

#include "ensemble/ensemble_case.hpp"
#include "ensemble/rate_plan.hpp"
#include "support/bound_judge.hpp"
#include "support/line_process.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using time_point = lease_clock::time_point;

/// A process of its own: see rate_worker.cpp.
class limited_process {
 public:
  limited_process(const std::string& id, const std::string& root)
      : process_(id, {RATE_WORKER, join_hosts(direct_hosts()), root, id}) {}

  /// Takes in what it has said; its calls go into `calls`.
  void hear(std::vector<time_point>& calls) {
    while (auto line = process_.answer()) {
      const auto space = line->find(' ');
      const auto word = line->substr(0, space);
      if (word == "call") calls.emplace_back(std::chrono::nanoseconds(std::stoll(line->substr(space + 1))));
      if (word == "slices") slices = static_cast<std::uint32_t>(std::stoul(line->substr(space + 1)));
      if (word == "pid") pid_ = std::stoi(line->substr(space + 1));
      if (word == "ended") ended = line->substr(space + 1);
    }
  }
  const std::string& name() const noexcept { return process_.name(); }
  void tell(const std::string& command) { process_.tell(command); }
  void signal(int number) {
    BOOST_TEST_REQUIRE(pid_ > 0, "else the signal would go to a whole group");
    BOOST_TEST_REQUIRE(::kill(pid_, number) == 0);
  }
  /// By SIGKILL, in the midst of its calls. What it has said before counts, up to the last line that is complete.
  void kill(std::vector<time_point>& calls) {
    signal(SIGKILL);
    siginfo_t end{};
    BOOST_TEST_REQUIRE(::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOWAIT) == 0);
    BOOST_TEST((end.si_code == CLD_KILLED && end.si_status == SIGKILL));
    try {
      for (;;) hear(calls);
    } catch (const std::runtime_error&) {
    }  // the end of its output
  }

  std::uint32_t slices = 0;
  std::string ended;

 private:
  line_process process_;
  pid_t pid_ = 0;
};

class rate_case : public ensemble_case {
 public:
  void setup() { settle(zk()); }  // which makes the root that the processes need
  void teardown() {
    workers.clear();
    remove_group();
    ensemble_case::teardown();
  }

  limited_process& add(const std::string& id) {
    return *workers.emplace_back(std::make_unique<limited_process>(id, root()));
  }
  void wait(const std::function<bool()>& condition, std::source_location where = std::source_location::current()) {
    const auto holds = [&] {
      for (auto& each : workers) each->hear(calls);
      return condition();
    };
    const bool is_reached = run_until(holds);
    BOOST_TEST_REQUIRE(is_reached, "in vain from line " << where.line() << "; " << present() << nodes_at("/"));
  }
  /// What has been heard so far.
  std::string present() const {
    auto text = std::to_string(calls.size()) + " calls";
    for (const auto& each : workers) {
      text += ", " + each->name() + " has " + std::to_string(each->slices) + " slices" +
              (each->ended.empty() ? "" : " and has ended: " + each->ended);
    }
    return text;
  }
  /// The nodes at and below a path, with their data.
  std::string nodes_at(const std::string& path) {
    const auto node = run(zk().async_get(path, tuple));
    const auto listed = run(zk().async_children(path, tuple));
    auto text = "\n" + path + " " + std::get<1>(node).data;
    for (const auto& each : std::get<1>(listed).names) text += nodes_at((path == "/" ? "" : path) + "/" + each);
    return text;
  }
  std::uint32_t slices() const {
    std::uint32_t sum = 0;
    for (const auto& each : workers) sum += each->slices;
    return sum;
  }
  /// Whether each process has this many.
  bool have(std::uint32_t slices) const {
    return std::ranges::all_of(workers, [&](const auto& each) { return each->slices == slices; });
  }
  /// The most calls in a second since then.
  std::size_t most_in_a_second(time_point since) {
    std::sort(calls.begin(), calls.end());
    std::size_t most = 0;
    auto last = std::lower_bound(calls.begin(), calls.end(), since);
    for (auto first = last; first != calls.end(); ++first) {
      while (last != calls.end() && *last < *first + 1s) ++last;
      most = std::max(most, static_cast<std::size_t>(last - first));
    }
    return most;
  }
  /// Over any window. Each process can have been interrupted between a call and its note, once at a time.
  void check_bound(std::int64_t processes) {
    std::sort(calls.begin(), calls.end());
    bound_judge judge(400, 1s, limit_slices + processes);
    std::size_t beyond = 0;
    for (const auto& each : calls) beyond += judge.add(each, 1) ? 0 : 1;
    BOOST_TEST(beyond == 0u);
    const auto most = most_in_a_second({});
    BOOST_TEST_MESSAGE(calls.size() << " calls in " << (calls.back() - calls.front()) / 1ms << " ms; at most " << most
                                    << " in a window of one second; rate 400, burst " << limit_slices);
    BOOST_TEST(most <= 400 + limit_slices + static_cast<std::size_t>(processes));
  }

  std::vector<std::unique_ptr<limited_process>> workers;
  std::vector<time_point> calls;

 private:
  void remove_group() {
    if (!exists(limit_path)) return;
    const std::string path(limit_path);
    for (const auto* part : {"/member", "/_planner"}) {
      run_until([&] { return !exists(path + part) || children(path + part).empty(); }, 10s);
    }
    auto removed = run(zk().async_remove_with_children(path, tuple));
    BOOST_TEST(!std::get<0>(removed), std::get<0>(removed).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(shared_limiters_of_processes, rate_case)

BOOST_AUTO_TEST_CASE(four_keep_within_the_rate_and_two_that_are_left_reach_it) {
  for (const auto* each : {"a", "b", "c", "d"}) add(each);
  wait([&] { return have(10); });
  const auto before = calls.size();
  wait([&] { return calls.size() > before + 500; });
  workers.resize(2);  // kills the others
  wait([&] { return have(20); });
  for (auto& each : workers) each->tell("steady");
  const auto since = lease_clock::now();
  wait([&] { return most_in_a_second(since) >= 380; });
  BOOST_TEST(slices() == limit_slices);
  check_bound(4);
}

BOOST_AUTO_TEST_CASE(two_of_four_that_are_killed_in_the_midst_of_their_calls_leave_the_bound_in_place) {
  for (const auto* each : {"a", "b", "c", "d"}) add(each);
  wait([&] { return have(10); });
  for (auto& each : workers) each->tell("steady");
  const auto two_seconds_more = [&] { return [&, until = calls.size() + 800] { return calls.size() >= until; }; };
  wait(two_seconds_more());
  workers[3]->kill(calls);
  workers.pop_back();
  wait([&] { return calls.size() % 7 == 0; });  // the second one dies at another place of its calls
  workers[2]->kill(calls);
  workers.pop_back();
  const auto killed = lease_clock::now();
  wait([&] { return have(20); });
  wait(two_seconds_more());
  BOOST_TEST(most_in_a_second(killed) >= 360u, "those that are left reach the rate again");
  check_bound(4);
}

BOOST_AUTO_TEST_CASE(one_that_sleeps_over_its_lease_does_not_use_its_old_share) {
  auto& sleeper = add("a");
  auto& other = add("b");
  wait([&] { return have(20); });
  sleeper.tell("steady");
  other.tell("steady");
  const auto before = calls.size();
  wait([&] { return calls.size() > before + 200; });
  sleeper.signal(SIGSTOP);
  wait([&] { return other.slices == limit_slices; });
  const auto since = lease_clock::now();
  wait([&] { return most_in_a_second(since) >= 380; });
  sleeper.signal(SIGCONT);
  const auto woken = lease_clock::now();
  wait([&] { return have(20) && most_in_a_second(woken) >= 380; });
  check_bound(2);
}

BOOST_AUTO_TEST_CASE(one_that_drains_gives_its_part_to_the_others) {
  auto& leaver = add("a");
  auto& other = add("b");
  wait([&] { return have(20); });
  leaver.tell("drain");
  wait([&] { return !leaver.ended.empty() && other.slices == limit_slices; });
  BOOST_TEST(leaver.ended == error_code().message());
  check_bound(2);
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_is_followed_by_a_new_share) {
  shared_limiter bank(zk(), limit_path, limit_options("a"));
  recorder<> ended(executor());
  bank.async_run(ended.token());
  wait([&] { return bank.status().slices == limit_slices; });
  BOOST_TEST(bank.status().rate == 400);
  BOOST_TEST((bank.status().valid_until > lease_clock::now()));
  cluster().expire(zk().status().session_id);
  wait([&] { return bank.status().slices == 0; });
  recorder<> waits(executor());
  bank.async_acquire(1, waits.token());
  wait([&] { return bank.status().slices == limit_slices && waits.done(); });
  BOOST_TEST(!waits.error());
  bank.stop();
  wait([&] { return ended.done(); });
  BOOST_TEST(!ended.error());
  BOOST_TEST(bank.status().slices == 0u);
}

BOOST_AUTO_TEST_CASE(a_call_sends_no_request) {
  int requests = 0;
  auto with = options();
  with.timeout = 60s;  // no heartbeat in between
  with.trace = [&](const trace_event&) { ++requests; };
  auto far = connect(with);
  shared_limiter bank(far, limit_path, limit_options("a"));
  recorder<> ended(executor());
  bank.async_run(ended.token());
  wait([&] { return bank.status().slices == limit_slices && bank.status().group.is_planner; });
  settle(far);
  wait([&] { return exists(std::string(limit_path) + "/map"); });
  settle(far);
  // The group may still send a last request of its own in one of the rounds. A call that sent one would do so in each.
  int least = 40;
  for (int round = 0; round < 3; ++round) {
    const auto before = requests;
    int done = 0;
    for (int i = 0; i < 40; ++i) bank.async_acquire(1, [&](error_code error) { done += error ? 0 : 1; });
    wait([&] { return done == 40; });
    least = std::min(least, requests - before);
  }
  BOOST_TEST(least == 0);
  bank.stop();
  wait([&] { return ended.done(); });
}

BOOST_AUTO_TEST_SUITE_END()
