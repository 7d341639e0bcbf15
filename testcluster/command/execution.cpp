#include "execution.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <map>
#include <string>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testcluster/error.hpp>

#include "command_line.hpp"
#include "descriptor.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "schedule.hpp"

namespace testcluster::command {
namespace {

[[noreturn]] void become(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                         const sigset_t& blocked, pid_t parent, int problem) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);  // it has ended meanwhile
  for (const auto& [name, value] : environment)
    value.empty() ? ::unsetenv(name.c_str()) : ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const auto& each : command) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  ::sigprocmask(SIG_SETMASK, &blocked, nullptr);
  ::execvp(arguments[0], arguments.data());
  const int reason = errno;
  [[maybe_unused]] const auto told = ::write(problem, &reason, sizeof reason);
  ::_exit(127);
}

}  // namespace

pid_t start_program(const std::vector<std::string>& command, const std::map<std::string, std::string>& environment,
                    const sigset_t& blocked) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  const detail::descriptor reading(ends[0]);
  detail::descriptor writing(ends[1]);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become(command, environment, blocked, parent, writing.get());
  writing.reset();
  int reason = 0;
  ssize_t size = 0;
  while ((size = ::read(reading.get(), &reason, sizeof reason)) < 0 && errno == EINTR) {
  }
  if (size == 0) return child;
  ::waitpid(child, nullptr, 0);
  throw std::system_error(reason, std::generic_category(), command[0]);
}

int shell_status(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;

std::optional<schedule> planned(const arguments& wanted) {
  if (wanted.schedule.empty()) return std::nullopt;
  auto plan = read_schedule(wanted.schedule);
  require_fit(plan, {.servers = wanted.ensemble.servers,
                     .observers = wanted.ensemble.observers,
                     .proxies = wanted.ensemble.delay_proxies,
                     .peer_proxies = wanted.ensemble.peer_proxies});
  return plan;
}

// ZKADMIN_HOSTS as well, so that zkadmin in the command can not reach another ensemble that the user's shell names. An
// empty value stands for none.
std::map<std::string, std::string> environment_of(const json::object& cluster, const arguments& wanted) {
  const std::string hosts(cluster.at("hosts").as_string());
  std::map<std::string, std::string> all{{"TESTCLUSTER_HOSTS", hosts},
                                         {"TESTCLUSTER_DIR", std::string(cluster.at("dir").as_string())},
                                         {"TESTCLUSTER_NAME", wanted.name},
                                         {"ZKADMIN_HOSTS", hosts},
                                         {"ZKADMIN_TLS", ""},
                                         {"ZKADMIN_TLS_AUTHORITIES", ""},
                                         {"ZKADMIN_TLS_CERTIFICATE", ""},
                                         {"ZKADMIN_TLS_KEY", ""},
                                         {"ZKADMIN_TLS_SERVER_NAME", ""}};
  if (const auto* file = cluster.if_contains("superuser"))
    all["TESTCLUSTER_SUPERUSER_FILE"] = std::string(file->as_string());
  const auto* tls = cluster.if_contains("tls");
  if (tls == nullptr) return all;
  for (const std::string key : {"authorities", "certificate", "key"}) {
    auto name = "TLS_" + key;
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::toupper(c); });
    const std::string file(tls->as_object().at(key).as_string());
    for (const std::string prefix : {"TESTCLUSTER_", "ZKADMIN_"}) all[prefix + name] = file;
  }
  return all;
}

/// Copies what the servers have logged, and how they were configured, into a folder that `testcluster logs --dir`
/// reads. What can not be copied is told, and changes no exit status.
void keep_server_logs(const std::filesystem::path& cluster, const std::filesystem::path& into) {
  namespace fs = std::filesystem;
  try {
    for (const auto& each : fs::directory_iterator(cluster / "ensemble")) {
      if (!each.path().filename().string().starts_with("server.")) continue;
      const auto kept = into / "ensemble" / each.path().filename();
      fs::create_directories(kept);
      for (const auto* name : {"log", "zoo.cfg"})
        fs::copy_file(each.path() / name, kept / name, fs::copy_options::overwrite_existing);
    }
    std::cerr << "testcluster: the servers' logs are kept; print them with: testcluster logs --dir "
              << printable(into.string()) << "\n";
  } catch (const fs::filesystem_error& problem) {
    std::cerr << "testcluster: could not keep the servers' logs: " << printable(problem.what()) << "\n";
  }
}

}  // namespace

execution::execution(const arguments& wanted)
    : wanted_(wanted), plan_(planned(wanted)), cluster_(wanted, supervisor::lifetime::bound) {}

int execution::run() {
  if (const auto signal_number = signal_before_start()) {
    cluster_.end(0ms);
    return 128 + *signal_number;
  }
  int status = exit_status::own_failure;
  try {
    status = run_program(cluster_.started());
  } catch (...) {
    end_cluster(exit_status::own_failure);
    throw;
  }
  end_cluster(status);
  return status;
}

void execution::end_cluster(int status) {
  const bool keeps = status != exit_status::success && !wanted_.keep_logs.empty() && !dir_.empty();
  if (keeps) keep_server_logs(dir_, wanted_.keep_logs);
  cluster_.end(10s);
}

std::optional<int> execution::signal_before_start() {
  while (true) {
    while (const auto arrived = arriving_.next())
      if (arrived->ssi_signo != SIGCHLD) return static_cast<int>(arrived->ssi_signo);
    pollfd events[]{{arriving_.descriptor(), POLLIN, 0}, {cluster_.outcome(), POLLIN, 0}};
    ::poll(events, 2, -1);
    if (events[1].revents != 0) return std::nullopt;
  }
}

int execution::run_program(const json::object& cluster) {
  dir_ = std::string(cluster.at("dir").as_string());
  for (const auto& each : wanted_.faults) ask(dir_, fault_request(each.server, each.fault));
  try {
    program_ = start_program(wanted_.program, environment_of(cluster, wanted_), arriving_.before());
  } catch (const std::system_error& problem) {
    std::cerr << "testcluster: could not run " << printable(problem.what()) << "\n";
    return problem.code().value() == ENOENT ? exit_status::not_found : exit_status::not_executable;
  }
  if (plan_) start_schedule();
  const int status = await_program();
  if (end_schedule() || status != 0) return status;
  std::cerr << "testcluster: the command succeeded, but not the schedule of faults\n";
  return exit_status::own_failure;
}

// In a process of its own, so that a slow request to the supervisor delays no signal. The signals stay blocked in it:
// the terminal sends them to all processes of the group, and this one has to go on until the command has ended.
void execution::start_schedule() {
  const auto parent = ::getpid();
  schedule_ = ::fork();
  if (schedule_ < 0) {
    const auto reason = std::system_category().message(errno);
    ::kill(program_, SIGTERM);  // it has lost its cluster
    throw error("fork: " + reason);
  }
  if (schedule_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  const auto wait = [](std::chrono::steady_clock::time_point until) {
    std::this_thread::sleep_until(until);  // the schedule's own times: there is no condition to wait for
    return 0;
  };
  int status = exit_status::failure;
  try {
    status = schedule_run(dir_, *plan_, std::cerr, wait).run();
  } catch (const std::exception& problem) {
    std::cerr << "testcluster: " << printable_lines(problem.what()) << std::endl;
  }
  ::_exit(status);
}

int execution::await_program() {
  while (true) {
    int status = 0;
    if (::waitpid(program_, &status, WNOHANG) == program_) return shell_status(status);
    while (const auto arrived = arriving_.next()) {
      // A signal of the terminal has reached the command already: it is in the same group. But the end of the terminal
      // is told to the leader of the session alone, which this process may be.
      const bool has_arrived = arrived->ssi_code == SI_KERNEL && arrived->ssi_signo != SIGHUP;
      if (arrived->ssi_signo != SIGCHLD && !has_arrived) ::kill(program_, static_cast<int>(arrived->ssi_signo));
    }
    if (::waitpid(program_, &status, WNOHANG) == program_) return shell_status(status);
    pollfd arrived{arriving_.descriptor(), POLLIN, 0};
    ::poll(&arrived, 1, -1);
  }
}

// Whether the schedule has not failed. It may not have come to its end.
bool execution::end_schedule() {
  if (schedule_ == 0) return true;
  int status = 0;
  if (::waitpid(schedule_, &status, WNOHANG) == 0) {
    ::kill(schedule_, SIGKILL);
    ::waitpid(schedule_, nullptr, 0);
    return true;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace testcluster::command
