#include "faults.hpp"

#include <algorithm>
#include <chrono>

#include <testcluster/proxy.hpp>

namespace testcluster::command {
namespace {

proxy::side side_of(const std::string& name, bool mirrored) {
  return (name == "client") != mirrored ? proxy::side::client : proxy::side::server;
}

proxy::way way_of(const std::string& name, bool mirrored) {
  if (name == "both") return proxy::way::both;
  return (name == "to-server") != mirrored ? proxy::way::to_server : proxy::way::to_client;
}

/// `mirrored`: the proxy runs in the opposite direction, so the client and the server of the fault change places.
void inject(proxy& line, const fault_options& fault, bool mirrored) {
  if (fault.kind == "cut") return line.cut();
  if (fault.kind == "freeze") return line.freeze(true, way_of(fault.way, mirrored));
  if (fault.kind == "refuse") return line.refuse(true);
  if (fault.kind == "delay") return line.set_delay(std::chrono::milliseconds(fault.amount));
  if (fault.kind == "bandwidth") return line.set_bandwidth(static_cast<std::uint64_t>(fault.amount));
  if (fault.kind == "half-open") return line.half_open(side_of(fault.closed, mirrored));
  if (fault.kind == "blackhole") return line.blackhole(way_of(fault.way, mirrored));
  if (fault.kind == "drop-reply") return line.drop_reply(op::code_of(fault.operation), fault.k);
  if (fault.kind == "drop-request") return line.drop_request(op::code_of(fault.operation), fault.k);
  throw error("unknown fault; are supervisor and command of the same version?");
}

}  // namespace

void inject(ensemble& cluster, int id, const fault_options& fault) {
  if (fault.peer == 0) return inject(cluster.proxy(id), fault, false);
  for (auto port : {peer_port::quorum, peer_port::election}) {
    inject(cluster.peer_proxy(id, fault.peer, port), fault, false);
    inject(cluster.peer_proxy(fault.peer, id, port), fault, true);
  }
}

void heal(ensemble& cluster) {
  cluster.heal();
  const auto nodes = cluster.nodes();
  const auto working = std::count_if(nodes.begin(), nodes.end(),
                                     [](const node_info& each) { return each.running && each.role != "paused"; });
  if (static_cast<std::size_t>(working) > nodes.size() / 2) cluster.wait_serving();
}

}  // namespace testcluster::command
