// Descriptors of a peer whose `close` waits, and a log that nobody reads: the guardian guards the others all the same.
#include <algorithm>
#include <array>
#include <ranges>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "agent.hpp"
#include "descriptor.hpp"
#include "event_log.hpp"
#include "guardian/guarding.hpp"

using namespace guardian;
using namespace guardian::test;
using namespace std::chrono_literals;

namespace {

/// A connection to ourselves, with unsent data: the last `close` of its end waits for a minute, or for the end of this.
class lingering {
 public:
  lingering() {
    const descriptor listens(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof here;
    auto* address = reinterpret_cast<sockaddr*>(&here);
    BOOST_TEST_REQUIRE(::bind(listens.get(), address, size) == 0);
    BOOST_TEST_REQUIRE(::listen(listens.get(), 1) == 0);
    BOOST_TEST_REQUIRE(::getsockname(listens.get(), address, &size) == 0);
    end_ = descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    BOOST_TEST_REQUIRE(::connect(end_.get(), address, size) == 0);
    other_ = descriptor(::accept(listens.get(), nullptr, nullptr));
    const linger how{1, 60};
    BOOST_TEST_REQUIRE(::setsockopt(end_.get(), SOL_SOCKET, SO_LINGER, &how, sizeof how) == 0);
    const std::string much(65'536, 'x');
    while (::send(end_.get(), much.data(), much.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
    }
  }

  int end() const { return end_.get(); }
  /// The one to whom it was passed has the last one from now on.
  void let_go() { end_ = descriptor(); }

 private:
  descriptor end_;
  descriptor other_;
};

/// No process is made here: it would have the descriptors, too, and wait for their end.
struct strangers_case : guarding {
  /// Others are served.
  void expect_answer() {
    log.clear();
    talker other(options.socket.path);
    other.greet();
    run_until_logged("process pid=" + std::to_string(::getpid()));
  }
};

const std::string opening = *backend::to_line(backend::guardian_hello{std::string(32, 'c'), 0ms});

}  // namespace

BOOST_FIXTURE_TEST_SUITE(strangers, strangers_case)

BOOST_AUTO_TEST_CASE(a_descriptor_that_waits_when_it_is_closed_keeps_nobody_waiting) {
  start();
  lingering one;
  talker by(options.socket.path);
  by.send(opening.substr(0, 5), {one.end()});
  one.let_go();
  by.send(opening.substr(5));
  run_until_logged("no pidfd");
  BOOST_TEST(by.hear().find("refused") != std::string::npos);
  expect_answer();
}

BOOST_AUTO_TEST_CASE(one_that_was_never_taken_keeps_nobody_waiting) {
  start();
  lingering one;
  {
    talker by(options.socket.path);
    by.send("x", {one.end()});
    one.let_go();
  }
  expect_answer();
  run_until([&] { return guard->connection_count() == 0u; }, "the end of the connection");
  expect_answer();
}

BOOST_AUTO_TEST_CASE(one_of_more_than_there_is_room_for_keeps_nobody_waiting) {
  start();
  lingering one;
  const descriptor file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  std::vector<int> many(60, file.get());
  many.back() = one.end();
  talker by(options.socket.path);
  by.send(opening.substr(0, 5), many);
  one.let_go();
  expect_answer();
  by.send(opening.substr(5));
  run_until_logged("one descriptor");
  BOOST_TEST(by.hear().find("refused") != std::string::npos);
  expect_answer();
}

BOOST_AUTO_TEST_CASE(one_who_connects_before_the_end_of_the_guardian_does_not_keep_it_waiting) {
  start();
  lingering one;
  talker by(options.socket.path);
  by.send("x", {one.end()});
  one.let_go();
  bool is_over = false;
  guard->finish([&] { is_over = true; });
  run_until([&] { return is_over; }, "the end");
  BOOST_TEST(by.hear() == "", "closed");
}

BOOST_AUTO_TEST_CASE(who_has_too_many_that_wait_is_refused_until_they_are_closed) {
  options.most.closing = 1;
  const auto& closer = background_closer::of_process();
  while (closer.pending(::geteuid()) > 0) std::this_thread::yield();  // of the cases before
  start();
  auto one = std::make_unique<lingering>();
  talker by(options.socket.path);
  by.send("x", {one->end()});
  one->let_go();
  run_until([&] { return guard->connection_count() == 1u; }, "the connection");
  by = talker(descriptor());
  run_until([&] { return guard->connection_count() == 0u; }, "its end");
  talker second(options.socket.path);
  run_until_logged("still being closed");
  BOOST_TEST(second.hear().find("still being closed") != std::string::npos);
  one.reset();
  while (closer.pending(::geteuid()) > 0) std::this_thread::yield();
  talker third(options.socket.path);
  third.greet();
  run_until_logged("process pid=" + std::to_string(::getpid()));
}

BOOST_AUTO_TEST_CASE(a_process_can_be_made_while_one_waits_when_it_is_closed) {
  lingering one;
  const int number = ::fcntl(one.end(), F_DUPFD_CLOEXEC, 0);
  one.let_go();
  background_closer::of_process().close(::geteuid(), number);
  struct stat there;
  while (::fstat(number, &there) == 0 && S_ISSOCK(there.st_mode)) std::this_thread::yield();
  const descriptor next(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  BOOST_TEST(next.get() != number, "the number is not used again");
  const background_closer::pause is_not_kept_waiting;
}

BOOST_AUTO_TEST_CASE(a_log_that_nobody_reads_is_not_waited_for_and_tells_what_it_lacks) {
  std::array<int, 2> ends{};
  BOOST_TEST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const descriptor reads(ends[0]), writes(ends[1]);
  log_output unread(writes.get());
  BOOST_TEST((::fcntl(writes.get(), F_GETFL) & O_NONBLOCK) == 0, "others may write there");
  constexpr int lines = 2'000;
  for (int i = 0; i < lines; ++i) unread.write("event number=" + std::to_string(i) + " " + std::string(80, 'x'));
  std::string seen(1 << 20, '\0');
  const auto size = ::read(reads.get(), seen.data(), seen.size());
  BOOST_TEST_REQUIRE(size > 0);
  const auto full = std::ranges::count(seen.substr(0, static_cast<std::size_t>(size)), '\n');
  BOOST_TEST(full < lines);
  unread.write("the next one");
  const auto more = ::read(reads.get(), seen.data(), seen.size());
  BOOST_TEST_REQUIRE(more > 0);
  auto rest = seen.substr(0, static_cast<std::size_t>(more));
  if (!rest.starts_with("log_dropped")) rest = rest.substr(rest.find('\n') + 1);  // of a line that was cut
  const auto dropped = lines - full - (rest.size() < static_cast<std::size_t>(more) ? 1 : 0);
  BOOST_TEST(rest == "log_dropped lines=" + std::to_string(dropped) + "\nthe next one\n");
}

BOOST_AUTO_TEST_SUITE_END()

// The options of the guardian: nothing that is dangerous happens without being asked for.
namespace {

std::optional<guardian::invocation> invocation_of(std::vector<const char*> words) {
  words.insert(words.begin(), "zkrecipes-guardian");
  int status = 0;
  auto asked = guardian::parse_command_line(static_cast<int>(words.size()), words.data(), status);
  BOOST_TEST((asked.has_value() || status != 0));
  return asked;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(command_line)

BOOST_AUTO_TEST_CASE(the_early_proof_is_off_unless_it_is_asked_for) {
  const auto plain = invocation_of({"--socket", "/run/g.sock"});
  BOOST_TEST_REQUIRE(plain.has_value());
  BOOST_TEST(!plain->options.early.after_end_of_line);
  BOOST_TEST((plain->options.early.always == 0ms));
  const auto early = invocation_of({"--early-proof"});
  BOOST_TEST_REQUIRE(early.has_value());
  BOOST_TEST(early->options.early.after_end_of_line);
  BOOST_TEST((early->options.early.always == 0ms), "only after the end of a connection");
  const auto always = invocation_of({"--early-proof", "--early-proof-every", "25"});
  BOOST_TEST_REQUIRE(always.has_value());
  BOOST_TEST(always->options.early.after_end_of_line);
  BOOST_TEST((always->options.early.always == 25ms));
}

BOOST_AUTO_TEST_CASE(looking_all_the_time_needs_the_early_proof) {
  BOOST_TEST(!invocation_of({"--early-proof-every", "25"}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
