#include "tls/intruder.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <ctime>
#include <new>
#include <stdexcept>

#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace zkrecipes::test {

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
