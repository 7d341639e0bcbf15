// The parts of a measurement, on the ensemble of tests/support/cluster.hpp.
#pragma once

#include <string>
#include <vector>

#include "table.hpp"

namespace bench {

struct plan {
  std::string peers;    ///< Program that measures a peer; without it only ours are measured.
  std::string self;     ///< This program.
  int one_way_ms = 25;  // long, so that the delays of a busy machine matter little
  int repeat = 5;
  int waiting = 1000;
  int many_waiting = 10'000;
  int rounds = 5;  ///< Rounds of measurements that are done in turns.
};

/// Each message between clients and servers takes so long, in each direction.
void delay_clients(int one_way_ms);
/// Operations in round trips of an injected delay.
std::vector<row> round_trips(const plan& what);
/// The cost of a release for which many wait, as counted by the servers.
std::vector<row> wake_ups(const plan& what);
/// Memory and threads of a process of ours in which very many wait.
std::vector<row> waiting(const plan& what);
/// How long an election has no leader after the leader's process was killed; threads that a session adds.
std::vector<row> leaders(const plan& what);
/// The same with a guardian, for several ways to die.
std::vector<row> deaths(const plan& what);
/// Rates without a delay, measured in turns on one server, beside the C client alone.
std::vector<row> rates(const plan& what);
/// The client's processor time for requests, beside the C client alone.
std::vector<row> cpu(const plan& what);
/// Queues with many takers and many producers.
std::vector<row> queues(const plan& what);
/// Messages a second through one consumer, with several delays, beside a bare loop of the same transactions.
std::vector<row> deliveries(const plan& what);
/// Messages a second into a topic and out of it.
std::vector<row> topics(const plan& what);
/// Two-phase commit while many decided transactions are kept.
std::vector<row> commits(const plan& what);
/// Joins, crashes and restarts of the members of a shard group.
std::vector<row> shards(const plan& what);
/// Entering and leaving a gate, beside other tables. It needs no ensemble.
std::vector<row> gates(const plan& what);
/// Calls of limiters, beside the clock and a mutex. They need no ensemble.
std::vector<row> limiters(const plan& what);
/// Messages that a spooled producer accepts, beside SQLite alone, and puts.
std::vector<row> spools(const plan& what);
/// Moves of balanced tracks, beside a mutex and a condition variable.
std::vector<row> moves(const plan& what);
/// Steps of the tracks of a shared balance, beside a plain write at each step.
std::vector<row> shared_moves(const plan& what);
/// Creates over TLS, beside the same without TLS.
std::vector<row> secure(const plan& what);
/// Requests of an open dashboard.
std::vector<row> dashboards(const plan& what);

}  // namespace bench
