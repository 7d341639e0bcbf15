#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <testcluster/ensemble.hpp>

#include "fault_options.hpp"

namespace testcluster::command {

struct arguments {
  std::string command;
  bool json = false;
  std::filesystem::path dir;  // empty: not given
  ensemble_options ensemble;  // for up
  int id = 0;                 // for commands that name a server
  std::int64_t session = 0;   // for expire
  fault_options fault;        // for fault and partition
};

/// Thrown when there is nothing to run: after --help (0) or a mistake that has been explained on stderr (2).
struct usage {
  int exit_code;
};

/// Parses the command line. Throws usage.
arguments parse(int argc, char** argv);

}  // namespace testcluster::command
