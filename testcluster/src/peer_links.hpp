#pragma once

#include <memory>
#include <string>
#include <vector>

#include <testcluster/proxy.hpp>

#include "server.hpp"

namespace testcluster::detail {

/// The proxies between the servers: two for each ordered pair, one for each port at which the first server connects to
/// the second. Each server's own zoo.cfg names the proxies in place of the other servers, so no connection bypasses
/// them.
class peer_links {
 public:
  explicit peer_links(const std::vector<std::unique_ptr<server>>& all);

  proxy& at(int from, int to, peer_port port);

  /// The address at which `from` reaches `to`, for the line `server.N` of zoo.cfg.
  std::string quorum_address(int from, int to);

  /// All proxies through which these two servers reach each other.
  std::vector<proxy*> between(int one, int other);

 private:
  struct link {
    loopback_address address;  // one for both proxies: a line of zoo.cfg has room for one address with two ports
    std::unique_ptr<proxy> quorum;
    std::unique_ptr<proxy> election;
  };
  link& find(int from, int to);
  void connect(const server& from, const server& to);
  std::size_t servers_;
  std::vector<link> links_;
};

}  // namespace testcluster::detail
