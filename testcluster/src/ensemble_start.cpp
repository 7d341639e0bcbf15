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
      own(options, files.path()),
      keeper(files.temporary() ? files.path() : std::filesystem::path{}) {
  constexpr int tries = 4;
  constexpr int step = 10;
  int attempt = 0;
  while (!start_all(static_cast<std::uint16_t>(options.base_port + step * attempt))) {
    proxies.clear();
    links.reset();
    servers.clear();
    hosts.clear();
    if (++attempt == tries) {
      throw error("port in use: another program listens on every address at ports " +
                  std::to_string(options.base_port) + " and up; choose another base port");
    }
  }
}

bool ensemble::impl::peers_speak_tls() const {
  const bool is_set = std::any_of(options.extra_config.begin(), options.extra_config.end(),
                                  [](const auto& line) { return line.substr(0, line.find('=')) == "sslQuorum"; });
  return options.tls && !options.peer_proxies && !is_set && total() > 1;
}

std::string ensemble::impl::make_reachable(detail::server& which) {
  auto at = which.address(options.tls ? detail::server::secure_port : 0);
  const auto protocol = options.tls ? proxy_protocol::opaque : proxy_protocol::client;
  if (options.delay_proxies) {
    proxies.push_back(std::make_unique<testcluster::proxy>(at, proxy_options{options.delay, protocol}));
    at = proxies.back()->address();
  }
  if (!tls) return at;
  const auto address_of = [](const std::string& text) { return text.substr(0, text.find(':')); };
  const auto shown =
      tls->signer().issue({.name = "server." + std::to_string(which.id()),
                           .hosts = {address_of(which.address(0)), address_of(at), "localhost", "127.0.0.1"}});
  which.secure(shown, tls->signer().certificate(), peers_speak_tls());
  return at;
}

bool ensemble::impl::start_all(std::uint16_t base_port) {
  for (int id = 1; id <= total(); ++id) {
    servers.push_back(std::make_unique<detail::server>(id, files.path() / ("server." + std::to_string(id)), base_port));
  }
  if (options.peer_proxies) links.emplace(servers);
  if (options.tls && !tls) tls.emplace(files.path() / "tls");
  for (const auto& each : servers) hosts += (hosts.empty() ? "" : ",") + make_reachable(*each);
  for (const auto& each : servers) each->configure(options, own.lines() + members(*each));
  for (const auto& each : servers) each->start(keeper.group(), options);
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
