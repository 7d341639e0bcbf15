#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include <testcluster/error.hpp>
#include <testcluster/fixture.hpp>

#include "jute/messages.hpp"
#include "zk_client.hpp"

namespace testcluster::detail {

/// Removes a node with all nodes below it, and those that are created meanwhile, for a few rounds. Two requests for
/// each node, one after the other. It is no error if there is no such node. Throws testcluster::error that names a node
/// which can not be removed.
void remove_tree(zk_client& client, const std::string& root);

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

namespace testcluster {
namespace {

using namespace std::chrono_literals;

// Directly to a server: the faults of the proxies are none of the fixture's business.
detail::zk_client client_of(ensemble& cluster, std::chrono::milliseconds time_limit) {
  const auto first = cluster.nodes().front();
  return {detail::parse_endpoint(first.address),
          detail::clock::now() + time_limit,
          {.timeout_ms = 20'000},
          cluster.credentials()};
}

}  // namespace

fixture::~fixture() {
  if (chroot_.empty()) return;
  try {
    teardown();
  } catch (const std::exception& problem) {
    std::cerr << "testcluster: after a test that ended early: " << problem.what() << std::endl;
  }
}

void fixture::setup() {
  static int tests = 0;
  chroot_.clear();
  auto client = client_of(cluster(), 10s);
  const auto wanted = "/testcluster-" + std::to_string(++tests);
  client.create(wanted, "", 0);
  client.close();
  chroot_ = wanted;
}

void fixture::teardown() {
  const auto mine = std::exchange(chroot_, {});
  restore();
  if (mine.empty()) return;
  auto client = client_of(cluster(), 5min);
  client.sync(mine);
  detail::remove_tree(client, mine);
  client.close();
}

void fixture::restore() {
  auto& servers = cluster();
  servers.heal();
  for (const auto& each : servers.nodes())
    if (each.role == "paused") servers.resume(each.id);
  for (const auto& each : servers.nodes())
    if (!each.running) servers.start(each.id);
  servers.wait_serving();
}

}  // namespace testcluster
