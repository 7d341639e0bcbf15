#include "command.hpp"

#include <future>

#include <boost/asio/io_context.hpp>
#include <boost/process.hpp>

outcome command::run(const std::vector<std::string>& arguments) {
  namespace process = boost::process;
  boost::asio::io_context io;
  process::environment environment = boost::this_process::environment();
  environment.erase("TESTCLUSTER_DIR");
  environment["XDG_RUNTIME_DIR"] = place_.path().string();
  for (const auto& [name, value] : environment_) environment[name] = value;
  std::future<std::string> out, err;
  process::child child(COMMAND_PROGRAM, process::args(arguments), environment,
                       process::std_in<process::null, process::std_out> out, process::std_err > err, io);
  io.run();
  child.wait();
  return {child.exit_code(), out.get(), err.get()};
}

command::~command() {
  while (std::filesystem::exists(register_folder())) {
    const auto entry = *std::filesystem::directory_iterator(register_folder());
    if (run({"down", "--dir", std::filesystem::read_symlink(entry.path()).string()}).exit_code != 0) return;
  }
}
