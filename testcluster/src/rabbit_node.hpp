#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <testcluster/rabbit_broker.hpp>

#include "broker_process.hpp"
#include "connection.hpp"
#include "workspace.hpp"

namespace testcluster::detail {

/// The environment of an Erlang machine, which has nothing of ours but PATH. `home` has the cookie. No epmd is started:
/// the nodes find each other by address and port. Nor does the machine write a core dump, which would have secrets.
std::vector<std::string> erlang_environment(const std::filesystem::path& home);

/// That of a RabbitMQ node `name` with its files in `folder`. Nothing that the machine has configured for a broker of
/// its own is read. `helper`: at which address an Erlang machine listens that the node starts.
std::vector<std::string> rabbit_environment(const std::filesystem::path& home, const std::filesystem::path& folder,
                                            const std::string& name, const std::string& helper, int distribution_port);

/// One node of a RabbitMQ cluster: its folder, which is removed with the object, its address, and its process.
class rabbit_node {
 public:
  static constexpr int distribution_offset = 20'000;  ///< From the port for clients to that for the other nodes.

  /// `base_port`: for clients; the next one is that for AMQPS.
  rabbit_node(int number, std::filesystem::path folder, int base_port);

  int number() const { return number_; }
  const std::string& host() const { return host_.text(); }
  /// As Erlang has it: an address behind the @ needs no resolver.
  std::string name() const { return "rabbit@" + host(); }
  const std::string& address() const { return address_; }
  const std::string& secure_address() const { return secure_address_; }
  broker_process& process() { return process_; }

  /// The certificate that it shows, and the authority whose certificates it takes. Comes before configure().
  void secure(const certificate_files& own, const std::filesystem::path& trusted);

  /// Writes its files. If it has no data yet, it joins the cluster of the node `first`, or is that node.
  void configure(const rabbit_broker_options& options, const std::string& first);

  /// Starts the process. Throws testcluster::error if another program listens on one of its ports.
  void launch(const std::filesystem::path& home, pid_t group);

  /// Whether it begins an AMQP connection. Asks for at most a second.
  bool answers() const;
  /// Whether its list of queues names this one.
  bool keeps(const std::string& queue) const;

 private:
  void require_free(int port) const;
  std::string lines(const rabbit_broker_options& options, const std::string& first) const;

  int number_;
  owned_folder folder_;
  loopback_address host_;
  loopback_address helper_;
  int base_port_;
  std::string address_;
  std::string secure_address_;
  std::string secure_lines_;
  broker_process process_;
};

}  // namespace testcluster::detail
