#include "supervisor.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>

#include <testcluster/ensemble.hpp>
#include <testcluster/proxy.hpp>

#include "connection.hpp"
#include "descriptor.hpp"
#include "fault_options.hpp"
#include "place.hpp"
#include "register.hpp"
#include "zk_client.hpp"

namespace testcluster::command {

/// The whole cluster, as `up` and `status` show it.
boost::json::object describe(ensemble& cluster, const place& where);

/// Carries out a request from the control socket and returns the result to show. Throws if the request fails.
boost::json::object execute(const boost::json::object& request, ensemble& cluster, const place& where);

/// Injects a fault into the connections of clients to a server or, if `fault.peer` is set, between that server and
/// `id`.
void inject(ensemble& cluster, int id, const fault_options& fault);

/// Ends such a fault, or a partition (kind "partition"). The other faults of the connections stay, unless it is
/// half-open or blackhole, which only end together with all others.
void mend(ensemble& cluster, int id, const fault_options& fault);

/// Ends all faults. If a quorum of the voters runs, waits until they serve again.
void heal(ensemble& cluster);

namespace {

proxy::side side_of(const std::string& name, bool mirrored) {
  return (name == "client") != mirrored ? proxy::side::client : proxy::side::server;
}

proxy::way way_of(const std::string& name, bool mirrored) {
  if (name == "both") return proxy::way::both;
  return (name == "to-server") != mirrored ? proxy::way::to_server : proxy::way::to_client;
}

/// `mirrored`: the proxy runs in the opposite direction, so the client and the server of the fault change places.
void inject(proxy& line, const fault_options& fault, bool mirrored) {
  if (fault.kind == "cut") return line.cut();
  if (fault.kind == "freeze") return line.freeze(true, way_of(fault.way, mirrored));
  if (fault.kind == "refuse") return line.refuse(true);
  if (fault.kind == "delay") return line.set_delay(std::chrono::milliseconds(fault.amount));
  if (fault.kind == "bandwidth") return line.set_bandwidth(static_cast<std::uint64_t>(fault.amount));
  if (fault.kind == "half-open") return line.half_open(side_of(fault.closed, mirrored));
  if (fault.kind == "blackhole") return line.blackhole(way_of(fault.way, mirrored));
  if (fault.kind == "drop-reply") return line.drop_reply(op::code_of(fault.operation), fault.k);
  if (fault.kind == "drop-request") return line.drop_request(op::code_of(fault.operation), fault.k);
  throw error("unknown fault; are supervisor and command of the same version?");
}

void mend(proxy& line, const fault_options& fault, bool mirrored, std::chrono::milliseconds initial_delay) {
  if (fault.kind == "freeze") return line.freeze(false, way_of(fault.way, mirrored));
  if (fault.kind == "refuse") return line.refuse(false);
  if (fault.kind == "delay") return line.set_delay(initial_delay);
  if (fault.kind == "bandwidth") return line.set_bandwidth(0);
  if (fault.kind == "partition") return line.freeze(false);
  line.heal();
}

/// Calls `act` with each proxy between two servers, and whether it leads from `other` to `one`.
template <class Act>
void for_lines_between(ensemble& cluster, int one, int other, const Act& act) {
  for (auto port : {peer_port::quorum, peer_port::election}) {
    act(cluster.peer_proxy(one, other, port), false);
    act(cluster.peer_proxy(other, one, port), true);
  }
}

}  // namespace

void inject(ensemble& cluster, int id, const fault_options& fault) {
  if (fault.peer == 0) return inject(cluster.proxy(id), fault, false);
  for_lines_between(cluster, id, fault.peer, [&](proxy& line, bool mirrored) { inject(line, fault, mirrored); });
}

void mend(ensemble& cluster, int id, const fault_options& fault) {
  const auto between_servers = [&](proxy& line, bool mirrored) {
    mend(line, fault, mirrored, std::chrono::milliseconds(0));
  };
  if (fault.peer != 0) return for_lines_between(cluster, id, fault.peer, between_servers);
  if (fault.kind != "partition") return mend(cluster.proxy(id), fault, false, cluster.options().delay);
  for (const auto& each : cluster.nodes())
    if (each.id != id) for_lines_between(cluster, id, each.id, between_servers);
}

void heal(ensemble& cluster) {
  cluster.heal();
  const auto nodes = cluster.nodes();
  const auto working = std::count_if(nodes.begin(), nodes.end(), [](const node_info& each) {
    return each.votes && each.running && each.role != "paused";
  });
  if (working > cluster.options().servers / 2) cluster.wait_serving();
}

namespace {

namespace json = boost::json;

json::object describe_node(const node_info& node) {
  json::object out{{"id", node.id},     {"client_port", node.client_port}, {"address", node.address}, {"pid", node.pid},
                   {"role", node.role}, {"running", node.running},         {"votes", node.votes}};
  if (!node.secure.empty()) out["secure"] = node.secure;
  if (!node.proxy.empty()) out["proxy"] = node.proxy;
  if (!node.faults.empty()) out["faults"] = json::value_from(node.faults);
  if (!node.admin.empty()) out["admin"] = node.admin;
  return out;
}

void spoil(const json::object& request, ensemble& cluster, int id) {
  const auto& command = request.at("command").as_string();
  if (command != "fault" && command != "partition" && command != "mend")
    throw error("unknown request; are supervisor and command of the same version?");
  const auto fault = fault_from(request.at("fault").as_object());
  if (command == "fault") return inject(cluster, id, fault);
  if (command == "mend") return mend(cluster, id, fault);
  if (fault.peer == 0) return cluster.partition(id);
  cluster.partition(id, fault.peer);
}

json::object expire(const json::object& request, ensemble& cluster) {
  if (const auto* path = request.if_contains("path")) {
    const auto session = cluster.expire_owner(std::string(path->as_string()));
    return {{"session", detail::session_text(session)}, {"path", *path}, {"expired", true}};
  }
  const auto session = request.at("session").as_int64();
  cluster.expire(session);
  return {{"session", detail::session_text(session)}, {"expired", true}};
}

json::object describe_certificates(ensemble& cluster) {
  const auto& client = cluster.client_certificate();
  return {{"authorities", cluster.authority().certificate().string()},
          {"certificate", client.certificate.string()},
          {"key", client.key.string()}};
}

}  // namespace

json::object describe(ensemble& cluster, const place& where) {
  json::array nodes;
  for (const auto& node : cluster.nodes()) nodes.push_back(describe_node(node));
  json::object out{{"hosts", cluster.hosts()}, {"dir", where.path().string()}};
  if (!where.name().empty()) out["name"] = where.name();
  if (cluster.options().tls) out["tls"] = describe_certificates(cluster);
  if (cluster.options().tls) out["peer_tls"] = cluster.peers_speak_tls();
  if (cluster.options().digest_superuser) out["superuser"] = cluster.superuser_file().string();
  if (cluster.options().auth_required) out["auth_required"] = true;
  out["proxies"] = cluster.options().delay_proxies;
  out["peer_proxies"] = cluster.options().peer_proxies;
  out["nodes"] = nodes;
  return out;
}

json::object execute(const json::object& request, ensemble& cluster, const place& where) {
  static const std::map<json::string, void (ensemble::*)(int)> on_server{
      {"kill", &ensemble::kill},     {"stop", &ensemble::stop}, {"pause", &ensemble::pause},
      {"resume", &ensemble::resume}, {"heal", &ensemble::heal}, {"restart", &ensemble::restart}};
  const auto& command = request.at("command").as_string();
  if (command == "status") return describe(cluster, where);
  if (command == "expire") return expire(request, cluster);
  if (command == "heal" && !request.contains("id")) {
    heal(cluster);
    return describe(cluster, where);
  }
  const auto id = static_cast<int>(request.at("id").as_int64());
  if (const auto found = on_server.find(command); found != on_server.end()) {
    (cluster.*found->second)(id);
  } else {
    spoil(request, cluster, id);
  }
  auto node = cluster.nodes().at(id - 1);
  if (command == "resume") node.role = "resumed";  // what it says at once is its role of before the pause
  return describe_node(node);
}

namespace asio = boost::asio;
namespace json = boost::json;
using boost::system::error_code;

service::service(ensemble& cluster, const place& where, int lifeline)
    : cluster_(cluster), where_(where), acceptor_(io_, local::endpoint(where.socket().string())), lifeline_(io_) {
  if (lifeline >= 0) lifeline_.assign(lifeline);
  detail::close_on_exec(acceptor_.native_handle());
}

void service::run() {
  asio::signal_set signals(io_, SIGTERM, SIGINT);
  signals.async_wait([this](error_code, int) { io_.stop(); });
  char nothing = 0;
  if (lifeline_.is_open())
    lifeline_.async_read_some(asio::buffer(&nothing, 1), [this](error_code, std::size_t) { io_.stop(); });
  asio::co_spawn(io_, accept(), asio::detached);
  io_.run();
}

asio::awaitable<void> service::accept() {
  asio::steady_timer pause(io_);
  while (true) {
    error_code failed;
    auto peer = co_await acceptor_.async_accept(asio::redirect_error(asio::use_awaitable, failed));
    if (failed) {  // for example, no descriptor is free: this may pass
      pause.expires_after(std::chrono::milliseconds(50));
      co_await pause.async_wait(asio::use_awaitable);
      continue;
    }
    detail::close_on_exec(peer.native_handle());
    asio::co_spawn(io_, serve(std::make_shared<local::socket>(std::move(peer))), asio::detached);
  }
}

asio::awaitable<void> service::serve(std::shared_ptr<local::socket> peer) {
  constexpr std::size_t longest_request = 64 * 1024;
  asio::steady_timer timer(io_, std::chrono::seconds(5));
  timer.async_wait([peer](error_code ended) {
    if (!ended) peer->cancel();
  });
  error_code failed;
  std::string line;
  auto buffer = asio::dynamic_buffer(line, longest_request);
  co_await asio::async_read_until(*peer, buffer, '\n', asio::redirect_error(asio::use_awaitable, failed));
  timer.cancel();
  if (failed) co_return;
  const std::string reply = json::serialize(answer(line)) + "\n";
  co_await asio::async_write(*peer, asio::buffer(reply), asio::redirect_error(asio::use_awaitable, failed));
}

json::object service::answer(const std::string& line) {
  try {
    const auto request = json::parse(line).as_object();
    // `down` has no reply: the client waits for the end of this process.
    if (request.at("command").as_string() == "down") {
      io_.stop();
      return {};
    }
    return {{"ok", execute(request, cluster_, where_)}};
  } catch (const std::exception& problem) {
    return {{"error", problem.what()}};
  }
}

namespace {

/// Closes every descriptor above standard error, except these two. The second one may be -1.
void close_all_but(int one, int other) {
  unsigned next = STDERR_FILENO + 1;
  for (const int kept : {std::min(one, other), std::max(one, other)}) {
    if (kept < 0) continue;
    const auto number = static_cast<unsigned>(kept);
    if (next < number) ::close_range(next, number - 1, 0);
    next = number + 1;
  }
  ::close_range(next, ~0U, 0);
}

/// Detaches from the terminal and from what this process has blocked.
void go_to_background() {
  ::setsid();
  ::umask(077);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, number);
}

/// Returns false if the parent process no longer waits for the outcome.
bool report(detail::descriptor& outcome, const json::object& what) {
  const auto text = json::serialize(what);
  const bool sent = ::write(outcome.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  outcome.reset();
  return sent;
}

/// The servers can not be started and the lifeline be watched at once. So the kernel kills this process if `owner` ends
/// during the start; the guards then end the servers and remove a temporary directory.
void live_with(pid_t owner) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != owner) ::_exit(1);
}

void supervise(arguments wanted, detail::descriptor outcome, int lifeline) {
  try {
    place where(wanted.dir, wanted.name);
    ::chdir("/");
    wanted.ensemble.dir = where.ensemble();
    ensemble cluster(wanted.ensemble);
    service requests(cluster, where, lifeline);
    ::prctl(PR_SET_PDEATHSIG, 0);  // from now on the lifeline tells
    if (report(outcome, {{"ok", describe(cluster, where)}})) requests.run();
  } catch (const std::exception& problem) {
    report(outcome, {{"error", problem.what()}});
  }
}

std::string read_to_end(int descriptor) {
  std::string text;
  char buffer[4096];
  while (true) {
    const auto size = ::read(descriptor, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return text;
    text.append(buffer, size);
  }
}

struct pipe_ends {
  detail::descriptor reading, writing;
};

pipe_ends make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw error(std::string("pipe: ") + std::strerror(errno));
  return {detail::descriptor(ends[0]), detail::descriptor(ends[1])};
}

/// The guards and servers of a killed supervisor become children of this process; returns when they have ended.
void await_orphans(std::chrono::milliseconds time_limit) {
  const auto deadline = std::chrono::steady_clock::now() + time_limit;
  sigset_t ends;
  sigset_t before;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, &before);  // an end between the two calls is not missed
  for (;;) {
    const auto ended = ::waitpid(-1, nullptr, WNOHANG);
    if (ended < 0 && errno != EINTR) break;
    if (ended != 0) continue;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const timespec limit{left.count() / 1000, left.count() % 1000 * 1'000'000};
    ::sigtimedwait(&ends, nullptr, &limit);
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

supervisor::supervisor(const arguments& wanted, lifetime how) : dir_(wanted.dir) {
  auto outcome = make_pipe();
  auto life = how == lifetime::bound ? make_pipe() : pipe_ends{};
  const auto owner = ::getpid();
  pid_ = ::fork();
  if (pid_ < 0) throw error(std::string("fork: ") + std::strerror(errno));
  if (pid_ == 0) {
    go_to_background();
    if (how == lifetime::bound) live_with(owner);
    close_all_but(outcome.writing.get(), life.reading.get());
    supervise(wanted, std::move(outcome.writing), life.reading.get());
    ::_exit(0);
  }
  outcome_ = std::move(outcome.reading);
  lifeline_ = std::move(life.writing);
}

json::object supervisor::started() {
  const auto text = read_to_end(outcome_.get());
  if (text.empty()) throw error("the supervisor ended before the servers were ready");
  json::parse_options options;
  options.allow_invalid_utf8 = true;  // an error can contain the end of a log, with any bytes
  const auto outcome = json::parse(text, {}, options).as_object();
  if (const auto* problem = outcome.if_contains("error")) {
    ::waitpid(std::exchange(pid_, 0), nullptr, 0);  // end() must not wait for another process of this number
    throw error(std::string(problem->as_string()));
  }
  return outcome.at("ok").as_object();
}

void supervisor::end(std::chrono::milliseconds time_limit) {
  lifeline_.reset();
  if (!await_end(time_limit)) kill();
}

bool supervisor::await_end(std::chrono::milliseconds time_limit) const {
  const detail::descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  if (!process) return true;  // it has ended, and was collected
  pollfd ended{process.get(), POLLIN, 0};
  if (::poll(&ended, 1, static_cast<int>(time_limit.count())) != 1) return false;
  ::waitpid(pid_, nullptr, 0);
  return true;
}

void supervisor::kill() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  await_orphans(std::chrono::seconds(30));
  if (!dir_.empty() && examine(normal(dir_)) == condition::stale) remove_stale(normal(dir_));
  registered();  // forgets a temporary directory
}

}  // namespace testcluster::command
