// Another process of the same user, which tries to get between this process and the C client.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <sys/socket.h>
#include <sys/types.h>

namespace zkrecipes::test {

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
  std::uint64_t connected() const { return shared_->connected; }  ///< Those that succeeded.
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

}  // namespace zkrecipes::test
