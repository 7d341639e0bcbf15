#include "live/program.hpp"

#include <utility>

#include "live/running_program.hpp"

program_result run_zkadmin(boost::asio::io_context& io, std::vector<std::string> arguments,
                           const std::map<std::string, std::string>& environment, const output_hook& told) {
  return running_program(io, std::move(arguments), environment, told).wait();
}
