#include "world/broker_network.hpp"

#include <algorithm>

namespace zkrecipes::simulation {

using side = broker_wire::side;

namespace {

constexpr std::uint64_t loss_stream = 1'000'000;

bool is_closed(const broker_wire_ptr& which) { return !which->is_open(side::client) && !which->is_open(side::broker); }

}  // namespace

void broker_network::listen(const backend::endpoint& at, broker_host& host) {
  places_[backend::to_string(at)].host = &host;
}

void broker_network::set(const backend::endpoint& at, presence how) { places_[backend::to_string(at)].how = how; }

broker_wire_ptr broker_network::connect(int client, const backend::endpoint& to,
                                        const std::shared_ptr<wire_end>& from) {
  forget_closed();
  auto wire = std::make_shared<broker_wire>(clock_, seed_, ++made_, client, most_delay_);
  wire->attach(side::client, from);
  wires_.push_back(wire);
  clock_.after(chance_.between(span(0), most_delay_), [this, wire, at = backend::to_string(to)] { arrive(wire, at); });
  return wire;
}

void broker_network::arrive(const broker_wire_ptr& wire, const std::string& at) {
  if (!wire->is_open(side::client)) return wire->vanish(side::broker);
  const auto& there = places_[at];
  if (there.how == presence::unreachable) return wire->vanish(side::broker);
  if (!there.host || there.how == presence::refusing) return wire->refuse();
  wire->connect();
  there.host->accept(wire);
}

/// The connection decides how, because those of a process are lost in any order: its objects end in that of addresses.
void broker_network::lose_process(broker_wire& wire) {
  chance(seed_, loss_stream + wire.number()).one_in(4) ? wire.vanish(side::client) : wire.close(side::client);
}

void broker_network::forget_closed() { std::erase_if(wires_, &is_closed); }

std::vector<broker_wire_ptr> broker_network::wires() const {
  std::vector<broker_wire_ptr> all;
  std::ranges::remove_copy_if(wires_, std::back_inserter(all), &is_closed);
  return all;
}

void broker_network::heal() {
  for (auto& [at, each] : places_) each.how = presence::there;
  for (const auto& each : wires_) each->thaw();
}

std::size_t broker_network::open_at_clients() const {
  const auto is_open = [](const broker_wire_ptr& which) { return which->is_open(side::client); };
  return static_cast<std::size_t>(std::ranges::count_if(wires_, is_open));
}

}  // namespace zkrecipes::simulation
