// The rules for the nodes of one line.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/line_spec.hpp"
#include "run/stage.hpp"

namespace zkrecipes::simulation {

// The rules for a line in which several members may hold at once: readers, permits.

class shared_line {
 public:
  struct member {
    std::string name;
    const node* as;  ///< The committed node.
  };
  /// Whether the last of these members may hold while the others, which came before it, exist. In order of arrival.
  using compatible = std::function<bool(const std::vector<member>& upto)>;

  shared_line(stage& in, std::string parent, std::span<const std::string_view> markers, compatible may_hold)
      : in_(in), parent_(std::move(parent)), markers_(markers), may_hold_(std::move(may_hold)) {}

  void committed(const entry& what);
  /// A client was told that it holds, by the node with this path.
  void granted(int client, const std::string& path) const;
  /// Checks that no member watches a node behind its own: it would wait for a member that waits for it.
  void received(const connection& from, const backend::request& what) const;
  void check_quiet(const tree& nodes) const;
  /// All committed members, in order.
  std::vector<member> members() const;
  stage& in() const noexcept { return in_; }

 private:
  stage& in_;
  std::string parent_;
  std::span<const std::string_view> markers_;
  compatible may_hold_;
  std::map<std::int64_t, std::int32_t> last_;  // the last sequence number of each session
};

/// The GUID in a node name that the library made. A second node with the same GUID comes from a create whose reply was
/// lost.
std::string_view guid_of(std::string_view name);

class line_rules {
 public:
  line_rules(stage& in, std::string parent) : in_(in), parent_(std::move(parent)) {}

  /// A client was told that it owns the line by the node with this path and czxid (`token`).
  void granted(int client, std::int64_t session, const std::string& path, std::int64_t token, bool believes);

  void committed(const entry& what);

  /// Checks that a deleted node wakes only its own session and sessions that have stood right behind it.
  void watch_fired(const connection& to, const backend::watch_event& event);

  void check_quiet(const tree& nodes);

  /// The committed node of a session in this line; empty if there is none.
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
  std::map<std::string, grant> grants_;  // by path of the node
  struct member {
    std::string path;
    std::int64_t session;
  };
  std::map<std::string, member> members_;                 // committed members, by sequence number
  std::map<std::string, std::set<std::int64_t>> behind_;  // sessions that have stood right behind a node
};

}  // namespace zkrecipes::simulation
