// Measures our recipes, Curator's and kazoo's in one run on one ensemble.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include "crowd.hpp"
#include "dying_leader.hpp"
#include "leaders.hpp"
#include "parts.hpp"
#include "saved_result.hpp"
#include "support/cluster.hpp"
#include "topic_rounds.hpp"

namespace {

using part = std::pair<const char*, std::vector<bench::row> (*)(const bench::plan&)>;

constexpr part parts[] = {{"round-trips", &bench::round_trips},
                          {"wake-ups", &bench::wake_ups},
                          {"waiting", &bench::waiting},
                          {"leaders", &bench::leaders},
                          {"deaths", &bench::deaths},
                          {"rates", &bench::rates},
                          {"cpu", &bench::cpu},
                          {"queues", &bench::queues},
                          {"deliveries", &bench::deliveries},
                          {"topics", &bench::topics},
                          {"commits", &bench::commits},
                          {"dashboards", &bench::dashboards},
                          {"shards", &bench::shards},
                          {"gates", &bench::gates},
                          {"limiters", &bench::limiters},
                          {"spools", &bench::spools},
                          {"moves", &bench::moves},
                          {"shared-moves", &bench::shared_moves},
                          {"secure", &bench::secure}};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& each : parts) all.emplace_back(each.first);
  return all;
}

/// A part that fails may leave the messages delayed, and have failed because there are no servers.
void end_delays() noexcept try { zkrecipes::test::heal_proxies(); } catch (const std::exception&) {
}

/// A part that fails takes nothing of the others along. `failed` tells which have, and why.
std::vector<bench::row> measure(const bench::plan& what, const std::vector<std::string>& chosen,
                                std::vector<std::string>& failed) {
  std::vector<bench::row> rows;
  for (const auto& [name, run] : parts) {
    if (std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
    std::cerr << "measuring " << name << std::endl;
    try {
      for (auto& each : run(what)) {
        each.part = name;
        rows.push_back(std::move(each));
      }
    } catch (const std::exception& error) {
      failed.push_back(std::string(name) + ": " + error.what());
      end_delays();
    }
  }
  return rows;
}

void write_file(const std::string& name, const std::string& text) {
  std::ofstream file(name);
  file << text << std::flush;
  if (!file) throw std::runtime_error("cannot write " + name);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"zkrecipes, Curator and kazoo on one ensemble"};
  bench::plan what;
  what.self = std::filesystem::read_symlink("/proc/self/exe");
  std::string format = "table";
  std::vector<std::string> chosen = names();
  std::string hosts;
  std::size_t in_line = 0;
  std::vector<std::string> secure;
  std::string election;
  bench::dying_leader dying;
  std::vector<std::uint32_t> share;
  std::string save;
  bench::peer_versions versions;
  app.add_option("-o", format, "table or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--part", chosen,
                 "Only these: round-trips, wake-ups, waiting, leaders, deaths, rates, cpu, queues, deliveries, topics, "
                 "commits, dashboards, shards, gates, limiters, spools, moves, shared-moves, secure")
      ->check(CLI::IsMember(names()));
  app.add_option("--peers", what.peers, "Program that measures a peer; without it only ours are measured");
  app.add_option("--delay", what.one_way_ms, "Added delay in each direction, ms")->check(CLI::Range(1, 1000));
  app.add_option("--repeat", what.repeat, "Samples of a round trip; the median counts")->check(CLI::Range(1, 1000));
  app.add_option("--rounds", what.rounds, "Rounds of what is measured in turns; the median counts")
      ->check(CLI::Range(1, 100));
  app.add_option("--save", save, "Also write the result, its date, versions and machine to this file, as JSON");
  app.add_option("--curator-version", versions.curator)->group("");
  app.add_option("--kazoo-version", versions.kazoo)->group("");
  app.add_option("--wait-in-line", in_line, "Only waits, as the part \"waiting\" does")->group("");
  app.add_option("--by-tls", secure, "With these files: authority, certificate, key")->expected(3)->group("");
  app.add_option("--stand-for", election, "Only campaigns, as the part \"leaders\" does")->group("");
  app.add_option("--die-for", dying.path, "Only leads, and dies, as the part \"deaths\" does")->group("");
  app.add_option("--guardian", dying.guardian)->group("");
  app.add_option("--resident", dying.resident_mib)->group("");
  app.add_option("--control-group", dying.control_group)->group("");
  app.add_option("--work-off", share, "Only consumes: shards of the topic, the first of ours, and their number")
      ->expected(3)
      ->group("");
  app.add_option("--hosts", hosts)->group("");
  CLI11_PARSE(app, argc, argv);

  if (in_line) {
    zkrecipes::session_options by{.hosts = hosts};
    if (!secure.empty())
      by.tls = zkrecipes::tls_options{.authorities = secure[0], .certificate = secure[1], .key = secure[2]};
    std::cout << bench::measure_waiting(by, in_line) << std::endl;
    return 0;
  }
  if (!election.empty()) {
    bench::stand_for(hosts, election);
    return 0;
  }
  if (!dying.path.empty()) {
    dying.hosts = hosts;
    bench::lead_and_die(dying);
    return 0;
  }
  if (!share.empty()) {
    bench::consume_share(hosts, share.at(0), share.at(1), share.at(2));
    return 0;
  }
  std::vector<std::string> failed;
  const auto rows = measure(what, chosen, failed);
  if (format == "json") {
    std::cout << bench::to_json(rows) << '\n';
  } else {
    bench::print(rows);
  }
  if (!save.empty()) write_file(save, bench::saved_result(rows, failed, what, versions));
  for (const auto& each : failed) std::cerr << "bench: failed: " << each << '\n';
  return failed.empty() ? 0 : 1;
} catch (const std::exception& error) {
  std::cerr << "bench: " << error.what() << '\n';
  return 1;
}
