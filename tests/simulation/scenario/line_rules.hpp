// What has to be true of the nodes in one line.
#pragma once

#include "run/stage.hpp"

#include <map>
#include <set>
#include <string>

namespace zkrecipes::simulation {

class line_rules {
 public:
  line_rules(stage& in, std::string parent) : in_(in), parent_(std::move(parent)) {}

  /// A client was told that the line is its own, by a node with this path and czxid.
  void granted(int client, const std::string& path, std::int64_t token, bool believes);

  void committed(const entry& what);

  /// Of all that stand in line one is woken per departure.
  void watch_fired(const connection& to, const backend::watch_event& event);

  void check_quiet(const tree& nodes);

  /// The node of a session in this line, as the servers have it.
  std::string node_of(std::int64_t session) const;

 private:
  stage& in_;
  std::string parent_;
  std::int64_t last_token_ = 0;
  std::set<std::int64_t> tokens_;
  std::map<std::string, std::int64_t> owners_;           // sessions by the node
  std::map<std::string, std::set<std::int64_t>> woken_;  // sessions by the node that went
};

}  // namespace zkrecipes::simulation
