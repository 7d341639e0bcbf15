// What a session without a log of its own writes to standard error.
#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/test/unit_test.hpp>

#include <zkrecipes/session_options.hpp>

using namespace zkrecipes;

namespace {

/// Standard error is a pipe meanwhile.
class stderr_case {
 public:
  stderr_case() : before_(::dup(STDERR_FILENO)) {
    BOOST_TEST_REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
    ::dup2(ends_[1], STDERR_FILENO);
    ::close(ends_[1]);
  }
  ~stderr_case() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
    stop_reading();
  }
  std::string written() {
    std::string text(1 << 16, '\0');
    const auto size = ::read(ends_[0], text.data(), text.size());
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }
  void stop_reading() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  /// By the default of the options.
  void tell(std::string_view server, log_severity severity = log_severity::warning) {
    const log_event event{severity,
                          session_event::connect_failed,
                          server,
                          {},
                          {},
                          boost::asio::error::connection_refused,
                          "nothing listens there"};
    session_options().log(event);
  }

 private:
  int before_;
  std::array<int, 2> ends_{};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(log_to_standard_error, stderr_case)

BOOST_AUTO_TEST_CASE(a_warning_is_written_once_for_each_server) {
  for (int i = 0; i < 3; ++i) tell("192.0.2.1:2181");
  tell("192.0.2.2:2181");
  BOOST_TEST(written() ==
             "zkrecipes warning: connect_failed 192.0.2.1:2181: Connection refused (nothing listens there)\n"
             "zkrecipes warning: connect_failed 192.0.2.2:2181: Connection refused (nothing listens there)\n");
}

BOOST_AUTO_TEST_CASE(what_belongs_to_normal_work_is_not_written) {
  tell("192.0.2.3:2181", log_severity::info);
  BOOST_TEST(written().empty());
}

BOOST_AUTO_TEST_CASE(what_could_spoil_a_terminal_is_written_as_numbers) {
  tell("a\x1b[31m\xc2\x9b\n");
  BOOST_TEST(written().starts_with("zkrecipes warning: connect_failed a\\x1b[31m\\xc2\\x9b\\x0a: "));
}

BOOST_AUTO_TEST_CASE(nobody_is_waited_for) {
  for (int i = 0; i < 2'000; ++i) tell("192.0.2.4:" + std::to_string(i));
  BOOST_TEST(!written().empty());
  stop_reading();
  tell("192.0.2.5:2181");
}

// `poll` takes this socket for one that can be written to, as it takes a pipe whose reader leaves a moment later.
BOOST_AUTO_TEST_CASE(a_write_that_fails_raises_no_signal) {
  std::array<int, 2> sockets{};
  BOOST_TEST_REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) == 0);
  ::dup2(sockets[1], STDERR_FILENO);
  ::shutdown(sockets[1], SHUT_WR);
  static volatile std::sig_atomic_t signals;
  signals = 0;
  const auto before = std::signal(SIGPIPE, [](int) { signals = signals + 1; });
  tell("192.0.2.6:2181");
  std::signal(SIGPIPE, before);
  BOOST_TEST(signals == 0);
  for (int each : sockets) ::close(each);
}

BOOST_AUTO_TEST_SUITE_END()
