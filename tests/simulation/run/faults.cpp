// Carries out the faults of a plan.
#include <algorithm>
#include <utility>

#include "run/stage.hpp"

namespace zkrecipes::simulation {

void stage::schedule(const fault& what) {
  clock_.at(what.when, [this, what] { begin(what); });
}

void stage::begin(const fault& what) {
  auto& client = clients_[static_cast<std::size_t>(what.target)];
  notes_.note(journal::ensemble, to_string(what.kind), "target", what.target);
  ++result_.faults[static_cast<std::size_t>(what.kind)];
  switch (what.kind) {
    case fault_kind::pause_client:
      if (client.inside) client.inside->pause();
      break;
    case fault_kind::restart_client: die(what.target); break;
    case fault_kind::expire_session:
      if (client.wire) servers_->expire(client.wire->key.id);
      break;
    case fault_kind::remove_node:
      if (auto path = client.runs ? client.runs->own_node() : std::string(); !path.empty()) servers_->remove(path);
      break;
    case fault_kind::cancel_operation: {
      static constexpr asio::cancellation_type types[] = {
          asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal};
      if (client.runs && !client.inside->paused()) {
        client.inside->run([&] { client.runs->cancel(types[what.detail % 3]); });
      }
      break;
    }
    case fault_kind::crash_server:
    case fault_kind::cut_follower:
    case fault_kind::lagging_server:
    case fault_kind::refusing_server:
    case fault_kind::silent_server:
    case fault_kind::throttle_server: begin_at_server(what); break;
    case fault_kind::depose_leader: depose(what); break;
    default: begin_at_connection(what);
  }
  clock_.after(what.lasting, [this, what] { end(what); });
}

void stage::begin_at_connection(const fault& what) {
  auto wire = clients_[static_cast<std::size_t>(what.target)].wire;
  if (!wire || wire->closed) return;
  switch (what.kind) {
    case fault_kind::break_connection: servers_->break_connection(wire); break;
    case fault_kind::lose_request: wire->lose_next_request = true; break;
    case fault_kind::lose_answer: wire->lose_next_answer = true; break;
    case fault_kind::swallow_events:
      wire->may_not_hear = true;
      clock_.after(what.lasting, [wire] { wire->may_not_hear = false; });
      return;
    case fault_kind::half_open_up: wire->up->freeze(); break;
    case fault_kind::half_open_down: wire->down->freeze(); break;
    case fault_kind::blackhole:
      wire->up->freeze();
      wire->down->freeze();
      break;
    case fault_kind::slow_network:
      wire->up->slow_by(what.lasting / 10);
      wire->down->slow_by(what.lasting / 20);
      break;
    default: return;
  }
  if (what.kind < fault_kind::half_open_up) return;
  clock_.after(what.lasting, [wire] {
    wire->up->thaw();
    wire->down->thaw();
    wire->up->slow_by(span(0));
    wire->down->slow_by(span(0));
  });
}

/// A client that believes to own something: one that is connected to the leader, if there is any; `otherwise` if none
/// believes.
int stage::a_believer(int otherwise) const {
  for (int i = 0; i < plan_.clients; ++i) {
    const auto& each = clients_[static_cast<std::size_t>(i)];
    if (!each.runs) continue;
    bool believes = false;
    for (int j = 0; j < scenario_->contenders(); ++j) believes |= each.runs->believes(j).held;
    if (!believes) continue;
    if (each.wire && each.wire->server == servers_->leader()) return i;
    otherwise = i;
  }
  return otherwise;
}

/// After the election two servers believe to lead, for at most two ticks and 300 ms. In half of the cases the target
/// loses its connection three times meanwhile, and either of the two may take its session up again. In the other half a
/// client that believes is cut off together with the deposed leader, which alone serves it, for the longest time; half
/// of these connections are broken, too.
void stage::depose(const fault& what) {
  const bool together = what.detail >> 40 & 1;
  // The longest time in more than half of the cases, because the last moments are the dangerous ones.
  const auto share = together ? 100 : std::min<std::int64_t>(static_cast<std::int64_t>(what.detail % 201), 100);
  const auto both = (300ms + 2 * plan_.servers.tick) / 100 * share;
  const bool steady = together && (what.detail >> 41 & 1);
  auto breaks = what;
  breaks.kind = fault_kind::break_connection;
  if (together) breaks.target = a_believer(what.target);
  servers_->depose(plan_.servers.election + both, together ? std::optional(breaks.target) : std::nullopt);
  if (steady) return;
  for (const int eighths : {4, 6, 7}) {
    clock_.after(plan_.servers.election + both * eighths / 8, [this, breaks] { begin_at_connection(breaks); });
  }
}

/// Whether no other fault that can keep a client from reaching a server overlaps this one in time.
bool stage::is_alone(const fault& what) const {
  return std::ranges::none_of(plan_.faults, [&](const fault& each) {
    if (each.when == what.when && each.kind == what.kind) return false;
    const bool is_beside = each.when < what.when + what.lasting && what.when < each.when + each.lasting;
    switch (each.kind) {
      case fault_kind::half_open_up:
      case fault_kind::half_open_down:
      case fault_kind::blackhole:
      case fault_kind::crash_server:
      case fault_kind::cut_follower:
      case fault_kind::refusing_server:
      case fault_kind::silent_server:
      case fault_kind::slow_network:
      case fault_kind::depose_leader:
      case fault_kind::throttle_server: return is_beside;
      default: return false;
    }
  });
}

void stage::begin_at_server(const fault& what) {
  switch (what.kind) {
    case fault_kind::crash_server: servers_->crash(what.target); break;
    case fault_kind::cut_follower: servers_->cut_off(what.target); break;
    case fault_kind::lagging_server: servers_->slow_down(what.target, what.lasting / 4); break;
    case fault_kind::refusing_server: servers_->refuse(what.target, true); break;
    case fault_kind::throttle_server:
      servers_->throttle(what.target, true);
      if (what.detail % 2 == 0) servers_->cut_off(what.target);
      break;
    default:
      if (what.detail % 2 == 0 || !is_alone(what) || !servers_->stop(what.target)) {
        return servers_->keep_silent(what.target, true);
      }
      // A session leaves a silent server out for ten timeouts. Wake the server before: one that is stopped for longer
      // and still has its leader (a large sync limit) is more than the library covers.
      clock_.after(8 * plan_.timeout, [this, what] { servers_->wake(what.target); });
  }
}

void stage::end(const fault& what) {
  switch (what.kind) {
    case fault_kind::pause_client:
      if (auto& client = clients_[static_cast<std::size_t>(what.target)]; client.inside && client.inside->paused()) {
        client.inside->resume(what.detail % 2 == 0);
      }
      break;
    case fault_kind::restart_client:
      if (auto& client = clients_[static_cast<std::size_t>(what.target)]; client.inside && !client.inside->alive()) {
        start(what.target);
      }
      break;
    case fault_kind::crash_server: servers_->restart(what.target); break;
    case fault_kind::cut_follower: servers_->rejoin(what.target); break;
    case fault_kind::lagging_server: servers_->slow_down(what.target, span(0)); break;
    case fault_kind::refusing_server: servers_->refuse(what.target, false); break;
    case fault_kind::silent_server:
      servers_->keep_silent(what.target, false);
      servers_->wake(what.target);
      break;
    case fault_kind::throttle_server:
      servers_->throttle(what.target, false);
      if (what.detail % 2 == 0) servers_->rejoin(what.target);
      break;
    case fault_kind::depose_leader: servers_->rejoin_deposed(); break;
    default: break;
  }
}

/// Ends all faults that still go on.
void stage::heal() {
  for (const auto& each : plan_.faults) {
    if (each.when + each.lasting > clock_.now()) end(each);
  }
  servers_->undeceive();
  for (auto& each : clients_) {
    if (!each.wire) continue;
    each.wire->up->thaw();
    each.wire->down->thaw();
    each.wire->up->slow_by(span(0));
    each.wire->down->slow_by(span(0));
    each.wire->lose_next_request = each.wire->lose_next_answer = each.wire->may_not_hear = false;
  }
  healed_ = true;
  notes_.note(journal::ensemble, "everything healed");
  scenario_->healed();
}

}  // namespace zkrecipes::simulation
