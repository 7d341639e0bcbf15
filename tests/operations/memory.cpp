// Memory that fails, once, at each allocation of each operation: the operation ends, or the process does.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/detail/mutex.hpp>
#include <boost/system/errc.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/shard_group.hpp>

#include "operations/failing_memory.hpp"
#include "operations/setting.hpp"
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

constexpr long no_failure = std::numeric_limits<long>::max();
constexpr int process_ended = 42;  // by `std::terminate`, for want of memory

/// How a trial went in which the allocation of a number failed.
struct verdict {
  std::string wrong{};  ///< Empty: nothing.
  bool is_told = false;
  bool has_thrown = false;  ///< The call, or `run()`: the program knows.
  bool ends_alone = false;
  long allocations = 0;
  std::size_t left = std::numeric_limits<std::size_t>::max();  ///< Nodes of the session.
};
/// `whole`: how it went when no allocation failed.
using experiment = std::function<verdict(long which, const verdict& whole)>;

/// Lets time pass until the condition holds. What leaves `run()` meanwhile is noted.
bool wait(setting& where, simulation::span longest, const std::function<bool()>& condition, bool& has_thrown) {
  for (;;) {
    try {
      return where.wait(longest, condition);
    } catch (const std::bad_alloc&) {
      has_thrown = true;
    }
  }
}

/// One operation on a connected session.
class starved_trial {
 public:
  starved_trial(const subject& whose, const operation& what) : what_(what), keeps_claim_(whose.name == "a taken item") {
    where_.wait(20s, [&] { return where_.zk().status().state == session_state::connected; });
    where_.inside().run([&] {
      whose.make(where_.zk(), [this](error_code, std::shared_ptr<void> made) { object_ = std::move(made); });
    });
    where_.wait(20s, [&] { return object_ != nullptr; });
    where_.pass(2s);
    before_ = where_.ephemerals();
  }

  verdict run(long which, const verdict& whole) {
    fail_allocation(which);
    try {
      where_.inside().run([&] { begin(); });
    } catch (const std::bad_alloc&) {
      seen_.has_thrown = true;
    }
    const auto is_over = [&] { return ending_->calls > 0 || seen_.has_thrown; };
    wait(where_, 5s, is_over, seen_.has_thrown);
    seen_.ends_alone = ending_->calls > 0;
    if (!is_over()) where_.inside().run([&] { where_.zk().async_close([](error_code) {}); });
    wait(where_, 60s, is_over, seen_.has_thrown);
    seen_.allocations = count_allocations();
    stop_failing();
    if (seen_.has_thrown) return seen_;
    seen_.is_told = ending_->error == boost::system::errc::not_enough_memory;
    if (ending_->calls != 1) seen_.wrong = "it does not end";
    if (seen_.ends_alone) look_behind_it(whole, which == no_failure);
    return seen_;
  }

 private:
  void begin() {
    asio::any_io_executor executor = where_.inside().executor();
    count_memory(true);
    what_.begin(object_.get(), asio::bind_executor(executor, record_ending{ending_}));
    count_memory(false);
  }

  /// The object can be used, now that there is memory.
  void call_again() {
    ending_ = std::make_shared<ending>();
    where_.inside().run([&] { begin(); });
    wait(
        where_, 60s, [&] { return ending_->calls > 0; }, seen_.has_thrown);
    if (ending_->calls != 1) seen_.wrong = "the next call does not end";
  }

  void look_behind_it(const verdict& whole, bool is_whole) {
    const auto at_most = [&](std::size_t most) {
      return wait(
          where_, 60s, [&] { return where_.ephemerals() <= most; }, seen_.has_thrown);
    };
    if (seen_.is_told && !at_most(before_)) seen_.wrong = "its node stays";
    if (seen_.is_told && whole.ends_alone) call_again();
    where_.inside().run([&] { object_.reset(); });
    if (is_whole) where_.pass(5s);
    const auto most = seen_.is_told && keeps_claim_ ? before_ : whole.left;
    if (!at_most(most)) seen_.wrong = "a node of its object stays";
    seen_.left = where_.ephemerals();
  }

  const operation& what_;
  const bool keeps_claim_;  ///< What could not be settled is still ours.
  setting where_;
  std::shared_ptr<ending> ending_ = std::make_shared<ending>();
  std::shared_ptr<void> object_;
  std::size_t before_ = 0;
  verdict seen_;
};

/// Takes that do not wait. The claim of what was taken stays; if the caller was told of a failure, there is none.
subject of_filled_queue() {
  return subject_of<queue>("a queue with items")
      .had([](const session& zk, auto got) {
        queue into(zk, "/queue");
        into.async_put_many({"x", "y"}, [into, got](error_code error, auto&&) { got(error, into); });
      })
      .has("queue_base::async_take() of an item", [](auto& q, auto t) { q.async_take(std::move(t)); })
      .has("queue_base::async_take_many(most) of items", [](auto& q, auto t) { q.async_take_many(2, std::move(t)); })
      .has("queue_base::async_pop() of an item", [](auto& q, auto t) { q.async_pop(std::move(t)); });
}

/// A lock is held while nothing else happens, for several times the timeout.
verdict idle_for_long(long which, const verdict&) {
  setting where;
  ownership held;
  where.inside().run(
      [&] { lock(where.zk(), "/lock").async_acquire([&](error_code, ownership got) { held = std::move(got); }); });
  where.wait(20s, [&] { return held.valid(); });
  fail_allocation(which);
  verdict seen;
  wait(
      where, 20s, [] { return false; }, seen.has_thrown);
  seen.allocations = count_allocations();
  stop_failing();
  wait(
      where, 20s, [] { return false; }, seen.has_thrown);
  if (!held.valid() && !seen.has_thrown) seen.wrong = "the session proves its life no more";
  where.inside().run([&] { held = ownership(); });
  return seen;
}

/// Works until its term is to end.
struct patient_career : leader_career {
  asio::awaitable<void> inaugurate(term) override { co_return; }
  asio::awaitable<void> execute(term present) override {
    auto ending = present.async_ending(asio::use_awaitable);
    co_await std::move(ending);
  }
  asio::awaitable<void> hand_over(term, term_end) override { co_return; }
};

/// A run that is at work is stopped. A node of it that stayed would keep others waiting, for as long as the session
/// lives.
template <class Runner>
class starved_stop {
 public:
  explicit starved_stop(std::function<void(std::optional<Runner>&, session&, std::function<void(error_code)>)> start) {
    where_.inside().run([&] { start(one_, where_.zk(), [this](error_code) { is_over_ = true; }); });
  }

  verdict run(long which, const std::function<bool(const Runner&)>& is_at_work) {
    verdict seen;
    if (!where_.wait(60s, [&] { return is_at_work(*one_); })) seen.wrong = "it does not come to work";
    where_.pass(2s);
    fail_allocation(which);
    try {
      where_.inside().run([this] {
        count_memory(true);
        one_->stop();
        count_memory(false);
      });
    } catch (const std::bad_alloc&) {
      seen.has_thrown = true;
    }
    wait(
        where_, 60s, [&] { return is_over_ || seen.has_thrown; }, seen.has_thrown);
    seen.allocations = count_allocations();
    stop_failing();
    if (!seen.has_thrown && !is_over_) seen.wrong = "the run does not end";
    const bool has_left = wait(
        where_, 60s, [&] { return where_.ephemerals() == 0 || seen.has_thrown; }, seen.has_thrown);
    if (!seen.has_thrown && !has_left) seen.wrong = "its node stays";
    where_.inside().run([this] { one_.reset(); });
    return seen;
  }

 private:
  bool is_over_ = false;
  setting where_;
  std::optional<Runner> one_;
};

verdict leader_that_stops(long which, const verdict&) {
  patient_career career;
  starved_stop<consumer_coordinator> trial([&](auto& one, session& zk, auto told) {
    one.emplace(zk, "/election", consumer_coordinator_options{.id = "a"});
    one->async_run(career, std::move(told));
  });
  return trial.run(which, [](const auto& one) { return one.status().phase == coordinator_phase::executing; });
}

verdict member_that_stops(long which, const verdict&) {
  starved_stop<shard_group> trial([](auto& one, session& zk, auto told) {
    one.emplace(zk, "/shards", shard_group_options{.id = "a", .shards = 1});
    one->async_run([](const shard&) { return std::make_unique<patient_career>(); }, std::move(told));
  });
  return trial.run(which, [](const auto& one) {
    const auto now = one.status();
    return now.shards.size() == 1 && now.shards.front().phase == coordinator_phase::executing;
  });
}

/// What the child process tells, in memory that it shares with the test.
struct report {
  long at;
  long told;
  long thrown;
  long passed;
  long ended;
  std::size_t failed_size;
  char wrong[2'000];
};

report& shared_report() {
  static auto* const made =
      static_cast<report*>(mmap(nullptr, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *made;
}

void record_wrong(const std::string& name, long which, const std::string& problem) {
  auto& all = shared_report();
  if (all.wrong[0] != 0) return;
  std::snprintf(all.wrong, sizeof all.wrong, "%s, allocation %ld: %s", name.c_str(), which, problem.c_str());
}

[[noreturn]] void end_for_memory() {
  try {
    if (const auto why = std::current_exception()) std::rethrow_exception(why);
  } catch (const std::bad_alloc&) {
    _exit(process_ended);
  } catch (...) {
  }
  std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

/// Asio of Boost 1.81 crashes, or hangs, where there is no memory for a part of a strand: for the share count of two
/// words and a pointer, or for the mutex. A run makes strands.
bool is_of_strand(std::size_t size) { return size == 3 * sizeof(void*) || size == sizeof(asio::detail::mutex); }

[[noreturn]] void try_from(const std::string& name, const experiment& run, const verdict& whole, long stride) {
  for (const int each : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(each, SIG_DFL);
  std::set_terminate(&end_for_memory);
  auto& all = shared_report();
  try {
    for (; all.at < whole.allocations; all.at += stride) {
      alarm(10);
      const auto seen = run(all.at, whole);
      if (!seen.wrong.empty()) record_wrong(name, all.at, seen.wrong);
      ++(seen.has_thrown ? all.thrown : seen.is_told ? all.told : all.passed);
    }
  } catch (const std::bad_alloc&) {
    _exit(process_ended);
  }
  _exit(0);
}

/// A child runs the trials; if one ends the process, another child goes on behind it.
void try_each(const std::string& name, const experiment& run, long stride) {
  const auto whole = run(no_failure, verdict());
  BOOST_TEST(whole.wrong.empty(), name << ": " << whole.wrong);
  auto& all = shared_report();
  record_failed_size(all.failed_size);
  for (all.at = 0; all.at < whole.allocations; all.at += stride) {
    const auto child = fork();
    if (child == 0) try_from(name, run, whole, stride);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ++all.ended;
    const bool is_loud = WIFEXITED(status) && WEXITSTATUS(status) == process_ended;
    if (!is_loud && !is_of_strand(all.failed_size))
      record_wrong(name, all.at, "the process ends with status " + std::to_string(status));
  }
  BOOST_TEST(all.wrong[0] == 0, all.wrong);
  all.wrong[0] = 0;
}

#ifdef __SANITIZE_ADDRESS__
constexpr long usual_stride = 31;  // A child takes ten times as long to begin; the release build takes each third.
#else
constexpr long usual_stride = 3;
#endif

/// Each of some hundred thousand allocations is tried only if the environment asks for it.
long stride() { return std::getenv("ZKRECIPES_EACH_ALLOCATION") ? 1 : usual_stride; }

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(an_operation_that_has_none_says_so) {
  auto& all = shared_report();
  all = {};
  auto subjects = all_subjects();
  subjects.push_back(of_filled_queue());
  for (const auto& whose : subjects) {
    for (const auto& what : whose.operations) {
      try_each(
          what.name, [&](long which, const verdict& whole) { return starved_trial(whose, what).run(which, whole); },
          stride());
    }
  }
  BOOST_TEST(all.told > 0);
  BOOST_TEST_MESSAGE("an allocation failed: "
                     << all.told << " operations said so, " << all.passed << " ended in another way, " << all.thrown
                     << " exceptions left run() or the call, " << all.ended << " ended the process");
}

BOOST_AUTO_TEST_CASE(a_session_that_idles_outlives_it) { try_each("idle", &idle_for_long, 1); }

BOOST_AUTO_TEST_CASE(a_leader_that_stops_leaves_no_node) { try_each("leader", &leader_that_stops, stride()); }

BOOST_AUTO_TEST_CASE(a_member_of_a_shard_group_that_stops_leaves_no_node) {
  try_each("member", &member_that_stops, stride());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace zkrecipes::test
