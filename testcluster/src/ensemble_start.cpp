#include <algorithm>

#include "ensemble_impl.hpp"
#include "options.hpp"

namespace testcluster {
namespace {

const ensemble_options& validated(const ensemble_options& options) {
  detail::validate(options);
  return options;
}

}  // namespace

ensemble::impl::impl(const ensemble_options& given)
    : options(validated(given)),
      files(options.dir),
      keeper(files.temporary() ? files.path() : std::filesystem::path{}) {
  constexpr int tries = 4;
  constexpr int step = 10;
  int attempt = 0;
  while (!start_all(static_cast<std::uint16_t>(options.base_port + step * attempt))) {
    links.reset();
    servers.clear();
    if (++attempt == tries) {
      throw error("port in use: another program listens on every address at ports " +
                  std::to_string(options.base_port) + " and up; choose another base port");
    }
  }
  for (const auto& each : servers) {
    std::string reachable_at = each->address(0);
    if (options.delay_proxies) {
      proxies.push_back(std::make_unique<testcluster::proxy>(reachable_at, proxy_options{options.delay}));
      reachable_at = proxies.back()->address();
    }
    hosts += (hosts.empty() ? "" : ",") + reachable_at;
  }
}

bool ensemble::impl::start_all(std::uint16_t base_port) {
  for (int id = 1; id <= total(); ++id) {
    servers.push_back(std::make_unique<detail::server>(id, files.path() / ("server." + std::to_string(id)), base_port));
  }
  if (options.peer_proxies) links.emplace(servers);
  for (const auto& each : servers) each->configure(options, members(*each));
  for (const auto& each : servers) each->start(keeper.group(), options.heap_mib);
  try {
    poll([this] {
      auto missing = obstacle();
      if (!missing.empty() && port_taken()) throw error("port in use");
      return missing;
    });
    return true;
  } catch (const error&) {
    if (port_taken()) return false;
    throw;
  }
}

std::string ensemble::impl::members(const detail::server& viewer) {
  std::string lines;
  if (servers.size() == 1) return lines;
  // A single voter would run standalone, where observers find no leader.
  if (options.servers == 1) lines += "standaloneEnabled=false\n";
  if (!votes(viewer)) lines += "peerType=observer\n";
  for (const auto& each : servers) {
    const bool direct = !links || each->id() == viewer.id();
    lines += "server." + std::to_string(each->id()) + "=" +
             (direct ? each->quorum_address() : links->quorum_address(viewer.id(), each->id())) +
             (votes(*each) ? "\n" : ":observer\n");
  }
  return lines;
}

// Reads the logs, because a server does not always end when a port is taken: if it can not listen to followers, it
// stays in leader election without success.
bool ensemble::impl::port_taken() const {
  return std::any_of(servers.begin(), servers.end(),
                     [](const auto& each) { return each->log().find("BindException") != std::string::npos; });
}

}  // namespace testcluster
