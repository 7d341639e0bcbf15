// The early proof: what the kernel shows of the living and of the dead.
#include "early_proof.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guardian/guarding.hpp"

using namespace guardian;
using namespace guardian::test;

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
