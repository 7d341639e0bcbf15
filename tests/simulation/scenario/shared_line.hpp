// The rules for a line in which several members may hold at once: readers, permits.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "line/line_spec.hpp"
#include "run/stage.hpp"

namespace zkrecipes::simulation {

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

}  // namespace zkrecipes::simulation
