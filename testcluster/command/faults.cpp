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

void mend(proxy& line, const fault_options& fault, bool mirrored, std::chrono::milliseconds initial_delay) {
  if (fault.kind == "freeze") return line.freeze(false, way_of(fault.way, mirrored));
  if (fault.kind == "refuse") return line.refuse(false);
  if (fault.kind == "delay") return line.set_delay(initial_delay);
  if (fault.kind == "bandwidth") return line.set_bandwidth(0);
  if (fault.kind == "partition") return line.freeze(false);
  line.heal();
}

/// Calls `act` with each proxy between two servers, and whether it leads from `other` to `one`.
template <class Act>
void for_lines_between(ensemble& cluster, int one, int other, const Act& act) {
  for (auto port : {peer_port::quorum, peer_port::election}) {
    act(cluster.peer_proxy(one, other, port), false);
    act(cluster.peer_proxy(other, one, port), true);
  }
}

}  // namespace

void inject(ensemble& cluster, int id, const fault_options& fault) {
  if (fault.peer == 0) return inject(cluster.proxy(id), fault, false);
  for_lines_between(cluster, id, fault.peer, [&](proxy& line, bool mirrored) { inject(line, fault, mirrored); });
}

void mend(ensemble& cluster, int id, const fault_options& fault) {
  const auto between_servers = [&](proxy& line, bool mirrored) {
    mend(line, fault, mirrored, std::chrono::milliseconds(0));
  };
  if (fault.peer != 0) return for_lines_between(cluster, id, fault.peer, between_servers);
  if (fault.kind != "partition") return mend(cluster.proxy(id), fault, false, cluster.options().delay);
  for (const auto& each : cluster.nodes())
    if (each.id != id) for_lines_between(cluster, id, each.id, between_servers);
}

void heal(ensemble& cluster) {
  cluster.heal();
  const auto nodes = cluster.nodes();
  const auto working = std::count_if(nodes.begin(), nodes.end(), [](const node_info& each) {
    return each.votes && each.running && each.role != "paused";
  });
  if (working > cluster.options().servers / 2) cluster.wait_serving();
}

}  // namespace testcluster::command
