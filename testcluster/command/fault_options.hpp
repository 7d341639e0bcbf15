#pragma once

#include <boost/json.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace testcluster::command {

/// What `fault` and `partition` are told beyond the server. Only what belongs to the kind is looked at.
struct fault_options {
  std::string kind;
  int peer = 0;             // the other server; 0: the line of the clients, or everybody
  std::int64_t amount = 0;  // milliseconds of delay, bytes per second
  std::string closed = "server";
  std::string way = "both";
  std::string operation;
  int k = 1;
};

/// Adds `fault KIND ...`. `add` makes a subcommand of an app, with what every command has.
void add_fault(
    CLI::App& app, int& id, fault_options& into,
    const std::function<CLI::App*(CLI::App&, const std::string& name, const std::string& what)>& add);

/// As a part of a request to the supervisor, and back. Throws std::exception if it is none.
boost::json::object to_json(const fault_options& fault);
fault_options fault_from(const boost::json::object& request);

}  // namespace testcluster::command
