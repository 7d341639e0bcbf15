#include "node_tree.hpp"

#include <testcluster/error.hpp>

namespace testcluster::detail {
namespace {

/// The paths of `root` and all nodes below it, each after its parent.
std::vector<std::string> nodes_of(zk_client& client, const std::string& root) {
  std::vector<std::string> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto prefix = found[i] + "/";  // a copy, because the vector grows
    for (const auto& name : client.children(found[i])) found.push_back(prefix + name);
  }
  return found;
}

}  // namespace

void remove_tree(zk_client& client, const std::string& root) {
  constexpr int rounds = 5;
  std::string kept;
  for (int round = 0; round < rounds; ++round) {
    kept.clear();
    const auto nodes = nodes_of(client, root);
    for (auto each = nodes.rbegin(); each != nodes.rend(); ++each)
      if (!client.remove(*each)) kept = *each;
    if (kept.empty()) return;
  }
  throw error("could not remove " + kept + ": a client goes on creating nodes below it");
}

}  // namespace testcluster::detail
