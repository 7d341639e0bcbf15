#include "world/broker_network.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <boost/asio/error.hpp>

namespace zkrecipes::simulation {

namespace asio = boost::asio;

namespace {

constexpr std::uint64_t wire_stream = 3'000;
constexpr span least_wire_delay = std::chrono::microseconds(50);
constexpr std::size_t most_pieces = 8;  // of what is sent at once

}  // namespace

broker_wire::broker_wire(clockwork& clock, std::uint64_t seed, std::uint64_t number, int client, span most)
    : clock_(clock), chance_(seed, wire_stream + 3 * number), number_(number), client_(client), most_(most) {
  for (std::uint64_t i = 0; i < 2; ++i) {
    halves_[i].out = std::make_shared<pipe>(clock, seed, wire_stream + 3 * number + 1 + i, least_wire_delay, most);
  }
}

void broker_wire::connect() {
  at(side::broker).out->send([weak = weak_from_this()] {
    const auto self = weak.lock();
    const auto end = self ? self->at(side::client).end.lock() : nullptr;
    if (end && self->is_open(side::client)) end->connected();
  });
}

void broker_wire::refuse() {
  at(side::broker).is_open = false;
  at(side::broker).out->send([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->lose(side::client, asio::error::connection_refused);
  });
}

/// In one case of two everything in one piece.
std::size_t broker_wire::piece(std::size_t left) {
  if (chance_.one_in(2)) return left;
  return std::min<std::size_t>(left, std::max<std::size_t>(1 + chance_.below(60), left / most_pieces));
}

void broker_wire::send(side from, std::string_view bytes) {
  if (!is_open(from)) return;
  auto& own = at(from);
  while (!bytes.empty()) {
    const auto size = piece(bytes.size());
    own.unread += size;
    own.out->send([weak = weak_from_this(), from, some = std::string(bytes.substr(0, size))] {
      const auto self = weak.lock();
      if (!self) return;
      self->at(from).unread -= some.size();
      self->arrive(other(from), some);
      const auto sender = self->at(from).end.lock();
      if (sender && self->is_open(from)) sender->drained();
    });
    bytes.remove_prefix(size);
  }
}

void broker_wire::arrive(side to, std::string_view bytes) {
  const auto end = at(to).end.lock();
  if (end && is_open(to)) end->receive(bytes);
}

void broker_wire::lose(side which, const error_code& why) {
  if (!std::exchange(at(which).is_open, false)) return;
  const auto end = at(which).end.lock();
  at(which).end.reset();
  if (end) end->lose(why);
}

void broker_wire::lose_later(side which) {
  clock_.after(chance_.between(least_wire_delay, most_), [weak = weak_from_this(), which] {
    if (const auto self = weak.lock()) self->lose(which, asio::error::connection_reset);
  });
}

void broker_wire::close(side which) {
  auto& own = at(which);
  if (!std::exchange(own.is_open, false)) return;
  own.end.reset();
  // Bytes that arrive at a closed end reset the connection, and what the other end has not read then is lost.
  const bool is_reset = at(other(which)).unread > 0 && chance_.one_in(2);
  if (is_reset) {
    own.out->cut(chance_.below(own.out->on_its_way() + 1));
    return lose_later(other(which));
  }
  own.out->send([weak = weak_from_this(), to = other(which)] {
    if (const auto self = weak.lock()) self->lose(to, asio::error::eof);
  });
}

void broker_wire::vanish(side which) {
  auto& own = at(which);
  if (!std::exchange(own.is_open, false)) return;
  own.end.reset();
  own.out->cut(chance_.below(own.out->on_its_way() + 1));
}

void broker_wire::cut(notice who) {
  for (auto& each : halves_) each.out->cut(chance_.below(each.out->on_its_way() + 1));
  if (who == notice::both || who == notice::client) lose_later(side::client);
  if (who == notice::both || who == notice::broker) lose_later(side::broker);
}

void broker_wire::thaw() {
  for (auto& each : halves_) each.out->thaw();
}

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
