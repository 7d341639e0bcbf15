#include "model/rabbit/rabbit_cluster.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "model/rabbit/rabbit_peer.hpp"

namespace zkrecipes::simulation {

namespace {

constexpr std::uint16_t first_port = 5672;
constexpr std::uint32_t limit_by_itself = 2;
constexpr const char* broker_address = "10.0.1.1";

}  // namespace

rabbit_cluster::rabbit_cluster(clockwork& clock, broker_network& network, std::uint64_t seed, rabbit_observer& observer)
    : clock_(clock),
      network_(network),
      seed_(seed),
      chance_(seed, 1'990),
      major_version_(chance(seed, 1'989).one_in(2) ? 4 : 3),
      observer_(observer) {
  for (int i = 0; i < nodes; ++i) {
    auto& each = nodes_[static_cast<std::size_t>(i)];
    each = std::make_unique<member>(*this, i);
    network_.listen(address(i), *each);
  }
}

/// Queues own the peers that consume them, and peers own their queues.
rabbit_cluster::~rabbit_cluster() {
  for (const auto& each : peers_) each->detach();
}

backend::endpoint rabbit_cluster::address(int node) {
  return {broker_address, static_cast<std::uint16_t>(first_port + node)};
}

std::string rabbit_cluster::hosts() {
  std::string text;
  for (int i = 0; i < nodes; ++i) text += (i ? "," : "") + backend::to_string(address(i));
  return text;
}

quorum_queue_ptr rabbit_cluster::find(const std::string& queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? nullptr : found->second;
}

quorum_queue_ptr rabbit_cluster::declare(const std::string& queue, const detail::delivery_limit& limit) {
  auto& found = queues_[queue];
  if (!found) {
    quorum_queue::form how{limit, std::nullopt};
    if (limit && *limit < 1'000) how.most = static_cast<std::uint32_t>(*limit);
    if (!limit && major_version_ > 3) how.most = limit_by_itself;
    found = std::make_shared<quorum_queue>(clock_, seed_, ++made_queues_, queue, how, observer_);
    observer_.appeared(queue);
  }
  return found;
}

bool rabbit_cluster::put(const std::string& queue, detail::amqp_delivery what) {
  const auto into = find(queue);
  if (!into) return false;
  into->submit(nullptr, [to = into.get(), what = std::move(what)] { to->put(what); });
  return true;
}

void rabbit_cluster::accept(int node, const broker_wire_ptr& over) {
  std::erase_if(peers_, [](const auto& each) { return !each->is_alive(); });
  peers_.push_back(std::make_shared<rabbit_peer>(*this, node, over));
  peers_.back()->begin();
}

std::vector<std::shared_ptr<rabbit_peer>> rabbit_cluster::peers_of(int node) const {
  std::vector<std::shared_ptr<rabbit_peer>> found;
  std::ranges::copy_if(peers_, std::back_inserter(found), [node](const auto& each) { return each->node() == node; });
  return found;
}

void rabbit_cluster::crash(int node, bool is_told) {
  network_.set(address(node), is_told ? broker_network::presence::refusing : broker_network::presence::unreachable);
  for (const auto& each : peers_of(node)) each->crash(is_told);
}

void rabbit_cluster::restart(int node) { network_.set(address(node), broker_network::presence::there); }

void rabbit_cluster::stop(int node) { nodes_[static_cast<std::size_t>(node)]->is_stopped = true; }

void rabbit_cluster::wake(int node) {
  nodes_[static_cast<std::size_t>(node)]->is_stopped = false;
  for (const auto& each : peers_of(node)) each->wake();
}

void rabbit_cluster::wake_all() {
  for (const auto& each : std::vector(peers_)) each->wake();
}

void rabbit_cluster::lose_leader(const std::string& queue) {
  if (const auto found = find(queue)) found->lose_leader();
}

/// RabbitMQ 3.10 can lose sight of a consumer then, and can forget to confirm a message.
void rabbit_cluster::elect(const std::string& queue) {
  const auto found = find(queue);
  if (!found || found->has_leader()) return;
  const bool forgets = chance_.one_in(3);
  const bool returns_its_messages = chance_.one_in(2);
  if (chance_.one_in(4)) {
    for (const auto& each : peers_) each->forget_next_confirm(*found);
  }
  found->elect(forgets, returns_its_messages);
  wake_all();
}

void rabbit_cluster::lose_sight(const std::string& queue) {
  if (const auto found = find(queue)) found->lose_sight();
}

void rabbit_cluster::raise_alarm() {
  has_alarm_ = true;
  for (const auto& each : std::vector(peers_)) each->on_alarm();
}

void rabbit_cluster::end_alarm() {
  if (!std::exchange(has_alarm_, false)) return;
  for (const auto& each : std::vector(peers_)) each->on_alarm();
  wake_all();
}

void rabbit_cluster::remove(const std::string& queue) {
  const auto gone = queues_.extract(queue);
  if (!gone.empty()) gone.mapped()->remove();
  wake_all();
}

void rabbit_cluster::heal() {
  for (int i = 0; i < nodes; ++i) {
    restart(i);
    wake(i);
  }
  end_alarm();
  std::vector<std::string> names;
  for (const auto& [name, each] : queues_) names.push_back(name);
  for (const auto& each : names) elect(each);
}

}  // namespace zkrecipes::simulation
