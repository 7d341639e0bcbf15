#include <algorithm>
#include <exception>
#include <iostream>

#include <fcntl.h>
#include <unistd.h>

#include "client.hpp"
#include "command_line.hpp"
#include "place.hpp"
#include "print.hpp"
#include "register.hpp"
#include "supervisor.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

std::filesystem::path directory(const arguments& wanted) {
  return wanted.dir.empty() ? only_cluster() : normal(wanted.dir);
}

/// The directories that `down` ends: the given one, else that of the cluster that is up, else all that dead supervisors
/// have left.
std::vector<std::filesystem::path> to_take_down(const arguments& wanted) {
  if (!wanted.dir.empty()) return {directory(wanted)};
  auto known = registered();
  const bool any_up =
      std::any_of(known.begin(), known.end(), [](const auto& dir) { return examine(dir) == condition::live; });
  if (any_up) return {only_cluster()};
  return known;
}

json::object take_down(const arguments& wanted) {
  json::array ended;
  for (const auto& dir : to_take_down(wanted)) {
    const auto now = examine(dir);
    if (now == condition::none) continue;
    if (now == condition::live) {
      end_supervisor(dir);
    } else {
      remove_stale(dir);
    }
    ended.push_back(json::object{{"dir", dir.string()}, {"was", now == condition::live ? "up" : "stale"}});
  }
  if (ended.empty()) std::cerr << "testcluster: no cluster is up, nothing was to be done\n";
  return {{"ended", ended}};
}

json::object run(const arguments& wanted) {
  if (wanted.command == "up") return start_supervisor(wanted);
  if (wanted.command == "down") return take_down(wanted);
  json::object request{{"command", wanted.command}};
  if (wanted.id != 0) request["id"] = wanted.id;
  if (wanted.command == "expire") request["session"] = wanted.session;
  if (wanted.command == "fault" || wanted.command == "partition") request["fault"] = to_json(wanted.fault);
  return ask(directory(wanted), request);
}

/// Our parent may have closed the standard descriptors. A pipe of ours would then get one of their numbers and be mixed
/// up with input and output.
void occupy_standard_descriptors() {
  int number = 0;
  while (number >= 0 && number <= STDERR_FILENO) number = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(number);
}

}  // namespace
}  // namespace testcluster::command

int main(int argc, char** argv) {
  using namespace testcluster::command;
  occupy_standard_descriptors();
  try {
    const auto wanted = parse(argc, argv);
    print(std::cout, run(wanted), wanted);
    std::cout.flush();
    if (std::cout) return 0;
    std::cerr << "testcluster: could not write to standard output\n";
  } catch (const usage& shown) {
    return shown.exit_code;
  } catch (const std::exception& problem) {
    std::cerr << "testcluster: " << problem.what() << "\n";
  }
  return 1;
}
