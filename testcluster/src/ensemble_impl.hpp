#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "guard.hpp"
#include "own_credentials.hpp"
#include "peer_links.hpp"
#include "server.hpp"
#include "tls_folder.hpp"
#include "workspace.hpp"

namespace testcluster {

// The members are destroyed in the reverse order, as is needed: proxies first, then servers, guard and files.
struct ensemble::impl {
  explicit impl(const ensemble_options& given);

  detail::server& at(int id);
  detail::server& running(int id);
  std::vector<detail::server*> running();

  /// Empty if all running servers serve, otherwise what is missing.
  std::string obstacle();
  bool quorum();
  int total() const { return options.servers + options.observers; }
  bool votes(const detail::server& each) const { return each.id() <= options.servers; }
  int running_voters();
  void wait_serving();
  bool port_taken() const;
  void poll(const std::function<std::string()>& obstacle_now);

  /// Tries once to start all servers on the ports from base_port. False if another program has one of the ports.
  bool start_all(std::uint16_t base_port);

  /// The lines of zoo.cfg by which a server finds itself and the others.
  std::string members(const detail::server& viewer);

  /// The proxies between two servers. Throws if the two are the same or unknown, or if the ensemble has no such
  /// proxies.
  detail::peer_links& links_of(int one, int other);
  std::vector<testcluster::proxy*> links_around(int id);
  std::vector<std::string> faults_of(int id);

  /// The address at which clients reach a server, its own or that of its proxy, and the server's certificate for it.
  std::string make_reachable(detail::server& which);

  detail::tls_folder& secured();

  /// Whether the servers speak TLS with each other. Proxies between them have to read the first message of an election
  /// connection, and a line of the user's decides for itself.
  bool peers_speak_tls() const;

  ensemble_options options;
  detail::workspace files;
  detail::own_credentials own;
  std::optional<detail::tls_folder> tls;
  detail::guard keeper;
  std::vector<std::unique_ptr<detail::server>> servers;
  std::optional<detail::peer_links> links;
  std::vector<std::unique_ptr<testcluster::proxy>> proxies;
  std::string hosts;
};

}  // namespace testcluster
