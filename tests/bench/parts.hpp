// The parts of a measurement, on the ensemble of tests/support/cluster.hpp.
#pragma once

#include "table.hpp"

#include <string>
#include <vector>

namespace bench {

struct plan {
  std::string peers;    ///< Program that measures a peer; without it only ours are measured.
  std::string self;     ///< This program.
  int one_way_ms = 25;  // so long that what a busy machine adds is little
  int repeat = 5;
  int waiting = 1000;
  int many_waiting = 10'000;
  int rounds = 5;  ///< Of what is measured in turns.
};

/// In round trips of an injected delay.
std::vector<row> round_trips(const plan& what);
/// What a release costs that many wait for, counted by the servers.
std::vector<row> wake_ups(const plan& what);
/// What a process of ours takes in which very many wait.
std::vector<row> waiting(const plan& what);
/// How long an election has no leader when the leader's process is killed; threads that a session adds.
std::vector<row> leaders(const plan& what);
/// Rates without a delay, in turns on one server, with the C client alone beside them.
std::vector<row> rates(const plan& what);
/// What requests cost the processor of the client, beside the C client alone.
std::vector<row> cpu(const plan& what);
/// Queues with many takers and many producers.
std::vector<row> queues(const plan& what);
/// Two-phase commit beside transactions that are kept.
std::vector<row> commits(const plan& what);
/// Requests of an open dashboard.
std::vector<row> dashboards(const plan& what);

}  // namespace bench
