#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fault_options.hpp"

namespace testcluster::command {

/// A server as a schedule names it: by its id, or by the role it has when the step comes.
struct target {
  int id = 0;
  std::string role;  // leader, follower or observer; empty: `id`, or none at all if that is 0
  bool is_given() const { return id != 0 || !role.empty(); }
};

struct schedule_step {
  std::chrono::milliseconds at{0};
  std::string action;  // kill, pause, resume, restart, partition, heal, expire, or a kind of fault
  target server, peer;
  fault_options fault;
  std::string path;          // for expire
  std::int64_t session = 0;  // for expire
  std::optional<std::chrono::milliseconds> lasts;
  std::string place;  // FILE:LINE
};

struct schedule {
  std::vector<schedule_step> steps;  // in the order of time
};

/// What a cluster offers to a schedule.
struct cluster_shape {
  int servers = 0, observers = 0;
  bool proxies = false, peer_proxies = false;
};

/// Throws testcluster::error "FILE:LINE: KEY: ..." for what can not be used.
schedule read_schedule(const std::filesystem::path& file);

/// Throws testcluster::error that names the first step for which the cluster lacks a server or a proxy.
void require_fit(const schedule& plan, const cluster_shape& cluster);

}  // namespace testcluster::command
