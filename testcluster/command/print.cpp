#include "print.hpp"

#include <iomanip>
#include <ostream>

#include "printable.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

std::string text(const json::object& from, const char* key) {
  const auto* value = from.if_contains(key);
  if (value == nullptr) return "-";
  return printable(value->is_string() ? std::string(value->as_string()) : json::serialize(*value));
}

void print_faults(std::ostream& out, const json::object& node, const std::string& indent) {
  const auto* faults = node.if_contains("faults");
  if (faults == nullptr) return;
  for (const auto& each : faults->as_array()) out << indent << printable(each.as_string()) << "\n";
}

void print_cluster(std::ostream& out, const json::object& cluster) {
  out << "hosts  " << text(cluster, "hosts") << "\ndir    " << text(cluster, "dir") << "\n";
  if (cluster.contains("name")) out << "name   " << text(cluster, "name") << "\n";
  if (const auto* tls = cluster.if_contains("tls")) {
    for (const auto& [key, value] : tls->as_object())
      out << std::setw(0) << key << "  " << text(tls->as_object(), key.data()) << "\n";
  }
  if (cluster.contains("superuser")) out << "superuser  " << text(cluster, "superuser") << "\n";
  out << "\n" << std::left;
  out << std::setw(4) << "ID" << std::setw(12) << "ROLE" << std::setw(9) << "PID" << std::setw(23) << "ADDRESS"
      << "PROXY\n";
  for (const auto& entry : cluster.at("nodes").as_array()) {
    const auto& node = entry.as_object();
    out << std::setw(4) << text(node, "id") << std::setw(12) << text(node, "role") << std::setw(9) << text(node, "pid")
        << std::setw(23) << text(node, "address") << text(node, "proxy") << "\n";
    print_faults(out, node, "    ");
  }
}

void print_list(std::ostream& out, const json::array& clusters) {
  if (clusters.empty()) return;
  out << std::left << std::setw(20) << "NAME" << std::setw(8) << "STATE"
      << "DIR\n";
  for (const auto& each : clusters) {
    const auto& entry = each.as_object();
    out << std::setw(20) << text(entry, "name") << std::setw(8) << text(entry, "state") << text(entry, "dir") << "\n";
  }
}

}  // namespace

void print(std::ostream& out, const json::object& outcome, const arguments& wanted) {
  if (wanted.json) {
    out << printable_json(json::serialize(outcome)) << "\n";
  } else if (outcome.contains("clusters")) {
    print_list(out, outcome.at("clusters").as_array());
  } else if (outcome.contains("nodes")) {
    print_cluster(out, outcome);
  } else if (outcome.contains("session")) {
    out << "session " << text(outcome, "session") << " expired\n";
  } else if (outcome.contains("ended")) {
    for (const auto& each : outcome.at("ended").as_array()) out << text(each.as_object(), "dir") << " removed\n";
  } else {
    out << "server " << text(outcome, "id") << " is " << text(outcome, "role") << "\n";
    print_faults(out, outcome, "  ");
  }
}

}  // namespace testcluster::command
