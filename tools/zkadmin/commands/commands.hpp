// The three things zkadmin does. Each throws `failure`, and leaves nothing running that matters.
#pragma once

#include "failure.hpp"
#include "settings/command_line.hpp"
#include "settings/settings.hpp"

#include <boost/asio/io_context.hpp>

#include <iosfwd>
#include <string>

namespace zkadmin {

/// Where a command reads and writes. The context must outlive whatever was started on it.
struct surroundings {
  boost::asio::io_context& io;
  std::ostream& out;
  std::ostream& err;
};

/// Prints the cluster's status once. What could not be had is told on `err` and by the exit code.
exit_code show_status(surroundings& around, const settings& wanted, output_format format);

/// Asks the leader at `path` to give up; without `read_write` only shows the request that it would send.
exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path,
                              bool read_write);

/// The live screen, until the user or a signal ends it.
exit_code run_dashboard(surroundings& around, const settings& wanted);

}  // namespace zkadmin
