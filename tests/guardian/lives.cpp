// A process that lives keeps its sessions, whatever it looks like from outside; and they end when it has died. See also
// lives_of_many.cpp and debugged.cpp.
#include <csignal>
#include <thread>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian/guarding.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

constexpr int rounds = 10;

/// With and without the early proof, which must not take any of these for a death.
struct lives_case : guarding {
  void start_with(bool is_early) {
    options.early.after_end_of_line = is_early;
    if (is_early) options.early.always = 1ms;
    start();
  }
  /// The process still lives, so its session was not ended; it is once it is dead.
  void check_life_and_death(const child& leader, std::int64_t id) {
    see_another_death();
    BOOST_TEST_REQUIRE(leader.is_alive());
    BOOST_TEST_REQUIRE(endings_of(id) == 0u, all_lines());
    leader.signal(SIGKILL);
    run_until_ended(id);
    BOOST_TEST(endings_of(id) == 1u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lives, lives_case)

BOOST_AUTO_TEST_CASE(another_program_executed_by_a_thread_that_is_not_the_first) {
  start_with(true);
  for (std::int64_t id = 1; id <= rounds; ++id) {
    auto leader = make_leader(*this, id, [](const child::orders&, talker&) {
      std::thread([] { ::execl("/bin/sleep", "sleep", "600", nullptr); }).join();
    });
    leader->order('g');
    run_until_logged("line_ended pid=" + std::to_string(leader->pid()) + " ");
    BOOST_TEST(guard->held().session_count() == 1u);
    check_life_and_death(*leader, id);
  }
}

BOOST_AUTO_TEST_CASE(the_first_thread_has_ended_and_another_one_goes_on) {
  start_with(true);
  for (std::int64_t id = 1; id <= rounds; ++id) {
    auto leader = make_leader(*this, id, [](const child::orders& orders, talker&) {
      std::thread([orders] {
        orders.report('t');
        while (orders.wait() != 0) {
        }
      }).detach();
      ::syscall(SYS_exit, 0);  // of this thread only; its objects stay
    });
    leader->order('g');
    run_until_reported(*leader, 't');
    check_life_and_death(*leader, id);
  }
}

BOOST_AUTO_TEST_CASE(the_connection_was_closed_by_the_process) {
  start_with(true);
  auto leader = make_leader(*this, 1, [](const child::orders& orders, talker& to) {
    to = talker(descriptor());
    orders.wait();
  });
  leader->order('g');
  run_until_logged("line_ended");
  check_life_and_death(*leader, 1);
}

BOOST_AUTO_TEST_CASE(signs_of_life_keep_a_process_alive_and_their_end_kills_it) {
  start_with(false);
  const auto path = options.socket.path;
  child leader([&](const child::orders& orders) {
    talker to(path);
    to.greet(200ms);
    to.tell(session_of(1));
    to.complete();
    for (int i = 0; i < 30; ++i) {
      to.tell(backend::guardian_ping());
      std::this_thread::sleep_for(20ms);  // the signs themselves: three times the limit in all
    }
    orders.report('h');
    for (;;) ::pause();
  });
  run_until_reported(leader, 'h');
  BOOST_TEST_REQUIRE(leader.is_alive());
  BOOST_TEST(!has_logged("hung_process_killed"));
  run_until_ended(1);
  BOOST_TEST(has_logged("hung_process_killed"));
  const int status = leader.reap();
  BOOST_TEST(WIFSIGNALED(status));
  BOOST_TEST(WTERMSIG(status) == SIGKILL);
}

BOOST_AUTO_TEST_CASE(a_hung_process_that_has_closed_its_connection_is_not_killed) {
  start_with(false);
  const auto path = options.socket.path;
  child leader([&](const child::orders& orders) {
    {
      talker to(path);
      to.greet(100ms);
      to.tell(session_of(1));
      to.complete();
    }
    orders.report('c');
    orders.wait();
  });
  run_until_reported(leader, 'c');
  run_until_logged("line_ended");
  run_for(300ms);  // three hang limits: nothing happens at their ends
  check_life_and_death(leader, 1);
  BOOST_TEST(!has_logged("hung_process"));
}

BOOST_AUTO_TEST_SUITE_END()
