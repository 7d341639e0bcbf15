#include "broker_process.hpp"

#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <signal.h>

#include <testcluster/error.hpp>

namespace testcluster::detail {

namespace {

/// The last lines, up to 8 KiB: brokers say at the end why they have ended.
std::string end_of(const std::string& log) {
  constexpr std::size_t most = 8192;
  if (log.size() <= most) return log;
  const auto line = log.find('\n', log.size() - most);
  return log.substr(line == log.npos ? log.size() - most : line + 1);
}

}  // namespace

broker_process::broker_process(broker_names names, std::filesystem::path log)
    : names_(std::move(names)), log_(std::move(log)) {}

broker_process::~broker_process() { kill(); }

void broker_process::launch(spawn_options how) {
  how.output = log_;
  try {
    pid_ = spawn(how);
    is_paused_ = false;
  } catch (const std::system_error& failure) {
    throw error(std::string(failure.what()) + " (Debian: apt-get install " + names_.package + ")");
  }
}

void broker_process::await_answer(const std::function<bool()>& answers, std::chrono::milliseconds interval,
                                  clock::time_point deadline) {
  while (!answers()) {
    // A broker tells its end by itself, but not that it is ready.
    const bool is_gone = !runs() || await_until(pid_, clock::now() + interval);
    if (is_gone) pid_ = 0;
    if (is_gone || clock::now() > deadline) {
      throw error(names_.program + (is_gone ? " has ended" : " does not answer") + "; its log:\n" + end_of(log()));
    }
  }
}

bool broker_process::runs() {
  if (pid_ != 0 && collect(pid_)) pid_ = 0;
  if (pid_ == 0) is_paused_ = false;
  return pid_ != 0;
}

pid_t broker_process::pid() { return runs() ? pid_ : 0; }

void broker_process::require(bool is_running, const char* what) {
  if (runs() == is_running) return;
  throw error(std::string(what) + ": " + names_.subject + (is_running ? " does not run" : " runs"));
}

void broker_process::kill() {
  if (pid_ == 0) return;
  ::kill(pid_, SIGKILL);
  await(pid_);
  pid_ = 0;
  is_paused_ = false;
}

void broker_process::stop(std::chrono::milliseconds time_limit) {
  ::kill(pid_, SIGTERM);
  resume();  // a paused process would not see SIGTERM before it goes on
  if (!await_until(pid_, clock::now() + time_limit)) return kill();
  pid_ = 0;
}

void broker_process::pause() {
  ::kill(pid_, SIGSTOP);
  is_paused_ = true;
}

void broker_process::resume() {
  ::kill(pid_, SIGCONT);
  is_paused_ = false;
}

std::string broker_process::log() const {
  std::ifstream file(log_, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace testcluster::detail
