// A guardian that is a child of the session's process: what it is started with. Small programs stand for it.
#include "backend/guardian/guardian_child.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "support/temporary_folder.hpp"

using namespace zkrecipes;

namespace {

/// Commands of the shell, in a file that can be executed.
class script {
 public:
  explicit script(const std::string& commands) {
    std::ofstream(path()) << "#!/bin/sh\n" << commands << '\n';
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
  }
  script(const script&) = delete;
  std::string path() const { return (folder_.path() / "program").string(); }

 private:
  test::temporary_folder folder_;
};

/// What the program writes to the socket until it ends.
std::string hear(int socket) {
  std::string all;
  for (;;) {
    pollfd ready{socket, POLLIN, 0};
    BOOST_TEST_REQUIRE(::poll(&ready, 1, 10'000) == 1);
    std::array<char, 4096> part;
    const auto size = ::read(socket, part.data(), part.size());
    if (size <= 0) break;
    all.append(part.data(), static_cast<std::size_t>(size));
  }
  ::close(socket);
  return all;
}

std::string answer_of(const std::string& commands) {
  const script program(commands);
  const auto started = backend::start_guardian(program.path());
  BOOST_TEST_REQUIRE(!started.error, started.error.message());
  return hear(started.socket);
}

/// 32 and 33, which glibc ignores between fork and execution.
constexpr std::uint64_t signals_of_glibc = 0x180000000;

std::size_t count_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(guardian_children)

BOOST_AUTO_TEST_CASE(a_program_is_told_from_a_socket) {
  BOOST_TEST((backend::guardian_program("child:zkrecipes-guardian") == "zkrecipes-guardian"));
  BOOST_TEST((backend::guardian_program("child:/a b") == "/a b"));
  BOOST_TEST(!backend::guardian_program("/run/child:").has_value());
  BOOST_TEST(!backend::guardian_program("").has_value());
}

BOOST_AUTO_TEST_CASE(it_is_given_the_socket_and_no_other_descriptor) {
  const int other = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as by a library that knows nothing of us
  // The last one is the folder itself.
  BOOST_TEST(answer_of("echo \"$@\" >&3; exec ls /proc/self/fd >&3") == "--child 3\n0\n1\n2\n3\n4\n");
  ::close(other);
}

BOOST_AUTO_TEST_CASE(it_leads_a_session_of_its_own) {
  std::istringstream ids(answer_of("cut -d' ' -f1,6 /proc/$$/stat >&3"));
  pid_t self = 0;
  pid_t session = 0;
  ids >> self >> session;
  BOOST_TEST(self == session);
  BOOST_TEST(session != ::getsid(0));
}

BOOST_AUTO_TEST_CASE(signals_are_neither_blocked_nor_ignored_in_it) {
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &blocked, &before);
  const auto old = ::signal(SIGHUP, SIG_IGN);
  std::istringstream seen(answer_of("exec grep -E 'SigBlk|SigIgn' /proc/self/status >&3"));
  ::signal(SIGHUP, old);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  std::string name;
  std::uint64_t mask = 0;
  for (int i = 0; i < 2; ++i) {
    seen >> name >> std::hex >> mask;
    BOOST_TEST((mask & ~signals_of_glibc) == 0u, name << ' ' << mask);
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_can_not_be_started_is_an_error_and_leaves_nothing) {
  const auto before = count_descriptors();
  for (const auto* each : {"/nowhere/zkrecipes-guardian", "no-program-of-this-name", "", "/tmp"}) {
    const auto started = backend::start_guardian(each);
    BOOST_TEST(started.error.failed(), each);
    BOOST_TEST(started.socket == -1, each);
  }
  BOOST_TEST(count_descriptors() <= before, "those of earlier ones are closed meanwhile");
}

BOOST_AUTO_TEST_CASE(one_that_does_not_end_by_itself_can_be_killed) {
  const script program("exec sleep 1000");
  const auto started = backend::start_guardian(program.path());
  started.child.kill();
  BOOST_TEST(hear(started.socket) == "");
  started.child.kill();
}

BOOST_AUTO_TEST_CASE(the_ends_of_earlier_ones_are_taken) {
  answer_of("exit 1");
  const auto before = count_descriptors();
  for (int i = 0; i < 20; ++i) answer_of("exit 1");
  BOOST_TEST(count_descriptors() <= before + 2, "of one that has just ended the end may not be there yet");
}

BOOST_AUTO_TEST_SUITE_END()
