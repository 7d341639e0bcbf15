// A hundred processes at a time that look dead and are not, with and without the early proof. Their sessions are ended
// when they have been killed.
#include <csignal>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guardian/twice_guarded.hpp"

using namespace guardian;
using namespace guardian::test;

namespace {

void wait_for_ever() {
  for (;;) ::pause();
}

/// A child that has the socket of its parent, and goes on until the test drops the parent.
void keep_socket(const child::orders& orders) {
  while (orders.wait() != 0) {
  }
  ::_exit(0);
}

struct many_lives_case : twice_guarded {
  static constexpr std::int64_t processes = 100;

  void kill_all() {
    signal_all(SIGKILL);
    check_deaths();
  }
  /// The connections of all processes have ended, and the processes go on.
  void outlive_the_lines(const body& then) {
    populate(processes, then);
    order_all();
    run_until_lines_have_ended();
    check_lives();
    kill_all();
  }
  /// Drops the processes, and waits until their children have ended, too: the last one closes the pipe.
  void drop_all() {
    for (const auto& each : leaders) {
      const descriptor reports(::dup(each->reports()));
      each->drop();
      for (char heard = 0; ::read(reports.get(), &heard, 1) > 0;) {
      }
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(many_lives, many_lives_case)

BOOST_AUTO_TEST_CASE(stopped_for_three_seconds) {
  populate(processes, [](const child::orders& orders) {
    orders.report('a');
    orders.wait();
  });
  signal_all(SIGSTOP);
  for (const auto& each : leaders) each->wait_until_stopped();
  run_for(3s);
  check_lives();
  order_all();
  signal_all(SIGCONT);
  run_until_all_reported('a');
  check_lives();
  kill_all();
}

BOOST_AUTO_TEST_CASE(all_descriptors_closed) {
  outlive_the_lines([](const child::orders&) {
    ::syscall(SYS_close_range, 0, ~0U, 0);
    wait_for_ever();
  });
}

BOOST_AUTO_TEST_CASE(another_program_executed) {
  outlive_the_lines([](const child::orders&) { ::execl("/bin/sleep", "sleep", "600", nullptr); });
}

BOOST_AUTO_TEST_CASE(children_that_keep_the_socket_and_die) {
  populate(processes, [](const child::orders& orders) {
    const auto made = ::fork();
    if (made == 0) ::_exit(0);
    ::waitpid(made, nullptr, 0);
    orders.report('f');
    orders.wait();
  });
  order_all();
  run_until_all_reported('f');
  check_lives();
  kill_all();
}

BOOST_AUTO_TEST_CASE(children_that_keep_the_socket_and_outlive_their_parents) {
  populate(processes, [](const child::orders& orders) {
    if (::fork() == 0) keep_socket(orders);
    orders.report('f');
    wait_for_ever();
  });
  order_all();
  run_until_all_reported('f');
  check_lives();
  kill_all();
  drop_all();
}

BOOST_AUTO_TEST_CASE(parents_that_close_the_socket_of_which_a_child_has_a_copy) {
  populate(processes, [](const child::orders& orders) {
    if (::fork() == 0) keep_socket(orders);
    orders.report('f');
    ::syscall(SYS_close_range, 0, ~0U, 0);
    wait_for_ever();
  });
  order_all();
  run_until_all_reported('f');
  check_lives();
  kill_all();
  drop_all();
}

BOOST_AUTO_TEST_SUITE_END()
