// Measures our recipes, Curator's and kazoo's in one run on one ensemble.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <boost/version.hpp>

#include "crowd.hpp"
#include "leaders.hpp"
#include "parts.hpp"
#include "support/cluster.hpp"
#include "table.hpp"
#include "topic_rounds.hpp"

namespace bench {

// A result in a file, with what a reader must know of its run: tests/bench/plot draws from it.

/// Versions of the peers, which only the packages know. Empty: not measured.
struct peer_versions {
  std::string curator;
  std::string kazoo;
};

namespace json = boost::json;

namespace {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[sizeof "2000-12-31"];
  text[std::strftime(text, sizeof text, "%Y-%m-%d", &utc)] = '\0';
  return text;
}

/// The number in the first line of the answer to `srvr`: "Zookeeper version: 3.8.0-1a2b3c, built on ...". Empty if
/// there are no servers, which has failed the parts that need them.
std::string zookeeper_version() try {
  const std::string answer = zkrecipes::test::ask(1, "srvr");
  const auto begin = answer.find_first_of("0123456789");
  return begin == answer.npos ? "" : answer.substr(begin, answer.find_first_not_of("0123456789.", begin) - begin);
} catch (const std::exception&) {
  return {};
}

std::string compiler_version() {
  return std::to_string(__GNUC__) + '.' + std::to_string(__GNUC_MINOR__) + '.' + std::to_string(__GNUC_PATCHLEVEL__);
}

std::string boost_version() {
  return std::to_string(BOOST_VERSION / 100'000) + '.' + std::to_string(BOOST_VERSION / 100 % 1000) + '.' +
         std::to_string(BOOST_VERSION % 100);
}

json::object versions(const peer_versions& peers) {
  json::object all{{"ZooKeeper", zookeeper_version()}, {"GCC", compiler_version()}, {"Boost", boost_version()}};
  if (!peers.curator.empty()) all["Curator"] = peers.curator;
  if (!peers.kazoo.empty()) all["kazoo"] = peers.kazoo;
  return all;
}

json::object machine() {
  const double bytes = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {{"cores", std::thread::hardware_concurrency()}, {"memory_gib", std::lround(bytes / (1 << 30))}};
}

/// Each entry on a line of its own, so that two results can be compared line by line.
void append_entry(std::string& text, const char* key, const json::value& what) {
  text += " " + json::serialize(json::string(key)) + ": " + json::serialize(what) + ",\n";
}

}  // namespace

/// JSON with the date, the settings, the versions, the machine (without its name), the parts that have failed and why,
/// if any have, and the rows, one row per line.
std::string saved_result(const std::vector<row>& rows, const std::vector<std::string>& failed, const plan& what,
                         const peer_versions& peers) {
  std::string text = "{\n";
  append_entry(text, "date", json::string(today()));
  append_entry(text, "round_trip_ms", 2 * what.one_way_ms);
  append_entry(text, "repeat", what.repeat);
  append_entry(text, "rounds", what.rounds);
  append_entry(text, "versions", versions(peers));
  append_entry(text, "machine", machine());
  if (!failed.empty()) append_entry(text, "failed", json::value_from(failed));
  text += " \"rows\": [";
  const char* separator = "\n  ";
  for (const auto& each : to_json(rows)) text += std::exchange(separator, ",\n  ") + json::serialize(each);
  return text + "\n ]\n}\n";
}

}  // namespace bench

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
