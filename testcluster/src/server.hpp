#pragma once

#include <string>

#include <testcluster/ensemble.hpp>

#include "connection.hpp"

namespace testcluster::detail {

/// One server: its folder, which is removed with the object, its address, and its process while it runs.
class server {
 public:
  static constexpr int secure_port = 4;  ///< The port for TLS, counted from the first port.

  enum class state { stopped, running, paused };

  server(int id, std::filesystem::path folder, std::uint16_t base_port);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  int id() const { return id_; }
  pid_t pid() const { return pid_; }
  tcp::endpoint client_endpoint() const;
  std::string address(int port_offset) const;

  /// The lines of zoo.cfg for TLS: which certificate the server shows, and whose certificates it takes. `peers`: also
  /// to the other servers.
  void secure(const certificate_files& own, const std::filesystem::path& trusted, bool peers);

  /// The address at which the other servers reach it, for the line `server.N` of zoo.cfg.
  std::string quorum_address() const;

  /// `further` are the last lines of zoo.cfg: those that name all servers and say what this one is, and others.
  void configure(const ensemble_options& options, const std::string& further);
  void start(pid_t group, const ensemble_options& options);
  void kill();
  void stop(std::chrono::milliseconds time_limit);
  void pause();
  void resume();

  /// The present state. Also notices if the process has ended by itself.
  state current();

  /// leader, follower, observer, standalone, looking, paused or stopped. Asks the server, for at most half a second.
  std::string role();

  /// The log since the server was last started.
  std::string log() const;
  std::filesystem::path log_file() const { return folder_ / "log"; }

 private:
  void end(int signal_number);
  int id_;
  std::filesystem::path folder_;
  loopback_address address_;
  std::uint16_t base_port_;
  std::string secure_lines_;
  pid_t pid_ = 0;
  bool paused_ = false;
  std::uintmax_t log_start_ = 0;
};

}  // namespace testcluster::detail
