// Measures how long the old and the new owner believe at the same time when the holder's server is cut off: a follower
// from the leader, or the leader from both followers.
#include <algorithm>
#include <cstdio>
#include <iosfwd>
#include <iostream>
#include <map>
#include <ostream>
#include <random>
#include <vector>

#include <CLI/CLI.hpp>

#include <boost/json.hpp>

#include "trial.hpp"

namespace follower_cut {

// Reports: one row for all trials with the same setting.

struct row {
  std::chrono::milliseconds tick{};
  int sync_limit = 0;
  setting how;
  std::vector<sighting> seen;
  std::map<std::string, int> no_overlap;  ///< Other trials, counted by the reason why no overlap was possible.
};

namespace {

namespace json = boost::json;

const char* name(load what) {
  switch (what) {
    case load::idle: return "idle";
    case load::reads: return "reads";
    case load::writes: return "writes";
    case load::breaks: break;
  }
  return "disturbed";
}

const char* name(cut what) { return what == cut::flip ? "flip" : what == cut::leader ? "leader" : "link"; }

const char* name(zkrecipes::lease_mode mode) { return mode == zkrecipes::lease_mode::strict ? "strict" : "standard"; }

struct range {
  double low = 0;
  double high = 0;
};

template <class Value>
range over(const row& all, Value value) {
  const auto by_value = [&](const sighting& a, const sighting& b) { return value(a) < value(b); };
  const auto [low, high] = std::minmax_element(all.seen.begin(), all.seen.end(), by_value);
  return {value(*low).count(), value(*high).count()};
}

struct summary {
  explicit summary(const row& all)
      : other_owns(over(all, [](const sighting& each) { return each.other_owns; })),
        believed_until(over(all, [](const sighting& each) { return each.believed_until; })),
        overlap(over(all, [](const sighting& each) { return each.overlap(); })) {}
  range other_owns;
  range believed_until;
  range overlap;
};

std::string seconds(double ms) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", ms / 1000);
  return text;
}

void print_count(std::ostream& out, const std::vector<row>& rows) {
  std::size_t trials = 0, overlapped = 0, no_other = 0;
  for (const auto& each : rows) {
    trials += each.seen.size();
    overlapped += static_cast<std::size_t>(std::count_if(
        each.seen.begin(), each.seen.end(), [](const sighting& one) { return one.overlap().count() > 0; }));
    for (const auto& [why, times] : each.no_overlap) no_other += static_cast<std::size_t>(times);
  }
  out << '\n'
      << trials + no_other << " trials: " << overlapped << " overlapped, in " << no_other
      << " nobody else became owner\n";
}

std::string cell(const range& from) { return seconds(from.low) + " to " + seconds(from.high); }

}  // namespace

json::array to_json(const std::vector<row>& rows) {
  json::array all;
  for (const auto& each : rows) {
    json::array seen;
    for (const auto& one : each.seen) {
      seen.push_back(json::object{{"other_owns_ms", one.other_owns.count()},
                                  {"believed_until_ms", one.believed_until.count()},
                                  {"overlap_ms", std::max(0.0, one.overlap().count())},
                                  {"reason", one.reason}});
    }
    all.push_back(json::object{{"tick_ms", each.tick.count()},
                               {"sync_limit", each.sync_limit},
                               {"session_ms", each.how.session.count()},
                               {"mode", name(each.how.mode)},
                               {"load", name(each.how.load)},
                               {"cut", name(each.how.cut)},
                               {"no_overlap", json::object(each.no_overlap.begin(), each.no_overlap.end())},
                               {"trials", seen}});
  }
  return all;
}

/// A table in Markdown, in seconds, and the count of all trials.
void print(std::ostream& out, const std::vector<row>& rows) {
  out << "| tick, session | syncLimit x tick | lease | session is | trials | another owns after | the old "
         "owner believes "
         "until | both believe, at most | least gap |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const auto& each : rows) {
    out << "| " << seconds(each.tick.count()) << ", " << seconds(each.how.session.count()) << " | "
        << seconds(each.tick.count() * each.sync_limit) << " | " << name(each.how.mode) << " | " << name(each.how.load)
        << " | " << each.seen.size();
    for (const auto& [why, times] : each.no_overlap) out << " (" << times << " more: " << why << ')';
    if (each.seen.empty()) {
      out << " | | | | |\n";
      continue;
    }
    const summary found(each);
    out << " | " << cell(found.other_owns) << " | " << cell(found.believed_until) << " | "
        << (found.overlap.high > 0 ? seconds(found.overlap.high) : "none") << " | "
        << (found.overlap.high > 0 ? "-" : seconds(-found.overlap.high)) << " |\n";
  }
  print_count(out, rows);
}

}  // namespace follower_cut

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
