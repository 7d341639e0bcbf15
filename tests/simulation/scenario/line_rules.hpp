// What has to be true of the nodes in one line.
#pragma once

#include "run/stage.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace zkrecipes::simulation {

/// Of a name that the library gave: a second node with the same GUID is a ghost of a lost reply.
std::string_view guid_of(std::string_view name);

class line_rules {
 public:
  line_rules(stage& in, std::string parent) : in_(in), parent_(std::move(parent)) {}

  /// A client was told that the line is its own, by a node with this path and czxid.
  void granted(int client, std::int64_t session, const std::string& path, std::int64_t token, bool believes);

  void committed(const entry& what);

  /// Of all that stand in line the one behind is woken per departure, and nobody else.
  void watch_fired(const connection& to, const backend::watch_event& event);

  void check_quiet(const tree& nodes);

  /// The node of a session in this line, as the servers have it.
  std::string node_of(std::int64_t session) const;

 private:
  void arrived(const change& what);
  void departed(const std::string& path);
  void removed(const std::string& path);

  stage& in_;
  std::string parent_;
  std::int64_t last_token_ = 0;
  std::set<std::int64_t> tokens_;
  struct grant {
    int client;
    std::int64_t token;
  };
  std::map<std::string, grant> grants_;  // by the node
  struct member {
    std::string path;
    std::int64_t session;
  };
  std::map<std::string, member> members_;                 // as committed, by the sequence number
  std::map<std::string, std::set<std::int64_t>> behind_;  // sessions that have stood right behind a node
};

}  // namespace zkrecipes::simulation
