#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "command_line.hpp"
#include "execution.hpp"
#include "exit_status.hpp"
#include "logs.hpp"
#include "place.hpp"
#include "printable.hpp"
#include "register.hpp"
#include "schedule.hpp"
#include "signals.hpp"
#include "supervisor.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

/// The directory that the user has named: by --dir, --name or TESTCLUSTER_DIR, in this order. Empty: none.
std::filesystem::path given_directory(const arguments& wanted) {
  if (!wanted.dir.empty()) return normal(wanted.dir);
  if (!wanted.name.empty()) return named_cluster(wanted.name);
  const char* variable = std::getenv("TESTCLUSTER_DIR");
  return variable == nullptr || *variable == '\0' ? std::filesystem::path{} : normal(variable);
}

std::filesystem::path directory(const arguments& wanted) {
  const auto given = given_directory(wanted);
  return given.empty() ? only_cluster() : given;
}

bool is_up(const registered_cluster& each) { return examine(each.dir) == condition::live; }

/// The directories that `down` ends: the given one, else that of the cluster that is up, else all that dead supervisors
/// have left. A name that none of the clusters has is a mistake; without any cluster nothing is to be done.
std::vector<std::filesystem::path> to_take_down(const arguments& wanted) {
  if (!wanted.name.empty() && registered().empty()) return {};
  if (const auto given = given_directory(wanted); !given.empty()) return {given};
  const auto known = registered();
  if (std::ranges::any_of(known, is_up)) return {only_cluster()};
  std::vector<std::filesystem::path> left;
  for (const auto& each : known) left.push_back(each.dir);
  return left;
}

json::object take_down(const arguments& wanted) {
  json::array ended;
  for (const auto& dir : to_take_down(wanted)) {
    const auto now = examine(dir);
    if (now == condition::none) continue;
    if (now == condition::foreign) throw foreign_record(dir);
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

json::object list() {
  json::array all;
  for (const auto& each : registered()) {
    json::object entry{{"dir", each.dir.string()}, {"state", is_up(each) ? "up" : "stale"}};
    if (!each.name.empty()) entry["name"] = each.name;
    all.push_back(entry);
  }
  return {{"clusters", all}};
}

json::object run(const arguments& wanted) {
  if (wanted.command == "up") return supervisor(wanted, supervisor::lifetime::own).started();
  if (wanted.command == "down") return take_down(wanted);
  if (wanted.command == "list") return list();
  json::object request{{"command", wanted.command}};
  if (wanted.id != 0) request["id"] = wanted.id;
  if (!wanted.role.empty()) request["id"] = server_of_role(directory(wanted), wanted.role);
  if (wanted.session != 0) request["session"] = wanted.session;
  if (!wanted.path.empty()) request["path"] = wanted.path;
  if (wanted.command == "fault" || wanted.command == "partition") request["fault"] = to_json(wanted.fault);
  return ask(directory(wanted), request);
}

int run_schedule(const arguments& wanted) {
  const auto plan = read_schedule(wanted.schedule);
  const auto dir = directory(wanted);
  const auto status = ask(dir, {{"command", "status"}});
  cluster_shape shape{.proxies = status.at("proxies").as_bool(), .peer_proxies = status.at("peer_proxies").as_bool()};
  for (const auto& each : status.at("nodes").as_array())
    ++(each.at("votes").as_bool() ? shape.servers : shape.observers);
  require_fit(plan, shape);
  signals arriving;
  return schedule_run(dir, plan, std::cout, [&arriving](auto until) { return arriving.wait_until(until); }).run();
}

/// The exit status; nullopt: success, if standard output could be written to.
std::optional<int> carry_out(const arguments& wanted) {
  if (wanted.command == "schedule") return run_schedule(wanted);
  if (wanted.command == "logs") {
    print_logs(std::cout, directory(wanted), wanted.id, wanted.follow);
    return std::nullopt;
  }
  if (wanted.command == "exec") return execution(wanted).run();
  print(std::cout, run(wanted), wanted);
  return std::nullopt;
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
  const bool executes = argc > 1 && std::string(argv[1]) == "exec";
  try {
    const auto wanted = parse(argc, argv);
    if (const auto status = carry_out(wanted)) return *status;
    std::cout.flush();
    if (std::cout) return exit_status::success;
    std::cerr << "testcluster: could not write to standard output\n";
  } catch (const usage& shown) {
    return shown.exit_code;
  } catch (const std::exception& problem) {
    std::cerr << "testcluster: " << printable_lines(problem.what()) << "\n";
  }
  return executes ? exit_status::own_failure : exit_status::failure;
}
