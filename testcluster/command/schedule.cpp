#include "schedule.hpp"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <testcluster/error.hpp>
#include <testcluster/op_code.hpp>

#include "command_line.hpp"
#include "exit_status.hpp"
#include "fault_options.hpp"
#include "printable.hpp"
#include "toml_section.hpp"
#include "zk_client.hpp"

namespace testcluster::command {

namespace {

namespace json = boost::json;

bool is_server_command(const std::string& action) {
  return action == "kill" || action == "stop" || action == "pause" || action == "resume" || action == "restart" ||
         action == "heal";
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
  ending["command"] = step.action == "kill" || step.action == "stop" ? "restart"
                      : step.action == "pause"                       ? "resume"
                                                                     : "mend";
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
  try {
    return server_of_role(dir_, server.role);
  } catch (const error& problem) {
    throw error(step.place + ": " + problem.what());
  }
}

schedule_run::milliseconds schedule_run::elapsed() const {
  return std::chrono::duration_cast<milliseconds>(clock::now() - start_);
}

void schedule_run::print(const std::string& what) {
  char time[32];
  std::snprintf(time, sizeof time, "%8.3f s  ", static_cast<double>(elapsed().count()) / 1000);
  out_ << time << printable(what) << std::endl;
}

/// What a step of a schedule can do.
struct schedule_action {
  enum class line { none, of_clients, of_servers, of_either };
  std::string name;
  enum class use { none, possible, needed } server;
  bool can_last;  // `for` ends it
  line spoils;
};

const std::vector<schedule_action>& schedule_actions();

/// The action of this name, which must be one of them.
const schedule_action& action_named(const std::string& name);

const std::vector<schedule_action>& schedule_actions() {
  using line = schedule_action::line;
  using use = schedule_action::use;
  static const std::vector<schedule_action> all{
      {"kill", use::needed, true, line::none},
      {"stop", use::needed, true, line::none},
      {"pause", use::needed, true, line::none},
      {"resume", use::needed, false, line::none},
      {"restart", use::needed, false, line::none},
      {"heal", use::possible, false, line::none},
      {"expire", use::none, false, line::none},
      {"partition", use::needed, true, line::of_servers},
      {"cut", use::needed, false, line::of_either},
      {"freeze", use::needed, true, line::of_either},
      {"refuse", use::needed, true, line::of_either},
      {"delay", use::needed, true, line::of_either},
      {"bandwidth", use::needed, true, line::of_either},
      {"half-open", use::needed, true, line::of_either},
      {"blackhole", use::needed, true, line::of_either},
      {"drop-reply", use::needed, false, line::of_clients},
      {"drop-request", use::needed, false, line::of_clients},
  };
  return all;
}

const schedule_action& action_named(const std::string& name) {
  const auto& all = schedule_actions();
  return *std::find_if(all.begin(), all.end(), [&name](const auto& each) { return each.name == name; });
}

namespace {

using namespace std::chrono_literals;
using line = schedule_action::line;
using use = schedule_action::use;

template <class Value>
Value required(toml_section& from, const std::string& key, std::optional<Value> value) {
  if (!value) from.refuse(key, "missing; each step of this kind needs it");
  return *value;
}

target read_target(toml_section& from, const std::string& key) {
  const auto* value = from.find(key);
  if (value == nullptr) return {};
  const std::string expected = "expected the id of a server, 1 to 9, or \"leader\", \"follower\" or \"observer\"";
  if (const auto id = value->value_exact<std::int64_t>()) {
    if (*id < 1 || *id > 9) from.refuse(key, expected + ", found " + std::to_string(*id));
    return {.id = static_cast<int>(*id), .role = {}};
  }
  const auto role = value->value_exact<std::string>().value_or("");
  if (role != "leader" && role != "follower" && role != "observer") from.refuse(key, expected);
  return {.id = 0, .role = role};
}

std::string action_of(toml_section& from) {
  std::vector<std::string> names;
  for (const auto& each : schedule_actions()) names.push_back(each.name);
  return required(from, "do", from.one_of("do", names));
}

void read_drop(toml_section& from, fault_options& into) {
  into.operation = required(from, "request", from.text("request"));
  try {
    op::code_of(into.operation);
  } catch (const std::invalid_argument& unknown) {
    from.refuse("request", unknown.what());
  }
  into.k = static_cast<int>(from.number("k", 1, 1'000'000).value_or(1));
}

void read_fault(toml_section& from, fault_options& into) {
  const auto& kind = into.kind;
  if (kind == "delay") into.amount = required(from, "by", from.duration("by", 0ms, 60s)).count();
  if (kind == "bandwidth")
    into.amount = required(from, "bytes_per_second", from.number("bytes_per_second", 1, 1'000'000'000'000));
  if (kind == "freeze" || kind == "blackhole")
    into.way = from.one_of("way", {"to-server", "to-client", "both"}).value_or("both");
  if (kind == "half-open") into.closed = from.one_of("closed", {"client", "server"}).value_or("server");
  if (kind == "drop-reply" || kind == "drop-request") read_drop(from, into);
}

void read_expire(toml_section& from, schedule_step& into) {
  into.path = from.text("path").value_or("");
  const auto session = from.text("session");
  if (session) {
    const auto id = parse_session(*session);
    if (!id) from.refuse("session", std::string("expected ") + session_syntax + ", in quotes");
    into.session = *id;
  }
  if (session.has_value() == !into.path.empty()) from.refuse("do", "expire needs either path or session");
  if (!session && !into.path.starts_with("/")) from.refuse("path", "expected a path that begins with a slash");
}

void read_servers(toml_section& from, const schedule_action& action, schedule_step& into) {
  if (action.server != use::none) into.server = read_target(from, "server");
  if (action.server == use::needed && !into.server.is_given())
    from.refuse("server", "missing; " + action.name + " needs it");
  if (action.spoils != line::of_servers && action.spoils != line::of_either) return;
  into.peer = read_target(from, "peer");
  const bool same = into.peer.is_given() && into.peer.id == into.server.id && into.peer.role == into.server.role;
  if (same) from.refuse("peer", "it is the same as server; name another");
}

schedule_step read_step(toml_section from, const std::string& place) {
  schedule_step step;
  step.place = place;
  step.at = required(from, "at", from.duration("at", 0ms, 24h));
  step.action = action_of(from);
  const auto& action = action_named(step.action);
  read_servers(from, action, step);
  step.fault.kind = step.action;
  read_fault(from, step.fault);
  if (step.action == "expire") read_expire(from, step);
  step.lasts = from.duration("for", 1ms, 24h);
  if (step.lasts && !action.can_last) from.refuse("for", step.action + " has no end; leave this key out");
  from.finish();
  return step;
}

void require(bool fits, const schedule_step& step, const std::string& problem) {
  if (!fits) throw error(step.place + ": " + step.action + ": " + problem);
}

void require_server(const target& server, const schedule_step& step, const cluster_shape& cluster) {
  const int total = cluster.servers + cluster.observers;
  require(server.id <= total, step,
          "there is no server " + std::to_string(server.id) + ": this cluster has 1 to " + std::to_string(total));
  require(server.role != "observer" || cluster.observers > 0, step, "this cluster has no observer");
  require(server.role != "follower" || cluster.servers > 1, step, "a single voter has no follower");
}

}  // namespace

schedule read_schedule(const std::filesystem::path& file) {
  const auto table = read_toml(file);
  toml_section top(file, table);
  const auto* steps = top.find("step");
  if (steps == nullptr || !steps->is_array_of_tables()) {
    top.finish();
    top.refuse("step", "expected at least one table [[step]] with the keys at and do");
  }
  schedule plan;
  for (const auto& each : *steps->as_array()) {
    const auto place = file.string() + ":" + std::to_string(each.source().begin.line);
    plan.steps.push_back(read_step(toml_section(file, *each.as_table()), place));
  }
  top.finish();
  std::stable_sort(plan.steps.begin(), plan.steps.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  return plan;
}

void require_fit(const schedule& plan, const cluster_shape& cluster) {
  for (const auto& step : plan.steps) {
    require_server(step.server, step, cluster);
    require_server(step.peer, step, cluster);
    const auto spoils = action_named(step.action).spoils;
    const bool between = spoils == line::of_servers || step.peer.is_given();
    require(!between || cluster.servers + cluster.observers > 1, step, "there is only one server");
    require(!between || cluster.peer_proxies, step, "it needs proxies between the servers: --proxies");
    require(spoils == line::none || between || cluster.proxies, step,
            "it needs proxies in front of the servers: --proxies or --delay");
  }
}

}  // namespace testcluster::command
