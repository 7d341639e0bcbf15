#include "samples.hpp"

namespace samples {

using namespace std::chrono_literals;
using namespace zkadmin;

wall_time noon() { return wall_time{} + std::chrono::days(20'000) + 12h; }

std::vector<server_status> servers() {
  server_status first;
  first.server = "127.1.2.1:2181";
  first.reachable = true;
  first.role = server_role::follower;
  first.zxid = 0x10000001f;
  first.connections = 4;
  first.outstanding = 0;
  first.nodes = 42;
  first.latency = latency_ms{0, 0.4167, 12};
  first.version = "3.8.0";
  server_status second = first;
  second.server = "127.1.2.2:2181";
  second.role = server_role::leader;
  second.connections = 1;
  server_status third;
  third.server = "127.1.2.3:2181";
  third.error = "Connection refused";
  return {first, second, third};
}

std::vector<election_status> elections() {
  election_status calm;
  calm.path = "/billing/consumer";
  calm.epoch = 7;
  calm.phase = "executing";
  calm.since = noon() - 125s;
  calm.leader = candidate_status{"worker-1", 0, 4294967321, 0x100001a2b3c0001, "_c_11-latch-0000000004"};
  calm.waiters = {{"worker-2", 1, 4294967330, 0x100001a2b3c0002, "_c_22-latch-0000000005"},
                  {"worker-3", 2, 4294967334, 0x200001a2b3c0001, "_c_33-latch-0000000006"}};
  calm.takeover = "clean";
  election_status busy;
  busy.path = "/mail/sender";
  busy.epoch = 12;
  busy.phase = "handing_over";
  busy.since = noon() - 1200ms;
  busy.leader = candidate_status{"sender-a", 0, 4294967400, 0x100001a2b3c0003, "_c_44-latch-0000000000"};
  busy.waiters = {{"sender-b", 1, 4294967410, 0x100001a2b3c0004, "_c_55-latch-0000000001"}};
  busy.hand_over = hand_over_status{"sender-a", "sender-b", "finishing", 1200ms, 10'000ms};
  busy.takeover = "forced";
  election_status foreign;
  foreign.path = "/other";
  foreign.phase = foreign_phase;
  return {calm, busy, foreign};
}

std::vector<election_status> troubles() {
  election_status abandoned;
  abandoned.path = "/orders/consumer";
  abandoned.epoch = 4;
  abandoned.phase = "executing";
  abandoned.since = noon() - 90s;
  abandoned.takeover = "clean";
  election_status deaf = elections()[0];
  deaf.path = "/parcels/consumer";
  deaf.resignation_asked = 9'000ms;
  election_status refused;
  refused.path = "/secret";
  refused.phase = refused_phase;
  return {abandoned, deaf, refused};
}

cluster_status cluster() {
  election_survey survey;
  survey.elections = elections();
  return {servers(), survey};
}

model dashboard() {
  model state;
  state.title = "127.1.2.1:2181,127.1.2.2:2181,127.1.2.3:2181";
  auto earlier = servers();
  earlier[2] = earlier[0];
  earlier[2].server = "127.1.2.3:2181";
  auto before = elections();
  before[1].phase = "executing";
  before[1].hand_over.reset();
  update(state, servers_seen{earlier}, noon() - 4s);
  update(state, elections_seen{{before}}, noon() - 4s);
  update(state, servers_seen{servers()}, noon() - 2s);
  update(state, elections_seen{{elections()}}, noon() - 1s);
  update(state, time_passed{}, noon());
  return state;
}

effect type(model& state, const std::u32string& keys) {
  effect last = effect::none;
  for (const stroke each : keys) last = update(state, key_pressed{each}, state.now);
  return last;
}

}  // namespace samples
