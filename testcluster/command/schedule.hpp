#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <boost/json.hpp>

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
  std::string action;  // kill, stop, pause, resume, restart, partition, heal, expire, or a kind of fault
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

/// Carries out a schedule on a cluster that is up, and prints each step when it begins.
class schedule_run {
 public:
  using clock = std::chrono::steady_clock;

  /// Waits until a time. The number of the signal that has ended the wait, or 0.
  using waiter = std::function<int(clock::time_point)>;

  schedule_run(std::filesystem::path dir, const schedule& plan, std::ostream& out, waiter wait);

  /// Returns an exit status: 0 when all steps are done, 1 after a step that failed, 128+N after a signal. After a
  /// failure and after a signal the faults that have an end are ended at once, and no further step begins.
  int run();

 private:
  using milliseconds = std::chrono::milliseconds;
  void begin(const schedule_step& step);
  bool end_all();
  bool attempt(const std::string& what, const boost::json::object& request);
  int resolve(const target& server, const schedule_step& step);
  milliseconds elapsed() const;
  void print(const std::string& what);
  struct ending {
    std::string what;
    boost::json::object request;
  };
  std::filesystem::path dir_;
  const schedule& plan_;
  std::ostream& out_;
  waiter wait_;
  clock::time_point start_;
  std::multimap<milliseconds, ending> endings_;
  bool failed_ = false;
};

}  // namespace testcluster::command
