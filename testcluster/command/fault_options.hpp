#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

namespace testcluster::command {

/// The arguments of `fault` and `partition`, apart from the server. Only those of the given kind are used.
struct fault_options {
  std::string kind;
  int peer = 0;             // the other server; 0: the clients (fault), or all other servers (partition)
  std::int64_t amount = 0;  // milliseconds of delay, bytes per second
  std::string closed = "server";
  std::string way = "both";
  std::string operation;
  int k = 1;
};

/// Accepts only these words; the error message lists them.
CLI::Validator one_of(std::vector<std::string> words);

/// Adds the command `fault KIND ...`. `add` makes a subcommand of an app, with the options that every command has.
void add_fault(CLI::App& app, int& id, fault_options& into,
               const std::function<CLI::App*(CLI::App&, const std::string& name, const std::string& what)>& add);

/// Adds the arguments of `partition` to a command.
void add_partition_options(CLI::App& partition, int& id, fault_options& into);

/// The request to the supervisor that injects a fault, or a partition (kind "partition").
boost::json::object fault_request(int id, const fault_options& fault);

/// Convert to a part of a request to the supervisor, and back. fault_from throws std::exception if that part is missing
/// or malformed.
boost::json::object to_json(const fault_options& fault);
fault_options fault_from(const boost::json::object& request);

/// The id of a session as text: hexadecimal after 0x, as ZooKeeper and zkadmin write it, else decimal. Nullopt for
/// anything else, 0 included, which is no session.
std::optional<std::int64_t> parse_session(const std::string& text);

/// How a session id is written, for error messages.
inline constexpr const char* session_syntax = "a session id: hexadecimal with 0x, as ZooKeeper writes it, or decimal";

}  // namespace testcluster::command
