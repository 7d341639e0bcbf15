#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <sys/types.h>

#include <testcluster/authority.hpp>
#include <testcluster/error.hpp>

namespace testcluster {

/// What a broker still has after kill().
enum class redis_durability {
  always,  ///< Everything that it has acknowledged: `appendonly yes`, `appendfsync always`.
  none,    ///< What it had at the last SAVE that somebody has asked for, or nothing: there is no append-only file.
};

/// The settings of a broker. Values out of range are refused with std::invalid_argument.
struct redis_broker_options {
  redis_durability durability = redis_durability::always;

  /// The directory of data, configuration and log. Empty: a temporary directory, which is removed at the end. Otherwise
  /// the directory must either not exist yet or be empty; at the end only what the broker created is removed.
  std::filesystem::path dir{};

  /// The password of the default user. It stands in the configuration file, which has the mode 0600. Empty: none is
  /// needed. No quotes, backslashes and control characters.
  std::string password{};

  /// On a loopback address of the broker's own, so that every port is free but those on which a program listens on
  /// every address.
  std::uint16_t port = 6379;

  /// Also listens for TLS, at the next port, with a certificate that is made at the start, and asks each client for one
  /// of the same authority.
  bool tls = false;

  /// Further lines for redis.conf.
  std::vector<std::string> extra_config{};

  /// How long start-up and start() may take. More than zero.
  std::chrono::milliseconds start_timeout{10'000};
};

/// A real Redis server on this machine, for as long as the object lives. The constructor returns when it answers. The
/// server ends with the object, and also when its process ends in any other way, SIGKILL included. The program
/// redis-server is looked up in PATH (Debian: redis-server).
///
/// Functions throw testcluster::error if the state does not allow the call, such as kill() of a broker that does not
/// run. Thread safety: distinct objects: safe; shared object: only address() and dir().
class redis_broker {
 public:
  explicit redis_broker(const redis_broker_options& options = {});
  ~redis_broker();
  redis_broker(const redis_broker&) = delete;
  redis_broker& operator=(const redis_broker&) = delete;

  /// host:port; the same throughout the broker's life.
  const std::string& address() const;
  const std::filesystem::path& dir() const;
  /// host:port for TLS, for as long as the broker lives. Throws testcluster::error without `tls`, as the next two do.
  const std::string& secure_address() const;
  /// It has signed the broker's certificate.
  testcluster::authority& authority();
  /// A certificate that the broker takes.
  const certificate_files& client_certificate() const;

  bool running();
  pid_t pid();  ///< 0: it does not run

  void kill();     ///< SIGKILL; returns when the process is gone
  void stop();     ///< SIGTERM, and SIGKILL after start_timeout; returns when the process is gone
  void start();    ///< with the data it had; returns when it answers
  void restart();  ///< kill() if it runs, then start()
  void pause();    ///< SIGSTOP
  void resume();   ///< SIGCONT

  /// What it has printed, over all its starts.
  std::string log() const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace testcluster
