#include "run/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace zkrecipes::simulation {

using std::chrono::milliseconds;

const char* to_string(fault_kind kind) noexcept {
  static constexpr const char* names[] = {"break_connection", "lose_request",   "lose_answer",      "half_open_up",
                                          "half_open_down",   "blackhole",      "pause_client",     "restart_client",
                                          "expire_session",   "remove_node",    "cancel_operation", "crash_server",
                                          "cut_follower",     "lagging_server", "refusing_server",  "silent_server",
                                          "slow_network",     "depose_leader",  "throttle_server",  "swallow_events"};
  static_assert(std::size(names) == fault_kinds);
  return names[static_cast<int>(kind)];
}

std::string to_string(const fault& what) {
  char text[160];
  const auto seconds = [](span s) { return std::chrono::duration<double>(s).count(); };
  std::snprintf(text, sizeof text, "%10.6f s  %-17s target %d  for %.3f s  detail %llu", seconds(what.when),
                to_string(what.kind), what.target, seconds(what.lasting), static_cast<unsigned long long>(what.detail));
  return text;
}

bool plan::leases_are_kept() const {
  return !takes_leases && std::none_of(faults.begin(), faults.end(), [](const fault& each) {
    return each.kind == fault_kind::remove_node || each.kind == fault_kind::expire_session;
  });
}

bool plan::swallows_events() const {
  return std::ranges::any_of(faults, [](const fault& each) { return each.kind == fault_kind::swallow_events; });
}

bool plan::is_paused(int client, instant from, instant until) const {
  return std::any_of(faults.begin(), faults.end(), [&](const fault& each) {
    return each.kind == fault_kind::pause_client && each.target == client && each.when <= until &&
           each.when + each.lasting >= from;
  });
}

/// A client that believes has had an answer to a request that it sent within the last timeout. A server that has
/// applied the removal sends the watch event before that answer. In strict mode no other server gives an answer that
/// counts; in standard mode one that is cut off or lags does, for the sync limit or as long as it lags. Where the event
/// is swallowed a probe finds the removal out, within ten heartbeats.
span plan::longest_ignorance() const {
  span longest = timeout + 1s;
  if (swallows_events()) longest += timeout * 3;
  if (lease == lease_mode::strict) return longest;
  longest += servers.tick * (servers.sync_limit + 2);
  for (const auto& each : faults) {
    if (each.kind == fault_kind::lagging_server) longest = std::max(longest, timeout + 1s + each.lasting / 4);
  }
  return longest;
}

namespace {

bool is_about_server(fault_kind kind) {
  return kind == fault_kind::crash_server || kind == fault_kind::cut_follower || kind == fault_kind::lagging_server ||
         kind == fault_kind::refusing_server || kind == fault_kind::silent_server ||
         kind == fault_kind::throttle_server;
}

/// One fault in three can last longer than the session timeout and the sync limit; the others last at most a timeout.
span draw_length(chance& draw, const plan& p) {
  const auto sync_limit = p.servers.tick * p.servers.sync_limit;
  const span longest = std::max<span>(p.timeout * 3, sync_limit * 3 / 2);
  return draw.one_in(3) ? draw.between(10ms, longest) : draw.between(1ms, p.timeout);
}

fault draw_fault(chance& draw, const plan& p, fault_kind kind) {
  fault drawn;
  drawn.kind = kind;
  drawn.when = draw.between(p.faults_from, p.faults_until);
  drawn.lasting = draw_length(draw, p);
  // Long enough for the new leader to let the sessions expire that only the deposed leader still hears of.
  if (kind == fault_kind::depose_leader) drawn.lasting += p.servers.election + p.timeout;
  drawn.target =
      static_cast<int>(draw.below(static_cast<std::uint64_t>(is_about_server(kind) ? p.servers.servers : p.clients)));
  drawn.detail = draw.draw() >> 16;
  return drawn;
}

void draw_faults(chance& draw, plan& p) {
  std::vector<fault_kind> kinds;
  for (int i = 0; i <= static_cast<int>(fault_kind::slow_network); ++i) {
    if (draw.one_in(3)) kinds.push_back(static_cast<fault_kind>(i));
  }
  if (kinds.empty()) return;
  const auto count = 4 + draw.below(25);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto kind = kinds[draw.below(kinds.size())];
    p.faults.push_back(draw_fault(draw, p, kind));
  }
}

/// Draws from a stream of its own, so that the seed's other faults stay the same.
void draw_faults_of(fault_kind kind, chance draw, plan& p) {
  if (!draw.one_in(4)) return;
  for (auto left = 1 + draw.below(4); left > 0; --left) p.faults.push_back(draw_fault(draw, p, kind));
}

/// Pauses about as long as a lease: a process wakes up when its lease has ended and another one takes over. They have a
/// stream of their own, too.
void draw_sleeps(chance draw, plan& p) {
  if (!draw.one_in(4)) return;
  for (auto left = 1 + draw.below(4); left > 0; --left) {
    auto drawn = draw_fault(draw, p, fault_kind::pause_client);
    drawn.lasting = draw.between(p.timeout / 2, p.timeout * 2);
    p.faults.push_back(drawn);
  }
}

}  // namespace

plan make_plan(std::uint64_t seed) {
  chance draw(seed, 1);
  plan p;
  p.seed = seed;
  p.servers.tick = milliseconds(200 * (1 + draw.below(4)));
  p.servers.sync_limit = static_cast<int>(4 + draw.below(30));
  p.servers.max_delay = draw.one_in(2) ? 2ms : 40ms;
  p.servers.max_lag = draw.one_in(2) ? 1ms : 100ms;
  p.servers.election = milliseconds(100 + draw.below(2000));
  p.timeout = std::chrono::duration_cast<milliseconds>(p.servers.tick * (2 + draw.below(10)));
  p.lease = draw.one_in(2) ? lease_mode::strict : lease_mode::standard;
  // A strict lease is prolonged by the leader's answers to several heartbeats with pauses between them. With a timeout
  // of less than a dozen slow round trips it can lapse again and again.
  const auto slowest = 4 * p.servers.max_delay + p.servers.max_lag;
  while (p.lease == lease_mode::strict && p.timeout < 12 * slowest) {
    p.timeout += std::chrono::duration_cast<milliseconds>(p.servers.tick);
  }
  const bool exact = draw.one_in(2);
  for (int i = 0; i < p.clients; ++i) {
    p.parts_per_million.push_back(exact ? 0 : static_cast<std::int64_t>(draw.below(20'001)) - 10'000);
  }
  p.faults_from = 2s;
  p.faults_until = 40s;
  draw_faults(draw, p);
  draw_faults_of(fault_kind::depose_leader, chance(seed, 2), p);
  draw_faults_of(fault_kind::throttle_server, chance(seed, 3), p);
  draw_sleeps(chance(seed, 4), p);
  draw_faults_of(fault_kind::swallow_events, chance(seed, 5), p);
  std::stable_sort(p.faults.begin(), p.faults.end(), [](const fault& a, const fault& b) { return a.when < b.when; });
  return p;
}

}  // namespace zkrecipes::simulation
