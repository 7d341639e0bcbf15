// The three commands of zkadmin. Each throws `failure`. Work that a command leaves running on the context may be
// abandoned.
#pragma once

#include <iosfwd>
#include <string>

#include <boost/asio/io_context.hpp>

#include "failure.hpp"
#include "settings/command_line.hpp"
#include "settings/settings.hpp"

namespace zkadmin {

/// The context and the streams of a command. The context must outlive all work that was started on it.
struct surroundings {
  boost::asio::io_context& io;
  std::ostream& out;
  std::ostream& err;
};

/// Prints the cluster's status once. Missing information is reported on `err` and by the exit code.
exit_code show_status(surroundings& around, const settings& wanted, output_format format);

/// Asks the leader at `path` to give up; without `read_write` only shows the request that it would send.
exit_code request_resignation(surroundings& around, const settings& wanted, const std::string& path, bool read_write);

/// The live screen, until the user or a signal ends it.
exit_code run_dashboard(surroundings& around, const settings& wanted);

}  // namespace zkadmin
