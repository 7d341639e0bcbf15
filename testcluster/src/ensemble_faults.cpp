#include "ensemble_impl.hpp"

namespace testcluster {

namespace {

std::string pair_of(int one, int other) { return "servers " + std::to_string(one) + " and " + std::to_string(other); }

}  // namespace

detail::peer_links& ensemble::impl::links_of(int one, int other) {
  at(one);
  at(other);
  if (one == other) throw std::invalid_argument(pair_of(one, other) + " are the same; name two");
  if (!links)
    throw error(
        "this ensemble has no proxies between its servers; set ensemble_options::peer_proxies, or start it "
        "with: testcluster up --proxies");
  return *links;
}

std::vector<proxy*> ensemble::impl::links_around(int id) {
  std::vector<testcluster::proxy*> all;
  for (const auto& each : servers) {
    if (each->id() == id) continue;
    for (auto* link : links_of(id, each->id()).between(id, each->id())) all.push_back(link);
  }
  return all;
}

proxy& ensemble::proxy(int id) {
  impl_->at(id);
  if (!impl_->options.delay_proxies)
    throw error(
        "this ensemble has no proxies; set ensemble_options::delay_proxies, or start it with: testcluster up "
        "--proxies");
  return *impl_->proxies[id - 1];
}

proxy& ensemble::peer_proxy(int from, int to, peer_port port) { return impl_->links_of(from, to).at(from, to, port); }

void ensemble::partition(int id) {
  impl_->at(id);
  if (impl_->servers.size() == 1) throw error("there is only one server: nothing to cut it off from");
  for (auto* link : impl_->links_around(id)) link->freeze(true);
}

void ensemble::partition(int one, int other) {
  for (auto* link : impl_->links_of(one, other).between(one, other)) link->freeze(true);
}

void ensemble::heal() {
  for (const auto& each : impl_->servers) heal(each->id());
}

void ensemble::heal(int id) {
  impl_->at(id);
  if (impl_->options.delay_proxies) impl_->proxies[id - 1]->heal();
  if (!impl_->links) return;
  for (auto* link : impl_->links_around(id)) link->heal();
}

std::vector<std::string> ensemble::impl::faults_of(int id) {
  std::vector<std::string> all;
  const auto add = [&all](const std::string& where, const testcluster::proxy& at) {
    for (const auto& fault : at.faults()) all.push_back(where + fault);
  };
  if (options.delay_proxies) add("clients: ", *proxies[id - 1]);
  for (const auto& each : servers) {
    if (!links || each->id() == id) continue;
    const auto to = "to server " + std::to_string(each->id());
    add(to + " (quorum): ", links->at(id, each->id(), peer_port::quorum));
    add(to + " (election): ", links->at(id, each->id(), peer_port::election));
  }
  return all;
}

}  // namespace testcluster
