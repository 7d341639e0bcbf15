#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "connection.hpp"

namespace testcluster::detail {

/// Asks RabbitMQ nodes what AMQP does not tell, each time by an Erlang machine that lives for that question only: this
/// takes a fifth of a second of processor, and rabbitmqctl several times as much.
class rabbit_probe {
 public:
  /// `home` has the nodes' cookie. `host`: a loopback address for its name; it does not listen. `port`: at which the
  /// nodes speak with each other. `group`: the process group that it joins.
  rabbit_probe(std::filesystem::path home, std::string host, int port, pid_t group);

  /// Waits until each of these nodes knows that the others run. False: it is not so at the deadline.
  bool await_cluster(const std::vector<std::string>& nodes, clock::time_point deadline) const;

  /// The node that leads a quorum queue, as the first of these nodes says that can tell.
  std::optional<std::string> leader_of(const std::string& virtual_host, const std::string& queue,
                                       const std::vector<std::string>& nodes, clock::time_point deadline) const;

 private:
  std::string ask(const char* program, const std::vector<std::string>& arguments, clock::time_point deadline) const;

  std::filesystem::path home_;
  std::string host_;
  int port_;
  pid_t group_;
};

}  // namespace testcluster::detail
