// Round trips of an injected delay: ours, Curator's and kazoo's, in one run on one ensemble.
#include "operations.hpp"

#include <testcluster/ensemble.hpp>

#include <boost/asio.hpp>
#include <boost/json.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iostream>
#include <memory>

namespace asio = boost::asio;
namespace json = boost::json;

namespace {

struct row {
  const char* ours;
  const char* peers;  ///< The name that the peers' programs give to the comparable operation.
};

constexpr row rows[] = {
    {"acquire a free place in the line", "acquire a free lock"},
    {"resign until the successor wakes up", "resign to successor"},
    {"win a free election until inaugurated", "win a free election"},
    {"hand over until the successor inaugurates", "resign to successor"},
    {"queue put", "queue put"},
    {"queue take", "queue take"},
    {"queue take and acknowledge", "queue take and acknowledge"},
};

std::map<std::string, double> measure_ours(const std::string& hosts, double round_trip_ms, int repeat) {
  asio::io_context io;
  std::map<std::string, double> results;
  auto run = [](asio::io_context& on, std::string where, double unit, int times,
                std::map<std::string, double>& out) -> asio::awaitable<void> {
    zkrecipes::session_options options{.hosts = std::move(where)};
    zkrecipes::session first(on.get_executor(), options);
    zkrecipes::session second(on.get_executor(), options);
    co_await first.async_connected(asio::use_awaitable);
    co_await second.async_connected(asio::use_awaitable);
    bench::setting setting{first, second, unit, times};
    out = co_await bench::measure_all(setting);
    co_await first.async_close(asio::use_awaitable);
    co_await second.async_close(asio::use_awaitable);
  };
  asio::co_spawn(io, run(io, hosts, round_trip_ms, repeat, results), [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
  return results;
}

/// Runs a peer's program; its last line is the result.
json::object measure_peer(const std::string& program, const std::string& peer, const std::string& hosts,
                          double round_trip_ms, int repeat) {
  const std::string command = program + ' ' + peer + " --hosts " + hosts + " --round-trip-ms " +
                              std::to_string(round_trip_ms) + " --repeat " + std::to_string(repeat);
  std::unique_ptr<FILE, int (*)(FILE*)> output(::popen(command.c_str(), "r"), &::pclose);
  std::string last;
  std::array<char, 16384> line{};
  while (output && std::fgets(line.data(), line.size(), output.get())) last = line.data();
  if (!output || ::pclose(output.release()) != 0) throw std::runtime_error(peer + ": could not be measured");
  return json::parse(last).as_object().at("operations").as_object();
}

json::value value_of(const json::object& operations, const char* name) {
  const auto* found = operations.if_contains(name);
  return found ? *found : json::value();
}

void print_cell(const json::value& value) {
  if (value.is_number()) {
    std::printf("%9.2f", value.to_number<double>());
  } else {
    std::printf("%9s", "-");
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"Round trips of zkrecipes, Curator and kazoo on one ensemble behind a delay"};
  std::string format = "table";
  std::string peers;
  int one_way_ms = 10;
  int repeat = 5;
  app.add_option("-o", format, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--peers", peers, "Program that measures a peer; without it only ours are measured");
  app.add_option("--delay", one_way_ms, "Added delay in each direction, ms")->check(CLI::Range(1, 1000));
  app.add_option("--repeat", repeat, "Samples an operation; the median counts")->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);

  const double round_trip = 2.0 * one_way_ms;
  testcluster::ensemble ensemble(
      {.servers = 3, .delay_proxies = true, .delay = std::chrono::milliseconds(one_way_ms)});
  auto ours = measure_ours(ensemble.hosts(), round_trip, repeat);
  json::object curator;
  json::object kazoo;
  if (!peers.empty()) {
    curator = measure_peer(peers, "curator", ensemble.hosts(), round_trip, repeat);
    kazoo = measure_peer(peers, "kazoo", ensemble.hosts(), round_trip, repeat);
  }
  json::array table;
  for (const auto& each : rows) {
    table.push_back(json::object{{"operation", each.ours},
                                 {"ours", ours.at(each.ours)},
                                 {"curator", value_of(curator, each.peers)},
                                 {"kazoo", value_of(kazoo, each.peers)}});
  }
  if (format == "json") {
    std::cout << json::serialize(table) << '\n';
    return 0;
  }
  std::printf("%-44s%9s%9s%9s   (round trips of %.0f ms)\n", "operation", "ours", "Curator", "kazoo",
              round_trip);
  for (const auto& each : table) {
    std::printf("%-44s", each.at("operation").as_string().c_str());
    for (const char* who : {"ours", "curator", "kazoo"}) print_cell(each.at(who));
    std::printf("\n");
  }
  return 0;
} catch (const std::exception& error) {
  std::cerr << "bench: " << error.what() << '\n';
  return 1;
}
