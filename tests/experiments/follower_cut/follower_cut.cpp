// Measures how long the old and the new owner believe at the same time when the holder's server is cut off: a follower
// from the leader, or the leader from both followers.
#include <iostream>
#include <random>

#include <CLI/CLI.hpp>

#include "report.hpp"

namespace {

using namespace follower_cut;
using namespace std::chrono_literals;
using std::chrono::milliseconds;
using zkrecipes::lease_mode;

/// In ticks. When two servers lose the third one, one of them may lead in vain, because the other still follows the
/// third. After this time it gives up, and they elect again.
constexpr int init_limit = 10;
constexpr int longest_election = 4 * init_limit;  // ticks

struct plan {
  milliseconds tick{};
  milliseconds session{};
  std::vector<int> sync_limits{10, 20, 40};
  follower_cut::cut cut = cut::link;
  std::vector<lease_mode> modes{lease_mode::standard, lease_mode::strict};
  int repeat = 5;
  unsigned seed = 1;
};

void measure(const plan& wanted, int sync_limit, std::vector<row>& rows) {
  testcluster::ensemble cluster({.servers = 3,
                                 .tick_time = wanted.tick,
                                 .init_limit = init_limit,
                                 .sync_limit = sync_limit,
                                 .max_session_timeout = 60s,
                                 .delay_proxies = wanted.cut == cut::leader,
                                 .peer_proxies = true,
                                 .start_timeout = 150s});
  std::mt19937 random(wanted.seed);
  std::uniform_int_distribution<int> phase(0, static_cast<int>(wanted.session.count()));
  for (auto mode : wanted.modes) {
    for (auto busy : {load::idle, wanted.cut == cut::leader ? load::breaks : load::reads, load::writes}) {
      row found{wanted.tick,
                sync_limit,
                {.noticed = wanted.tick * sync_limit,
                 .session = wanted.session,
                 .mode = mode,
                 .load = busy,
                 .cut = wanted.cut},
                {},
                {}};
      found.how.time_limit = wanted.tick * (sync_limit + longest_election) + 3 * wanted.session + 10s;
      for (int i = 0; i < wanted.repeat; ++i) {
        // Long enough for several heartbeats; the cut comes at a random moment between two of them.
        found.how.before_cut = wanted.session + milliseconds(phase(random));
        auto seen = look(cluster, found.how);
        if (seen.no_overlap.empty()) {
          found.seen.push_back(std::move(seen));
        } else {
          ++found.no_overlap[seen.no_overlap];
        }
        cluster.wait_serving();
      }
      rows.push_back(std::move(found));
      std::cerr << '.' << std::flush;
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Overlap of beliefs when the links of a holder's server to the leader, or of a leader to the others, are frozen, "
      "on "
      "three real servers"};
  plan wanted;
  std::string format = "table", mode = "both", cut_name = "link";
  int tick = 250, session = 2000;
  app.add_option("-o,--output", format, "table (Markdown) or json")->check(CLI::IsMember({"table", "json"}));
  app.add_option("--tick", tick, "tickTime in ms (250)")->check(CLI::Range(50, 10'000));
  app.add_option("--session", session, "Session timeout in ms, at least 2 ticks (2000)")
      ->check(CLI::Range(100, 60'000));
  app.add_option("--sync-limit", wanted.sync_limits, "syncLimit in ticks; may be repeated (10 20 40)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--mode", mode, "standard, strict or both")->check(CLI::IsMember({"standard", "strict", "both"}));
  app.add_option("--cut", cut_name,
                 "link: a follower from the leader, both ways at once (default); flip: one way, then the other, at the "
                 "worst moment; leader: the leader from both followers")
      ->check(CLI::IsMember({"link", "flip", "leader"}));
  app.add_option("--repeat", wanted.repeat, "Trials of each kind (5)")->check(CLI::Range(1, 10'000));
  app.add_option("--seed", wanted.seed, "Of the moments at which the link is cut (1)");
  CLI11_PARSE(app, argc, argv);
  if (session < 2 * tick) throw std::invalid_argument("--session: a server grants no less than 2 ticks");
  wanted.tick = milliseconds(tick);
  wanted.session = milliseconds(session);
  if (mode != "both") wanted.modes = {mode == "strict" ? lease_mode::strict : lease_mode::standard};

  wanted.cut = cut_name == "flip" ? cut::flip : cut_name == "leader" ? cut::leader : cut::link;

  std::vector<row> rows;
  for (int sync_limit : wanted.sync_limits) measure(wanted, sync_limit, rows);
  std::cerr << '\n';
  if (format == "json") {
    std::cout << to_json(rows) << '\n';
  } else {
    print(std::cout, rows);
  }
  return 0;
} catch (const std::exception& failure) {
  std::cerr << "follower_cut: " << failure.what() << '\n';
  return 1;
}
