#include "requests.hpp"

#include <map>

#include "faults.hpp"
#include "zk_client.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

json::object describe_node(const node_info& node) {
  json::object out{{"id", node.id},     {"client_port", node.client_port}, {"address", node.address}, {"pid", node.pid},
                   {"role", node.role}, {"running", node.running}};
  if (!node.proxy.empty()) out["proxy"] = node.proxy;
  if (!node.faults.empty()) out["faults"] = json::value_from(node.faults);
  if (!node.admin.empty()) out["admin"] = node.admin;
  return out;
}

void spoil(const json::object& request, ensemble& cluster, int id) {
  const auto& command = request.at("command").as_string();
  if (command != "fault" && command != "partition")
    throw error("unknown request; are supervisor and command of the same version?");
  const auto fault = fault_from(request.at("fault").as_object());
  if (command == "fault") return inject(cluster, id, fault);
  if (fault.peer == 0) return cluster.partition(id);
  cluster.partition(id, fault.peer);
}

}  // namespace

json::object describe(ensemble& cluster, const std::filesystem::path& dir) {
  json::array nodes;
  for (const auto& node : cluster.nodes()) nodes.push_back(describe_node(node));
  return {{"hosts", cluster.hosts()}, {"dir", dir.string()}, {"nodes", nodes}};
}

json::object execute(const json::object& request, ensemble& cluster, const std::filesystem::path& dir) {
  static const std::map<json::string, void (ensemble::*)(int)> on_server{{"kill", &ensemble::kill},
                                                                         {"pause", &ensemble::pause},
                                                                         {"resume", &ensemble::resume},
                                                                         {"heal", &ensemble::heal},
                                                                         {"restart", &ensemble::restart}};
  const auto& command = request.at("command").as_string();
  if (command == "status") return describe(cluster, dir);
  if (command == "expire") {
    const auto session = request.at("session").as_int64();
    cluster.expire(session);
    return {{"session", detail::session_text(session)}, {"expired", true}};
  }
  if (command == "heal" && !request.contains("id")) {
    heal(cluster);
    return describe(cluster, dir);
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
