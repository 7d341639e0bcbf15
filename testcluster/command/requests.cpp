#include "requests.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "fault_options.hpp"
#include "zk_client.hpp"

namespace testcluster::command {

/// Injects a fault into the connections of clients to a server or, if `fault.peer` is set, between that server and
/// `id`.
void inject(ensemble& cluster, int id, const fault_options& fault);

/// Ends such a fault, or a partition (kind "partition"). The other faults of the connections stay, unless it is
/// half-open or blackhole, which only end together with all others.
void mend(ensemble& cluster, int id, const fault_options& fault);

/// Ends all faults. If a quorum of the voters runs, waits until they serve again.
void heal(ensemble& cluster);

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

namespace {

namespace json = boost::json;

json::object describe_node(const node_info& node) {
  json::object out{{"id", node.id},     {"client_port", node.client_port}, {"address", node.address}, {"pid", node.pid},
                   {"role", node.role}, {"running", node.running},         {"votes", node.votes}};
  if (!node.secure.empty()) out["secure"] = node.secure;
  if (!node.proxy.empty()) out["proxy"] = node.proxy;
  if (!node.faults.empty()) out["faults"] = json::value_from(node.faults);
  if (!node.admin.empty()) out["admin"] = node.admin;
  return out;
}

void spoil(const json::object& request, ensemble& cluster, int id) {
  const auto& command = request.at("command").as_string();
  if (command != "fault" && command != "partition" && command != "mend")
    throw error("unknown request; are supervisor and command of the same version?");
  const auto fault = fault_from(request.at("fault").as_object());
  if (command == "fault") return inject(cluster, id, fault);
  if (command == "mend") return mend(cluster, id, fault);
  if (fault.peer == 0) return cluster.partition(id);
  cluster.partition(id, fault.peer);
}

json::object expire(const json::object& request, ensemble& cluster) {
  if (const auto* path = request.if_contains("path")) {
    const auto session = cluster.expire_owner(std::string(path->as_string()));
    return {{"session", detail::session_text(session)}, {"path", *path}, {"expired", true}};
  }
  const auto session = request.at("session").as_int64();
  cluster.expire(session);
  return {{"session", detail::session_text(session)}, {"expired", true}};
}

json::object describe_certificates(ensemble& cluster) {
  const auto& client = cluster.client_certificate();
  return {{"authorities", cluster.authority().certificate().string()},
          {"certificate", client.certificate.string()},
          {"key", client.key.string()}};
}

}  // namespace

json::object describe(ensemble& cluster, const place& where) {
  json::array nodes;
  for (const auto& node : cluster.nodes()) nodes.push_back(describe_node(node));
  json::object out{{"hosts", cluster.hosts()}, {"dir", where.path().string()}};
  if (!where.name().empty()) out["name"] = where.name();
  if (cluster.options().tls) out["tls"] = describe_certificates(cluster);
  if (cluster.options().tls) out["peer_tls"] = cluster.peers_speak_tls();
  if (cluster.options().digest_superuser) out["superuser"] = cluster.superuser_file().string();
  if (cluster.options().auth_required) out["auth_required"] = true;
  out["proxies"] = cluster.options().delay_proxies;
  out["peer_proxies"] = cluster.options().peer_proxies;
  out["nodes"] = nodes;
  return out;
}

json::object execute(const json::object& request, ensemble& cluster, const place& where) {
  static const std::map<json::string, void (ensemble::*)(int)> on_server{{"kill", &ensemble::kill},
                                                                         {"pause", &ensemble::pause},
                                                                         {"resume", &ensemble::resume},
                                                                         {"heal", &ensemble::heal},
                                                                         {"restart", &ensemble::restart}};
  const auto& command = request.at("command").as_string();
  if (command == "status") return describe(cluster, where);
  if (command == "expire") return expire(request, cluster);
  if (command == "heal" && !request.contains("id")) {
    heal(cluster);
    return describe(cluster, where);
  }
  const auto id = static_cast<int>(request.at("id").as_int64());
  if (const auto found = on_server.find(command); found != on_server.end()) {
    (cluster.*found->second)(id);
  } else {
    spoil(request, cluster, id);
  }
  return describe_node(cluster.nodes().at(id - 1));
}

}  // namespace testcluster::command
