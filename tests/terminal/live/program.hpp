// zkadmin as a script runs it: with pipes instead of a terminal.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

struct program_result {
  int code = -1;  ///< The exit code, or 128 + signal; -1 if it did not end.
  std::string out;
  std::string err;
};

/// Told of the standard output so far, with each part that comes.
using output_hook = std::function<void(const std::string& out)>;

/// Runs zkadmin with exactly these environment variables, and runs the context meanwhile.
program_result run_zkadmin(boost::asio::io_context& io, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment = {}, const output_hook& told = {});
