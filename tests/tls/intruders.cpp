// No other process of the same user gets between a session and its server.
#include <algorithm>
#include <string>
#include <thread>

#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/client_handle.hpp"
#include "tls/intruder.hpp"
#include "tls/tls_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr std::uint64_t tries = 10'000;
constexpr std::size_t connections = 40;
constexpr std::uint64_t strikes_each = tries / connections / 2;  // behind the bind, and behind the attempt to connect

struct intruder_case : tls_case {
  intruder other;  // begins before there is a socket that it could inherit

  /// Takes a port of the loopback address for the time of `while_held`.
  template <class Do>
  void hold_port(int option, Do while_held) {
    const int taken = ::socket(AF_INET, SOCK_STREAM, 0);
    constexpr int on = 1;
    if (option) ::setsockopt(taken, SOL_SOCKET, option, &on, sizeof on);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* address = reinterpret_cast<sockaddr*>(&at);
    BOOST_TEST_REQUIRE(::bind(taken, address, size) == 0);
    BOOST_TEST_REQUIRE(::getsockname(taken, address, &size) == 0);
    while_held(taken, address);
    ::close(taken);
  }
  void check_nothing_was_got() {
    BOOST_TEST(other.connected() == 0u);
    BOOST_TEST(other.bound() == 0u);
    BOOST_TEST(other.accepted() == 0u);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls_intruders, intruder_case)

/// The session loses its connection again and again. Each time the other process strikes at the address that the C
/// client is given: before and after the attempt to connect, and while the socket is replaced.
BOOST_AUTO_TEST_CASE(another_process_gets_nothing) {
  tls_server server(io, server_certificate());
  shadowing watch(other, strikes_each);
  auto with = options_for(server.address());
  with.connect_timeout = time_limit;  // on a busy machine the other process needs its time, in which this one waits
  session zk(io.get_executor(), with);
  const auto is_up = [&] { return zk.status().state == session_state::connected; };
  for (std::size_t i = 0; i < connections; ++i) {
    BOOST_TEST_REQUIRE(run_until(io, is_up));
    server.drop_all();
    BOOST_TEST_REQUIRE(run_until(io, [&] { return !is_up(); }));
  }
  BOOST_TEST(watch.addresses() >= connections);
  BOOST_TEST(watch.attempts() >= connections);
  BOOST_TEST(other.connects() >= tries);
  BOOST_TEST(other.binds() >= tries);
  check_nothing_was_got();
  BOOST_TEST(zk.counters().incarnations == 1u);
}

BOOST_AUTO_TEST_CASE(both_families) {
  shadowing watch(other, 10);
  for (const auto* server : {"127.0.0.1", "::1"}) {
    for (int i = 0; i < 20; ++i) {
      const backend::stand_in taken({server, 1});
      BOOST_TEST(taken.is_ready());
    }
  }
  BOOST_TEST(watch.addresses() == 40u);
  check_nothing_was_got();
}

/// The same intruder reaches a port that listens, as that of a relay would.
BOOST_AUTO_TEST_CASE(a_listener_is_reached) {
  hold_port(0, [&](int taken, const sockaddr* address) {
    BOOST_TEST_REQUIRE(::listen(taken, 1000) == 0);
    other.lead_to(address);
    BOOST_TEST(other.await_strikes(10));
  });
  BOOST_TEST(other.connected() > 0u);
}

/// And it takes a port whose socket allows that.
BOOST_AUTO_TEST_CASE(a_shared_port_is_taken) {
  hold_port(SO_REUSEPORT, [&](int, const sockaddr* address) {
    other.lead_to(address);
    BOOST_TEST(other.await_strikes(10));
  });
  BOOST_TEST(other.bound() > 0u);
}

/// The thread leaves the network between the handshake and the C client's attempt to connect.
BOOST_AUTO_TEST_CASE(without_a_loopback_interface_the_reason_is_told) {
  tls_server server(io, server_certificate());
  server.speak(TLS1_2_VERSION, TLS1_2_VERSION);  // here the server is the first whose handshake is complete
  bool is_cut_off = false;
  std::thread([&] {
    session zk(io.get_executor(), options_for(server.address()));
    while (server.connects() == 0) io.run_one();
    is_cut_off = ::unshare(CLONE_NEWNET) == 0;
    if (is_cut_off) run_until(io, [&] { return count(session_event::connect_failed) > 0; });
  }).join();
  if (!is_cut_off) {
    BOOST_TEST_MESSAGE("only root can leave the network");
    return;
  }
  const auto said = std::ranges::find(*told, session_event::connect_failed, &told_event::event);
  BOOST_TEST_REQUIRE((said != told->end()));
  BOOST_TEST((said->error == boost::system::errc::address_not_available), said->error.message());
  BOOST_TEST(said->line.find("loopback") != std::string::npos, said->line);
}

BOOST_AUTO_TEST_SUITE_END()
