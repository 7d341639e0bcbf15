#include <exception>
#include <iostream>
#include <utility>

#include <testcluster/fixture.hpp>

#include "jute/messages.hpp"
#include "node_tree.hpp"
#include "zk_client.hpp"

namespace testcluster {
namespace {

using namespace std::chrono_literals;

// Directly to a server: the faults of the proxies are none of the fixture's business.
detail::zk_client client_of(ensemble& cluster, std::chrono::milliseconds patience) {
  const auto first = cluster.nodes().front();
  return {detail::parse_endpoint(first.address),
          detail::clock::now() + patience,
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
