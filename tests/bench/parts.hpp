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
};

/// In round trips of an injected delay.
std::vector<row> round_trips(const plan& what);
/// What a release costs that many wait for, counted by the servers.
std::vector<row> wake_ups(const plan& what);
/// What a process of ours takes in which very many wait.
std::vector<row> waiting(const plan& what);
/// How long an election has no leader when the leader's process is killed; threads that a session adds.
std::vector<row> leaders(const plan& what);
/// Rates without a delay.
std::vector<row> rates(const plan& what);

}  // namespace bench
