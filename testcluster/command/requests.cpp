#include "requests.hpp"

#include <map>

#include "faults.hpp"
#include "zk_client.hpp"

namespace testcluster::command {
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
