#include "schedule_run.hpp"

#include <cstdio>
#include <ostream>
#include <utility>

#include <testcluster/error.hpp>

#include "command_line.hpp"
#include "exit_status.hpp"
#include "printable.hpp"
#include "toml_section.hpp"
#include "zk_client.hpp"

namespace testcluster::command {
namespace {

namespace json = boost::json;

bool is_server_command(const std::string& action) {
  return action == "kill" || action == "pause" || action == "resume" || action == "restart" || action == "heal";
}

json::object request_for(const schedule_step& step, int server, int peer) {
  if (step.action == "expire") {
    if (!step.path.empty()) return {{"command", "expire"}, {"path", step.path}};
    return {{"command", "expire"}, {"session", step.session}};
  }
  if (is_server_command(step.action)) {
    json::object request{{"command", step.action}};
    if (server != 0) request["id"] = server;
    return request;
  }
  auto fault = step.fault;
  fault.peer = peer;
  return fault_request(server, fault);
}

/// What ends the effect of such a request.
json::object request_to_end(const schedule_step& step, const json::object& request) {
  auto ending = request;
  ending["command"] = step.action == "kill" ? "restart" : step.action == "pause" ? "resume" : "mend";
  return ending;
}

std::string details(const fault_options& fault) {
  if (fault.kind == "delay") return " by " + std::to_string(fault.amount) + "ms";
  if (fault.kind == "bandwidth") return " to " + std::to_string(fault.amount) + " bytes/s";
  if (fault.kind == "freeze" || fault.kind == "blackhole") return fault.way == "both" ? "" : " " + fault.way;
  if (fault.kind == "half-open") return ", closed at the " + fault.closed;
  if (fault.kind == "drop-reply" || fault.kind == "drop-request")
    return " " + fault.operation + " number " + std::to_string(fault.k);
  return {};
}

std::string text_of(const schedule_step& step, int server, int peer) {
  if (step.action == "expire")
    return "expire " + (step.path.empty() ? detail::session_text(step.session) : "the owner of " + step.path);
  std::string text = step.action + (server != 0 ? " server " + std::to_string(server) : "");
  if (!step.server.role.empty()) text += " (" + step.server.role + ")";
  if (peer != 0) text += " and server " + std::to_string(peer);
  return text + details(step.fault) + (step.lasts ? " for " + to_text(*step.lasts) : "");
}

}  // namespace

schedule_run::schedule_run(std::filesystem::path dir, const schedule& plan, std::ostream& out, waiter wait)
    : dir_(std::move(dir)), plan_(plan), out_(out), wait_(std::move(wait)) {}

int schedule_run::run() {
  start_ = clock::now();
  auto next = plan_.steps.begin();
  while (next != plan_.steps.end() || !endings_.empty()) {
    const bool is_ending = !endings_.empty() && (next == plan_.steps.end() || endings_.begin()->first <= next->at);
    const auto due = is_ending ? endings_.begin()->first : next->at;
    if (const int signal_number = wait_(start_ + due)) {
      end_all();
      return 128 + signal_number;
    }
    if (is_ending) {
      const auto ended = endings_.extract(endings_.begin()).mapped();
      failed_ |= !attempt(ended.what, ended.request);
    } else {
      begin(*next++);
    }
    if (failed_) {
      end_all();
      return exit_status::failure;
    }
  }
  return exit_status::success;
}

void schedule_run::begin(const schedule_step& step) {
  int server = 0, peer = 0;
  try {
    server = resolve(step.server, step);
    peer = resolve(step.peer, step);
  } catch (const error& problem) {
    print(step.action + " failed: " + problem.what());
    failed_ = true;
    return;
  }
  const auto request = request_for(step, server, peer);
  if (!attempt(text_of(step, server, peer), request)) {
    failed_ = true;
  } else if (step.lasts) {
    const auto which = step.action + " of server " + std::to_string(server);
    endings_.insert({elapsed() + *step.lasts, {"end of " + which, request_to_end(step, request)}});
  }
}

bool schedule_run::end_all() {
  bool all = true;
  for (const auto& [at, each] : endings_) all &= attempt(each.what, each.request);
  endings_.clear();
  return all;
}

bool schedule_run::attempt(const std::string& what, const json::object& request) {
  print(what);
  try {
    ask(dir_, request);
    return true;
  } catch (const std::exception& problem) {
    print(what + " failed: " + problem.what());
    return false;
  }
}

int schedule_run::resolve(const target& server, const schedule_step& step) {
  if (server.role.empty()) return server.id;
  const auto status = ask(dir_, {{"command", "status"}});
  for (const auto& each : status.at("nodes").as_array()) {
    const auto& role = each.at("role").as_string();
    if (role == server.role || (server.role == "leader" && role == "standalone"))
      return static_cast<int>(each.at("id").as_int64());
  }
  throw error(step.place + ": no server is " + server.role + " now");
}

schedule_run::milliseconds schedule_run::elapsed() const {
  return std::chrono::duration_cast<milliseconds>(clock::now() - start_);
}

void schedule_run::print(const std::string& what) {
  char time[32];
  std::snprintf(time, sizeof time, "%8.3f s  ", static_cast<double>(elapsed().count()) / 1000);
  out_ << time << printable(what) << std::endl;
}

}  // namespace testcluster::command
