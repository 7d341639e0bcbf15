// Memory that fails, once, at each allocation of a session that idles: it goes on, or the process ends.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <new>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "operations/failing_memory.hpp"
#include "operations/setting.hpp"
#include "operations/subjects.hpp"

namespace zkrecipes::test {

namespace {

constexpr long no_failure = std::numeric_limits<long>::max();
constexpr int process_ended = 42;  // by `std::terminate`, for want of memory

/// How a trial went in which the allocation of a number failed.
struct verdict {
  std::string wrong{};      ///< Empty: nothing.
  bool has_thrown = false;  ///< The call, or `run()`: the program knows.
  long allocations = 0;
};
using experiment = std::function<verdict(long which)>;

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

/// A lock is held while nothing else happens, for several times the timeout.
verdict idle_for_long(long which) {
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

/// What the child process tells, in memory that it shares with the test.
struct report {
  long at;
  char wrong[2'000];
};

report& shared_report() {
  static auto* const made =
      static_cast<report*>(mmap(nullptr, sizeof(report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  return *made;
}

void note_wrong(const std::string& name, long which, const std::string& problem) {
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

[[noreturn]] void try_from(const std::string& name, const experiment& run, long total, long stride) {
  for (const int each : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL}) std::signal(each, SIG_DFL);
  alarm(60);
  std::set_terminate(&end_for_memory);
  auto& all = shared_report();
  try {
    for (; all.at < total; all.at += stride) {
      const auto seen = run(all.at);
      if (!seen.wrong.empty()) note_wrong(name, all.at, seen.wrong);
    }
  } catch (const std::bad_alloc&) {
    _exit(process_ended);
  }
  _exit(0);
}

/// A child runs the trials; if one ends the process, another child goes on behind it.
void try_each(const std::string& name, const experiment& run, long stride) {
  const auto whole = run(no_failure);
  BOOST_TEST(whole.wrong.empty(), name << ": " << whole.wrong);
  auto& all = shared_report();
  for (all.at = 0; all.at < whole.allocations; all.at += stride) {
    const auto child = fork();
    if (child == 0) try_from(name, run, whole.allocations, stride);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    // Asio of Boost 1.81 crashes where the mutex of a strand can not be made: a run makes strands.
    const bool is_strand = WIFSIGNALED(status) && name.find("async_run(") != name.npos;
    // The process ends, and is heard; why the handler above does not see `bad_alloc` then is not known.
    const bool is_aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    const bool is_loud = is_strand || is_aborted || (WIFEXITED(status) && WEXITSTATUS(status) == process_ended);
    if (!is_loud) note_wrong(name, all.at, "the process ends with status " + std::to_string(status));
  }
  BOOST_TEST(all.wrong[0] == 0, all.wrong);
  all.wrong[0] = 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(a_session_that_idles_outlives_it) { try_each("idle", &idle_for_long, 1); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace zkrecipes::test
