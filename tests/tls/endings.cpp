// What a connection by TLS leaves behind, and what it costs.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <string>

#include <openssl/ssl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/steady_timer.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "support/process.hpp"
#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// How many sockets of this process listen for TCP.
std::size_t listening_sockets() {
  std::size_t found = 0;
  const auto ours = open_descriptors();
  for (const auto* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string number, local, remote, state, queues, timer, retransmits, user, probes, inode;
      fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user >> probes >> inode;
      if (state != "0A") continue;
      found += std::ranges::any_of(
          ours, [&](const std::string& each) { return each.find("socket:[" + inode + "]") != each.npos; });
    }
  }
  return found;
}

/// Stops this process by SIGSTOP for at least so long. A forked process lets it go on, and does so again and again,
/// because on a busy machine its first signal can come before the process has stopped.
void stop_for(std::chrono::microseconds time) {
  const pid_t self = ::getpid();
  const pid_t other = ::fork();
  if (other == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
      ::usleep(static_cast<useconds_t>(time.count()));
      ::kill(self, SIGCONT);
    }
  }
  BOOST_TEST_REQUIRE(other > 0);
  ::raise(SIGSTOP);
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

constexpr int all_versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_endings, tls_case)

BOOST_DATA_TEST_CASE(a_later_handshake_is_shortened, all_versions, version) {
  tls_server server(io, server_certificate());
  server.speak(version, version);
  session zk(io.get_executor(), options_for(server.address()));
  for (std::size_t connects = 1; connects <= 3; ++connects) {
    BOOST_TEST_REQUIRE(
        run_until(io, [&] { return server.connects() == connects && zk.status().state == session_state::connected; }));
    BOOST_TEST(server.resumed() == connects - 1);
    server.drop_all();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return zk.status().state != session_state::connected; }));
  }
}

/// The C client gets its stream without a port: at no moment does this process listen for it.
BOOST_AUTO_TEST_CASE(no_port_listens) {
  tls_server server(io, server_certificate());
  const auto before = listening_sockets();
  session zk(io.get_executor(), options_for(server.address()));
  const auto until = std::chrono::steady_clock::now() + time_limit;
  while (zk.status().state != session_state::connected && std::chrono::steady_clock::now() < until) {
    io.poll_one();
    BOOST_TEST_REQUIRE(listening_sockets() == before);
  }
  BOOST_TEST((zk.status().state == session_state::connected));
}

BOOST_AUTO_TEST_CASE(no_descriptor_is_left) {
  tls_server server(io, server_certificate());
  const auto before = open_descriptors();
  {
    session zk(io.get_executor(), options_for(server.address()));
    BOOST_TEST_REQUIRE(run_until(io, [&] { return zk.status().state == session_state::connected; }));
    server.drop_all();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return server.connects() == 2; }));
  }
  BOOST_TEST(run_until(io, [&] { return open_descriptors().size() <= before.size(); }));
}

BOOST_AUTO_TEST_CASE(a_session_that_is_dropped_in_the_handshake_leaves_nothing) {
  tls_server server(io, server_certificate());
  const auto before = open_descriptors();
  for (int steps = 0; steps < 12; ++steps) {
    session zk(io.get_executor(), options_for(server.address()));
    for (int i = 0; i < steps; ++i) io.poll_one();
  }
  BOOST_TEST(run_until(io, [&] { return open_descriptors().size() <= before.size(); }));
}

/// Both are ready when the process goes on: what the server has sent meanwhile, and the end of the connect timeout.
BOOST_AUTO_TEST_CASE(a_process_that_is_stopped_in_the_handshake_connects_afterwards) {
  asio::io_context apart;  // the server's
  tls_server server(apart, server_certificate());
  const auto serve = [&apart] {
    apart.restart();
    while (apart.poll() > 0) {
    }
  };
  const asio::steady_timer any(io);  // opens the context's own descriptors
  const auto before = open_descriptors();
  std::size_t outlived = 0;
  for (int steps = 0; steps < 10; ++steps) {
    auto options = options_for(server.address());
    options.connect_timeout = 500ms;
    session zk(io.get_executor(), options);
    for (int i = 0; i < steps; ++i) {
      io.poll_one();
      serve();
    }
    outlived += zk.status().state != session_state::connected;
    stop_for(600ms);
    BOOST_TEST_REQUIRE(run_until(io, [&] {
      serve();
      return zk.status().state == session_state::connected;
    }));
  }
  BOOST_TEST(outlived > 3u, "it was stopped before there was a session");
  BOOST_TEST(run_until(io, [&] {
    serve();
    return open_descriptors().size() <= before.size();
  }));
}

BOOST_AUTO_TEST_SUITE_END()
