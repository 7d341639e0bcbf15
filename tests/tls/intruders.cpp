// No other process of the same user gets between a session and its server.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "backend/zookeeper/client_handle.hpp"
#include "tls/tls_case.hpp"

namespace zkrecipes::test {

// Another process of the same user, which tries to get between this process and the C client.

/// A forked process that strikes at one loopback address, again and again: it connects to it, and it binds sockets to
/// it with every option that shares ports, to the address itself and to all addresses. It does not have to look for the
/// address, because this process tells it. From the moment when this process has given the address back, it listens
/// there until it hears of the next one.
class intruder {
 public:
  intruder();
  ~intruder();
  intruder(const intruder&) = delete;
  intruder& operator=(const intruder&) = delete;

  /// Tells it that this process holds `address`, of IPv4 or IPv6.
  void lead_to(const sockaddr* address);
  /// Waits until it has struck so many times more at the address that it was told. False: it does not get on.
  bool await_strikes(std::uint64_t count) const;
  /// Tells it that the address is about to be given back.
  void let_go();

  // What happened while this process held an address.
  std::uint64_t connects() const { return shared_->connects; }    ///< Tries.
  std::uint64_t connected() const { return shared_->connected; }  ///< Connects that succeeded.
  std::uint64_t binds() const { return shared_->binds; }
  std::uint64_t bound() const { return shared_->bound; }
  /// Connections that others made to it, at any time.
  std::uint64_t accepted() const { return shared_->accepted; }

 private:
  struct shared {
    std::atomic<std::uint64_t> target;  // 0: none. Else the port, and flags and a number above it.
    std::atomic<std::uint64_t> strikes;
    std::atomic<std::uint64_t> connects;
    std::atomic<std::uint64_t> connected;
    std::atomic<std::uint64_t> binds;
    std::atomic<std::uint64_t> bound;
    std::atomic<std::uint64_t> accepted;
  };
  class attack;

  shared* shared_;
  std::uint64_t number_ = 0;
  pid_t pid_;
};

/// For its lifetime the intruder is told of each loopback address at a free port that this process binds a socket to,
/// until that socket is closed. It gets the time for `strikes` strikes after the bind, and once more after each attempt
/// to connect to that address.
class shadowing {
 public:
  shadowing(intruder& by, std::uint64_t strikes);
  ~shadowing();
  shadowing(const shadowing&) = delete;
  shadowing& operator=(const shadowing&) = delete;

  /// How many addresses it was told of, and how many attempts to connect to them it has seen.
  std::size_t addresses() const noexcept { return addresses_; }
  std::size_t attempts() const noexcept { return attempts_; }

  // Called from the calls of the system.
  void on_bound(int descriptor, const sockaddr* asked_for);
  void on_connect(const sockaddr* to);
  void before_close(int descriptor);

 private:
  intruder& by_;
  std::uint64_t strikes_;
  int held_ = -1;
  sockaddr_storage address_{};
  std::size_t addresses_ = 0;
  std::size_t attempts_ = 0;
};

namespace {

constexpr std::uint64_t port_mask = 0xffff;
constexpr std::uint64_t is_v6 = 1U << 16;
constexpr std::uint64_t is_held = 1U << 17;
constexpr unsigned number_shift = 18;

/// Leaves the processor to the other process.
void nap() {
  const timespec time{0, 50'000};
  ::nanosleep(&time, nullptr);
}

struct any_address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

any_address address_of(bool v6, bool everywhere, std::uint64_t port) {
  any_address made;
  if (v6) {
    auto& to = reinterpret_cast<sockaddr_in6&>(made.storage);
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(static_cast<std::uint16_t>(port));
    to.sin6_addr = everywhere ? in6addr_any : in6addr_loopback;
    made.size = sizeof to;
  } else {
    auto& to = reinterpret_cast<sockaddr_in&>(made.storage);
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(everywhere ? INADDR_ANY : INADDR_LOOPBACK);
    made.size = sizeof to;
  }
  return made;
}

}  // namespace

/// Runs in the forked process: it must not allocate memory.
class intruder::attack {
 public:
  explicit attack(shared& with) : shared_(with) {}

  [[noreturn]] void run() {
    for (;;) {
      const auto target = shared_.target.load();
      if (target != target_) stop_listening();
      target_ = target;
      if (target == 0) {
        nap();
        continue;
      }
      strike();
      if (is_present()) ++shared_.strikes;
    }
  }

 private:
  bool is_present() const { return shared_.target.load() == target_; }
  bool has(std::uint64_t flag) const { return (target_ & flag) != 0; }
  std::uint64_t port() const { return target_ & port_mask; }

  void strike() {
    if (listening_ >= 0) return accept_all();
    connect_to_it();
    for (const bool everywhere : {false, true}) {
      for (const int sharing : {0, 1, 2, 3}) bind_to_it(has(is_v6), everywhere, sharing);
    }
    if (!has(is_v6)) bind_to_it(true, true, 3);  // all addresses of both families
  }

  void connect_to_it() {
    const int socket = ::socket(has(is_v6) ? AF_INET6 : AF_INET, SOCK_STREAM, 0);
    const timeval longest{0, 50'000};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof longest);
    const auto to = address_of(has(is_v6), false, port());
    const bool is_connected = ::connect(socket, to.get(), to.size) == 0;
    if (has(is_held) && is_present()) {
      ++shared_.connects;
      shared_.connected += is_connected;
    }
    ::close(socket);
  }

  void bind_to_it(bool v6, bool everywhere, int sharing) {
    const int socket = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    constexpr int on = 1;
    if (sharing & 1) ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (sharing & 2) ::setsockopt(socket, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    const auto at = address_of(v6, everywhere, port());
    const bool is_bound = ::bind(socket, at.get(), at.size) == 0;
    if (has(is_held) && is_present()) {
      ++shared_.binds;
      shared_.bound += is_bound;
    }
    if (is_bound && listening_ < 0 && ::listen(socket, 64) == 0) {
      listening_ = socket;
    } else {
      ::close(socket);
    }
  }

  void accept_all() {
    for (int each = 0; (each = ::accept4(listening_, nullptr, nullptr, SOCK_NONBLOCK)) >= 0; ::close(each)) {
      ++shared_.accepted;
    }
    nap();
  }

  void stop_listening() {
    if (listening_ < 0) return;
    accept_all();
    ::close(listening_);
    listening_ = -1;
  }

  shared& shared_;
  std::uint64_t target_ = 0;
  int listening_ = -1;
};

intruder::intruder() {
  void* memory = ::mmap(nullptr, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  shared_ = ::new (memory) shared();
  pid_ = ::fork();
  if (pid_ < 0) throw std::runtime_error("could not fork");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::close_range(3, ~0U, 0);  // it must not keep the connections of this process open
  attack(*shared_).run();
}

intruder::~intruder() {
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  ::munmap(shared_, sizeof(shared));
}

void intruder::lead_to(const sockaddr* address) {
  const bool v6 = address->sa_family == AF_INET6;
  const auto port = v6 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                       : reinterpret_cast<const sockaddr_in*>(address)->sin_port;
  shared_->target = ntohs(port) | (v6 ? is_v6 : 0) | is_held | (++number_ << number_shift);
}

bool intruder::await_strikes(std::uint64_t count) const {
  const auto enough = shared_->strikes.load() + count;
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (shared_->strikes.load() < enough) {
    if (std::chrono::steady_clock::now() > until) return false;
    nap();
  }
  return true;
}

void intruder::let_go() { shared_->target = shared_->target.load() & ~is_held; }

}  // namespace zkrecipes::test

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

namespace zkrecipes::test {

// The calls of the system by which this process takes an address, connects to it and gives it back.

namespace {

thread_local shadowing* present = nullptr;

bool is_loopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    return reinterpret_cast<const sockaddr_in*>(address)->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
  }
  return address->sa_family == AF_INET6 &&
         IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
}

in_port_t port_of(const sockaddr* address) {
  return address->sa_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(address)->sin6_port
                                        : reinterpret_cast<const sockaddr_in*>(address)->sin_port;
}

/// The function of this name that comes after the one in this file.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

shadowing::shadowing(intruder& by, std::uint64_t strikes) : by_(by), strikes_(strikes) { present = this; }

shadowing::~shadowing() { present = nullptr; }

void shadowing::on_bound(int descriptor, const sockaddr* asked_for) {
  if (!is_loopback(asked_for) || port_of(asked_for) != 0) return;
  socklen_t size = sizeof address_;
  auto* address = reinterpret_cast<sockaddr*>(&address_);
  if (::getsockname(descriptor, address, &size) != 0) return;
  held_ = descriptor;
  by_.lead_to(address);
  if (by_.await_strikes(strikes_)) ++addresses_;
}

void shadowing::on_connect(const sockaddr* to) {
  const auto* held = reinterpret_cast<const sockaddr*>(&address_);
  if (held_ < 0 || to->sa_family != held->sa_family || !is_loopback(to) || port_of(to) != port_of(held)) return;
  if (by_.await_strikes(strikes_)) ++attempts_;
}

void shadowing::before_close(int descriptor) {
  if (descriptor != held_) return;
  by_.let_go();
  held_ = -1;
}

}  // namespace zkrecipes::test

// The linker takes these for the whole program, the C client included.

int bind(int descriptor, const sockaddr* address, socklen_t size) noexcept {
  static const auto original = zkrecipes::test::next<int(int, const sockaddr*, socklen_t)>("bind");
  const int result = original(descriptor, address, size);
  if (result == 0 && zkrecipes::test::present) zkrecipes::test::present->on_bound(descriptor, address);
  return result;
}

int connect(int descriptor, const sockaddr* address, socklen_t size) {
  static const auto original = zkrecipes::test::next<int(int, const sockaddr*, socklen_t)>("connect");
  const int result = original(descriptor, address, size);
  const int failure = errno;
  if (zkrecipes::test::present) zkrecipes::test::present->on_connect(address);
  errno = failure;
  return result;
}

int close(int descriptor) {
  static const auto original = zkrecipes::test::next<int(int)>("close");
  if (zkrecipes::test::present) zkrecipes::test::present->before_close(descriptor);
  return original(descriptor);
}
