#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <signal.h>

#include <testcluster/error.hpp>
#include <testcluster/rabbit_broker.hpp>

#include "connection.hpp"
#include "rabbit_node.hpp"
#include "spawn.hpp"
#include "workspace.hpp"
#include "written_file.hpp"

namespace testcluster::detail {

/// Asks RabbitMQ nodes what AMQP does not tell, each time by an Erlang machine that lives for that question only: this
/// takes a fifth of a second of processor, and rabbitmqctl several times as much.
class rabbit_probe {
 public:
  /// `home` has the nodes' cookie. `host`: a loopback address for its name; it does not listen. `port`: at which the
  /// nodes speak with each other. `group`: the process group that it joins.
  rabbit_probe(std::filesystem::path home, std::string host, int port, pid_t group);

  /// Waits until each of these nodes knows that the others run. False: it is not so at the deadline.
  bool await_cluster(const std::vector<std::string>& nodes, clock::time_point deadline) const;

  /// The node that leads a quorum queue, as the first of these nodes says that can tell.
  std::optional<std::string> leader_of(const std::string& virtual_host, const std::string& queue,
                                       const std::vector<std::string>& nodes, clock::time_point deadline) const;

 private:
  std::string ask(const char* program, const std::vector<std::string>& arguments, clock::time_point deadline) const;

  std::filesystem::path home_;
  std::string host_;
  int port_;
  pid_t group_;
};

namespace {

constexpr const char* await_program = R"(
Nodes = [list_to_atom(Name) || Name <- init:get_plain_arguments()],
Knows = fun(Node) ->
  try Nodes -- erpc:call(Node, rabbit_nodes, all_running, [], 2000) =:= [] catch _:_ -> false end
end,
Wait = fun Again() ->
  case lists:all(Knows, Nodes) of true -> io:put_chars("ready\n"); false -> timer:sleep(50), Again() end
end,
Wait(),
halt(0).)";

// The record of a queue names its leader, but the new leader may be about to write that. The members know it.
constexpr const char* leader_program = R"(
[Host, Queue | Names] = init:get_plain_arguments(),
Key = {resource, unicode:characters_to_binary(Host), queue, unicode:characters_to_binary(Queue)},
Ask = fun(Node) ->
  try
    {ok, Found} = erpc:call(Node, rabbit_amqqueue, lookup, [Key], 2000),
    {Members, _} = erpc:call(Node, amqqueue, get_pid, [Found], 2000),
    {ok, _, {_, Leader}} = erpc:call(Node, ra, members, [{Members, Node}, 2000], 3000),
    {true, Leader}
  catch _:_ -> false end
end,
First = fun
  Next([]) -> ok;
  Next([Name | Others]) ->
    case Ask(list_to_atom(Name)) of {true, Leader} -> io:format("~s~n", [Leader]); false -> Next(Others) end
end,
First(Names),
halt(0).)";

}  // namespace

rabbit_probe::rabbit_probe(std::filesystem::path home, std::string host, int port, pid_t group)
    : home_(std::move(home)), host_(std::move(host)), port_(port), group_(group) {}

bool rabbit_probe::await_cluster(const std::vector<std::string>& nodes, clock::time_point deadline) const {
  return ask(await_program, nodes, deadline) == "ready";
}

std::optional<std::string> rabbit_probe::leader_of(const std::string& virtual_host, const std::string& queue,
                                                   const std::vector<std::string>& nodes,
                                                   clock::time_point deadline) const {
  std::vector<std::string> arguments{virtual_host, queue};
  arguments.insert(arguments.end(), nodes.begin(), nodes.end());
  auto answer = ask(leader_program, arguments, deadline);
  if (answer.empty()) return std::nullopt;
  return answer;
}

/// The first line of what the program prints. Without one, or at the deadline: nothing.
std::string rabbit_probe::ask(const char* program, const std::vector<std::string>& arguments,
                              clock::time_point deadline) const {
  const auto output = home_ / "answer";
  std::error_code ignored;
  std::filesystem::remove(output, ignored);
  std::vector<std::string> command{"erl", "-boot", "no_dot_erlang", "-noinput", "-hidden"};
  command.insert(command.end(), {"-name", "probe@" + host_, "-dist_listen", "false", "-erl_epmd_port"});
  command.insert(command.end(), {std::to_string(port_), "+S", "1:1", "+A", "1", "-eval", program, "-extra"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const auto pid = spawn({.command = std::move(command),
                          .group = group_,
                          .output = output,
                          .working_directory = home_,
                          .environment = erlang_environment(home_)});
  if (!await_until(pid, deadline)) {
    ::kill(pid, SIGKILL);
    await(pid);
    return {};
  }
  std::ifstream file(output);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace testcluster::detail

namespace testcluster {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

struct rabbit_broker::impl {
  explicit impl(const rabbit_broker_options& given);

  detail::rabbit_node& node(int number);
  detail::tls_folder& certificates();
  std::vector<detail::rabbit_node*> stopped();
  std::vector<std::string> reachable();
  void make_nodes();
  void start(const std::vector<detail::rabbit_node*>& which);
  void await_answer(detail::rabbit_node& of, detail::clock::time_point deadline);

  rabbit_broker_options options;
  detail::workspace files;
  detail::guard keeper;
  detail::owned_folder folder;
  fs::path home;
  std::optional<detail::tls_folder> tls;
  std::vector<std::unique_ptr<detail::rabbit_node>> nodes;
  std::optional<detail::rabbit_probe> probe;
};

namespace {

void require_text(const std::string& text, const char* what) {
  const bool is_printable =
      std::none_of(text.begin(), text.end(), [](unsigned char each) { return each < 0x20 || each == 0x7f; });
  if (!text.empty() && text.size() <= 127 && is_printable) return;
  throw std::invalid_argument(std::string(what) + ": it must have 1 to 127 bytes, none of them a control character");
}

const rabbit_broker_options& checked_options(const rabbit_broker_options& options) {
  constexpr int most = 65535 - detail::rabbit_node::distribution_offset;
  if (options.nodes < 1 || options.nodes > 7) throw std::invalid_argument("nodes: there must be 1 to 7");
  if (options.start_timeout <= 0ms) throw std::invalid_argument("start_timeout: it must be more than zero");
  if (options.port == 0 || options.port > most)
    throw std::invalid_argument("port: it must be 1 to " + std::to_string(most));
  require_text(options.user, "user");
  require_text(options.password, "password");
  require_text(options.virtual_host, "virtual_host");
  return options;
}

std::string joined(const std::vector<std::unique_ptr<detail::rabbit_node>>& nodes,
                   const std::string& (detail::rabbit_node::*address)() const) {
  std::string all;
  for (const auto& each : nodes) all += (all.empty() ? "" : ",") + ((*each).*address)();
  return all;
}

}  // namespace

rabbit_broker::impl::impl(const rabbit_broker_options& given)
    : options(checked_options(given)),
      files(options.dir),
      keeper(files.temporary() ? files.path() : fs::path{}),
      folder(files.path() / "rabbitmq"),
      home(folder.path() / "home") {
  // Its line in rabbitmq.conf would end there.
  if (options.tls && files.path().string().find('#') != std::string::npos)
    throw std::invalid_argument("dir: " + files.path().string() + " has a '#'; name another directory with tls");
  fs::create_directory(home);
  detail::write_file(home / ".erlang.cookie", detail::drawn_secret(), 0400);
  if (options.tls) tls.emplace(folder.path() / "tls");
  make_nodes();
  start({nodes.front().get()});
  if (options.nodes > 1) start(stopped());
}

void rabbit_broker::impl::make_nodes() {
  for (int number = 1; number <= options.nodes; ++number) {
    const auto place = folder.path() / ("node." + std::to_string(number));
    auto& made = *nodes.emplace_back(std::make_unique<detail::rabbit_node>(number, place, options.port));
    if (tls) {
      auto& signer = tls->signer();
      const auto name = "node-" + std::to_string(number);
      made.secure(signer.issue({.name = name, .hosts = {made.host(), "localhost"}}), signer.certificate());
    }
    made.configure(options, nodes.front()->name());
  }
  probe.emplace(home, nodes.front()->host(), options.port + detail::rabbit_node::distribution_offset, keeper.group());
}

detail::rabbit_node& rabbit_broker::impl::node(int number) {
  if (number >= 1 && number <= options.nodes) return *nodes[static_cast<std::size_t>(number - 1)];
  throw std::invalid_argument("there is no node " + std::to_string(number) + ", there are 1 to " +
                              std::to_string(options.nodes));
}

detail::tls_folder& rabbit_broker::impl::certificates() {
  if (!tls) throw error("the broker was started without tls");
  return *tls;
}

std::vector<detail::rabbit_node*> rabbit_broker::impl::stopped() {
  std::vector<detail::rabbit_node*> found;
  for (const auto& each : nodes) {
    if (!each->process().runs()) found.push_back(each.get());
  }
  return found;
}

/// The Erlang names of those that can be asked.
std::vector<std::string> rabbit_broker::impl::reachable() {
  std::vector<std::string> names;
  for (const auto& each : nodes) {
    if (each->process().runs() && !each->process().is_paused()) names.push_back(each->name());
  }
  return names;
}

void rabbit_broker::impl::start(const std::vector<detail::rabbit_node*>& which) {
  const auto deadline = detail::clock::now() + options.start_timeout;
  for (auto* each : which) each->launch(home, keeper.group());
  for (auto* each : which) await_answer(*each, deadline);
  const auto names = reachable();
  if (names.size() < 2 || probe->await_cluster(names, deadline)) return;
  throw error("rabbitmq-server: not every node knows in time that the others run");
}

/// A node that comes back soon after its death can wait for ever for `global` of the others: RabbitMQ 3.10 sees that,
/// but its cure does not fit Erlang 25. So it is started once more, as a supervisor would, in the middle of the time
/// that those before it have left.
void rabbit_broker::impl::await_answer(detail::rabbit_node& of, detail::clock::time_point deadline) {
  const auto answers = [&] { return of.answers(); };
  const auto now = detail::clock::now();
  const auto half_time = now + (deadline - now) / 2;
  try {
    return of.process().await_answer(answers, 20ms, half_time);
  } catch (const error&) {
    if (!of.process().runs()) throw;
  }
  of.process().kill();
  of.launch(home, keeper.group());
  of.process().await_answer(answers, 20ms, deadline);
}

rabbit_broker::rabbit_broker(const rabbit_broker_options& options) : impl_(std::make_unique<impl>(options)) {}

rabbit_broker::~rabbit_broker() = default;

int rabbit_broker::nodes() const { return impl_->options.nodes; }

const std::string& rabbit_broker::address(int node) const { return impl_->node(node).address(); }

std::string rabbit_broker::addresses() const { return joined(impl_->nodes, &detail::rabbit_node::address); }

const fs::path& rabbit_broker::dir() const { return impl_->files.path(); }

const std::string& rabbit_broker::secure_address(int node) const {
  impl_->certificates();
  return impl_->node(node).secure_address();
}

std::string rabbit_broker::secure_addresses() const {
  impl_->certificates();
  return joined(impl_->nodes, &detail::rabbit_node::secure_address);
}

authority& rabbit_broker::authority() { return impl_->certificates().signer(); }

const certificate_files& rabbit_broker::client_certificate() const { return impl_->certificates().client(); }

bool rabbit_broker::running(int node) { return impl_->node(node).process().runs(); }

pid_t rabbit_broker::pid(int node) { return impl_->node(node).process().pid(); }

void rabbit_broker::kill(int node) {
  auto& process = impl_->node(node).process();
  process.require(true, "kill");
  process.kill();
}

void rabbit_broker::stop(int node) {
  auto& process = impl_->node(node).process();
  process.require(true, "stop");
  process.stop(impl_->options.start_timeout);
}

void rabbit_broker::start(int node) {
  auto& started = impl_->node(node);
  started.process().require(false, "start");
  impl_->start({&started});
}

void rabbit_broker::start_all() { impl_->start(impl_->stopped()); }

void rabbit_broker::restart(int node) {
  if (running(node)) kill(node);
  start(node);
}

void rabbit_broker::pause(int node) {
  auto& process = impl_->node(node).process();
  process.require(true, "pause");
  process.pause();
}

void rabbit_broker::resume(int node) {
  auto& process = impl_->node(node).process();
  process.require(true, "resume");
  process.resume();
}

int rabbit_broker::leader_of(const std::string& queue) {
  const auto names = impl_->reachable();
  if (names.empty()) return 0;
  const auto deadline = detail::clock::now() + impl_->options.start_timeout;
  const auto leader = impl_->probe->leader_of(impl_->options.virtual_host, queue, names, deadline);
  for (const auto& each : impl_->nodes) {
    if (leader == each->name()) return each->number();
  }
  return 0;
}

bool rabbit_broker::keeps(const std::string& queue, int node) const { return impl_->node(node).keeps(queue); }

std::string rabbit_broker::log(int node) const { return impl_->node(node).process().log(); }

}  // namespace testcluster
