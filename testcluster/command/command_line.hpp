#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>

#include "fault_options.hpp"

namespace testcluster::command {

/// Sends a request to the supervisor of the cluster in `dir` and returns its answer. Throws testcluster::error with the
/// reason if the request fails.
boost::json::object ask(const std::filesystem::path& dir, const boost::json::object& request);

/// The first server that has a role now; a standalone one counts as the leader. Throws testcluster::error if there is
/// none.
int server_of_role(const std::filesystem::path& dir, const std::string& role);

/// Tells the supervisor to end and waits until its process is gone.
void end_supervisor(const std::filesystem::path& dir);

/// A fault that is on when the command of `exec` begins. Its kind may also be "partition".
struct initial_fault {
  int server = 0;
  fault_options fault;
};

/// A fault as on the command line without its first word, such as "delay 1 50 --peer 2", or "partition 2". Throws
/// CLI::ValidationError, which names the option --fault, for anything else.
initial_fault parse_initial_fault(const std::string& text);

struct arguments {
  std::string command;
  bool json = false;
  std::filesystem::path dir;          // empty: not given
  std::string name;                   // of the cluster; empty: not given
  ensemble_options ensemble;          // for up and exec
  std::vector<std::string> program;   // for exec: what stands after --
  std::vector<initial_fault> faults;  // for exec
  std::filesystem::path schedule;     // for schedule and exec; empty: none
  std::filesystem::path keep_logs;    // for exec: where the logs stay if it fails; empty: nowhere
  int id = 0;                         // for commands that name a server; 0: all, or the one of this role
  std::string role;                   // of the server of kill, stop, pause, resume and restart; empty: none is named
  std::int64_t session = 0;           // for expire; 0: the owner of `path`
  std::string path;                   // for expire
  bool follow = false;                // for logs
  fault_options fault;                // for fault and partition
};

/// Thrown when there is nothing to run: after --help (0) or a mistake that has been explained on stderr (2).
struct usage {
  int exit_code;
};

/// Parses the command line. Throws usage, and testcluster::error for what a cluster file says.
arguments parse(int argc, char** argv);

/// Shows the outcome of a command as the user asked for it: JSON, or text.
void print(std::ostream& out, const boost::json::object& outcome, const arguments& wanted);

}  // namespace testcluster::command
