#include "rabbit_probe.hpp"

#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <signal.h>

#include <testcluster/error.hpp>

#include "rabbit_environment.hpp"
#include "spawn.hpp"

namespace testcluster::detail {
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
