#include <csignal>
#include <exception>
#include <iostream>

#include "commands/commands.hpp"

namespace {

using namespace zkadmin;

exit_code run(std::span<const char* const> arguments) {
  const auto asked = parse_command_line(arguments, std::cout);
  if (!asked) return exit_code::ok;
  const settings wanted = load_settings(*asked, process_environment());
  // Never destroyed, because the destructor would wait for running name lookups, which can take arbitrarily long.
  static auto* const io = new boost::asio::io_context(1);
  surroundings around{*io, std::cout, std::cerr};
  switch (asked->command) {
    case command::dashboard: return run_dashboard(around, wanted);
    case command::status: return show_status(around, wanted, asked->output);
    case command::resign: return request_resignation(around, wanted, asked->path, asked->read_write);
    case command::expire: return expire_session(around, wanted, asked->session, asked->because, asked->read_write);
    case command::groups: return show_groups(around, wanted, asked->path, asked->output);
    case command::freeze: return freeze_group(around, wanted, asked->path, true, asked->read_write);
    case command::thaw: return freeze_group(around, wanted, asked->path, false, asked->read_write);
    case command::topics: return show_topics(around, wanted, asked->path, asked->output);
    case command::release: return release_shard(around, wanted, asked->path, asked->shard, asked->read_write);
  }
  return exit_code::usage;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // If the reader of a pipe has gone, the write fails instead.
  try {
    return static_cast<int>(run({argv + 1, static_cast<std::size_t>(argc > 0 ? argc - 1 : 0)}));
  } catch (const failure& error) {
    std::cerr << "zkadmin: " << error.what() << '\n';
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    std::cerr << "zkadmin: unexpected: " << error.what() << '\n';
    return static_cast<int>(exit_code::error);
  }
}
