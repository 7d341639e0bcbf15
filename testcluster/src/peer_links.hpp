#pragma once

#include "server.hpp"

#include <testcluster/proxy.hpp>

#include <memory>
#include <string>
#include <vector>

namespace testcluster::detail {

/// The proxies between the servers: one for each port of another server that a server can connect to, two for
/// each ordered pair. Each server learns the addresses of the others' proxies from its own zoo.cfg, so
/// nothing reaches another server past them.
class peer_links {
 public:
  explicit peer_links(const std::vector<std::unique_ptr<server>>& all);

  proxy& at(int from, int to, peer_port port);

  /// The line of zoo.cfg by which `from` finds `to`.
  std::string quorum_line(int from, int to);

  /// Every proxy that one of the two reaches the other through.
  std::vector<proxy*> between(int one, int other);

 private:
  struct link {
    loopback_address address;  // a line of zoo.cfg has room for one, with two ports
    std::unique_ptr<proxy> quorum;
    std::unique_ptr<proxy> election;
  };
  link& find(int from, int to);
  void connect(const server& from, const server& to);
  std::size_t servers_;
  std::vector<link> links_;
};

}  // namespace testcluster::detail
