// What has to be true of a line whose members may hold together: readers, permits.
#pragma once

#include "run/stage.hpp"

#include "line/node_name.hpp"

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zkrecipes::simulation {

class shared_line {
 public:
  struct member {
    std::string name;
    const node* as;  ///< As the servers have it.
  };
  /// Whether the last of these may hold while the others, which came before it, are there. In order of arrival.
  using compatible = std::function<bool(const std::vector<member>& upto)>;

  shared_line(stage& in, std::string parent, std::span<const std::string_view> markers, compatible may_hold)
      : in_(in), parent_(std::move(parent)), markers_(markers), may_hold_(std::move(may_hold)) {}

  void committed(const entry& what);
  /// A client was told that it holds by the node with this path.
  void granted(int client, const std::string& path) const;
  /// Nobody looks behind itself, where it would wait for one that waits for it.
  void received(const connection& from, const backend::request& what) const;
  void check_quiet(const tree& nodes) const;
  /// All that stand in line, in order.
  std::vector<member> members() const;
  stage& in() const noexcept { return in_; }

 private:
  stage& in_;
  std::string parent_;
  std::span<const std::string_view> markers_;
  compatible may_hold_;
  std::map<std::int64_t, std::int32_t> last_;  // the number that each session was given last
};

}  // namespace zkrecipes::simulation
