// A process that lives keeps its sessions, whatever it looks like from outside; and they end when it has died. See also
// lives_of_many.cpp and debugged.cpp.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "early_proof.hpp"
#include "guardian/guarding.hpp"
#include "guardian/twice_guarded.hpp"

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

// A hundred processes at a time that look dead and are not, with and without the early proof. Their sessions are ended
// when they have been killed.
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

// The early proof: what the kernel shows of the living and of the dead.
namespace {

descriptor open_folder_of(const std::string& path) {
  return descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(early_proofs, guarding)

BOOST_AUTO_TEST_CASE(this_kernel_shows_it) { BOOST_TEST(early_proof_problem() == ""); }

BOOST_AUTO_TEST_CASE(a_living_process_shows_no_sign) {
  child it([](const child::orders& orders) {
    orders.report('r');
    orders.wait();
  });
  run_until_reported(it, 'r');
  const auto folder_of_it = open_process_folder(it.pid());
  BOOST_TEST((look_early(folder_of_it.get()) == early_sign::none));
  it.signal(SIGSTOP);
  it.wait_until_stopped();
  BOOST_TEST((look_early(folder_of_it.get()) == early_sign::none));
  it.signal(SIGKILL);
  it.wait_for_end();
  BOOST_TEST((look_early(folder_of_it.get()) == early_sign::exiting));
  it.reap();
  BOOST_TEST((look_early(folder_of_it.get()) == early_sign::none), "gone: the pidfd tells it");
}

// When a thread that is not the first executes a program, the first one is released, and looks like this for a moment.
BOOST_AUTO_TEST_CASE(a_thread_that_was_released_shows_nothing) {
  const auto task = std::filesystem::path(folder.path) / "task" / "77";
  std::filesystem::create_directories(task);
  const auto show = [&](const std::string& threads) {
    std::ofstream(task / "stat") << "77 (x) X 1 1 1 0 -1 4228108 0 0 0 0 0 0 0 0 20 0 " << threads << " 0 1 0 0\n";
    return look_early(open_folder_of(folder.path).get());
  };
  BOOST_TEST((show("1") == early_sign::exiting), "the text is that of a thread");
  BOOST_TEST((show("0") == early_sign::none));
  std::filesystem::remove_all(task.parent_path());
}

BOOST_AUTO_TEST_CASE(one_thread_that_has_ended_is_not_all_of_them) {
  child it([](const child::orders& orders) {
    std::thread([orders] {
      orders.report('t');
      while (orders.wait() != 0) {
      }
    }).detach();
    ::syscall(SYS_exit, 0);
  });
  run_until_reported(it, 't');
  const auto folder_of_it = open_process_folder(it.pid());
  for (int i = 0; i < 1'000; ++i) BOOST_TEST_REQUIRE((look_early(folder_of_it.get()) == early_sign::none));
  it.signal(SIGKILL);
  it.wait_for_end();
  BOOST_TEST((look_early(folder_of_it.get()) == early_sign::exiting));
}

BOOST_AUTO_TEST_CASE(threads_that_come_and_go_are_never_all_of_them) {
  child it([](const child::orders& orders) {
    orders.report('r');
    struct chain {  // each thread makes the next one, and ends
      static void* link(void*) {
        pthread_t next{};
        if (::pthread_create(&next, nullptr, &link, nullptr) == 0) ::pthread_detach(next);
        return nullptr;
      }
    };
    chain::link(nullptr);
    ::syscall(SYS_exit, 0);
  });
  run_until_reported(it, 'r');
  const auto folder_of_it = open_process_folder(it.pid());
  int looks = 0;
  for (; looks < 2'000 && look_early(folder_of_it.get()) == early_sign::none; ++looks) {
  }
  BOOST_TEST((looks == 2'000 || !it.is_alive()), looks << " looks");
}

BOOST_AUTO_TEST_CASE(a_large_process_is_known_to_be_dead_before_its_memory_is_freed) {
  options.early = {true, 1ms};
  start();
  auto leader = make_leader(*this, 1, [](const child::orders& orders, talker&) {
    std::vector<char> memory(256u << 20, 'm');
    orders.report(memory[12'345]);
    orders.wait();
  });
  leader->order('g');
  run_until_reported(*leader, 'm');
  leader->signal(SIGKILL);
  run_until_ended(1);
  BOOST_TEST(has_logged("proof="));
}

BOOST_AUTO_TEST_SUITE_END()
