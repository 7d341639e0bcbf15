#pragma once

#include "guard.hpp"
#include "peer_links.hpp"
#include "server.hpp"
#include "workspace.hpp"

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace testcluster {

// The order of the members is the order of the end, backwards: proxies, servers, guard, files.
struct ensemble::impl {
  explicit impl(const ensemble_options& given);

  detail::server& at(int id);
  detail::server& running(int id);
  std::vector<detail::server*> running();

  /// Empty when all is well, otherwise what is missing.
  std::string obstacle();
  bool quorum();
  void wait_serving();
  bool port_taken() const;
  void poll(const std::function<std::string()>& obstacle_now);

  /// One attempt to bring all servers up on the ports from base_port. False if somebody else has one of them.
  bool start_all(std::uint16_t base_port);

  /// The lines of zoo.cfg by which a server finds itself and the others.
  std::string members(const detail::server& viewer);

  /// The links, for two servers that can have one.
  detail::peer_links& links_of(int one, int other);
  std::vector<testcluster::proxy*> links_around(int id);
  std::vector<std::string> faults_of(int id);

  ensemble_options options;
  detail::workspace files;
  detail::guard keeper;
  std::vector<std::unique_ptr<detail::server>> servers;
  std::optional<detail::peer_links> links;
  std::vector<std::unique_ptr<testcluster::proxy>> proxies;
  std::string hosts;
};

}  // namespace testcluster
