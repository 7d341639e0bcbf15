// What a shard group costs: joins, crashes, restarts and a new planner, at two sizes.
#include <algorithm>
#include <iostream>

#include "asynchronous.hpp"
#include "crowd.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "rounds.hpp"
#include "shard_crowd.hpp"

namespace bench {

namespace {

struct group_size {
  std::size_t members;
  std::uint32_t shards;
};

constexpr group_size sizes[] = {{100, 1'000}, {1'000, 10'000}};
constexpr std::size_t restarts = 100;

/// What one event took.
struct cost {
  double milliseconds = 0;
  double moves = 0;
  double requests = 0;
};

class shard_trial {
 public:
  shard_trial(const group_size& size, std::vector<row>& rows)
      : size_(size), rows_(rows), crowd_(io_, direct_hosts(), "/shard-bench", size.shards) {}

  void run(int rounds) {
    crowd_.connect(size_.members);
    const auto begun = begin();
    for (std::size_t i = 0; i < size_.members; ++i) crowd_.start(i);
    crowd_.run_until("the first assignment", [&] { return all_owned(); });
    tell("all start", since(begun));
    join(rounds);
    const auto name = "a round trip, " + std::to_string(size_.members) + " members";
    rows_.push_back({name, "milliseconds", crowd_.round_trip_ms()});
    crash(rounds, false);
    crash(rounds, true);
    rolling_restart();
    crowd_.end();
  }

 private:
  struct moment {
    shard_crowd::clock::time_point when;
    std::int64_t begun;
    double requests;
  };

  bool all_owned() const { return crowd_.owned() == size_.shards; }
  moment begin() const { return {shard_crowd::clock::now(), crowd_.begun(), count_traffic().requests}; }
  cost since(const moment& from) const {
    const std::chrono::duration<double, std::milli> taken = shard_crowd::clock::now() - from.when;
    const auto moves = static_cast<double>(crowd_.begun() - from.begun);
    return {taken.count(), moves, count_traffic().requests - from.requests};
  }
  void tell(const std::string& event, const cost& what) {
    const auto name =
        event + ", " + std::to_string(size_.members) + " members, " + std::to_string(size_.shards) + " shards";
    rows_.push_back({name, "milliseconds", what.milliseconds});
    rows_.push_back({name, "moves", what.moves});
    rows_.push_back({name, "requests", what.requests});
    std::cerr << name << ": " << what.milliseconds << " ms, " << what.moves << " moves, " << what.requests
              << " requests" << std::endl;
  }
  void tell_median(const std::string& event, std::vector<cost> all) {
    std::ranges::sort(all, {}, &cost::milliseconds);
    tell(event, all[all.size() / 2]);
  }

  /// One member more each time.
  void join(int rounds) {
    std::vector<cost> all;
    for (int i = 0; i < rounds; ++i) {
      const auto which = crowd_.size();
      crowd_.connect(which + 1);
      const auto begun = begin();
      crowd_.start(which);
      const auto share = size_.shards / running();
      crowd_.run_until("a join", [&] { return crowd_.at(which).owned >= share && all_owned(); });
      all.push_back(since(begun));
    }
    tell_median("join", std::move(all));
  }

  /// A session is closed: how long from its end until the last of its heirs has begun? The planner's, or any other.
  void crash(int rounds, bool of_planner) {
    std::vector<cost> all;
    for (int i = 0; i < rounds; ++i) {
      const auto planner = crowd_.planner();
      if (!planner) throw std::runtime_error("shards: there is no planner");
      auto which = *planner;
      if (!of_planner) {
        which = 0;
        while (which == *planner || !crowd_.at(which).runs) ++which;
      }
      const auto begun = begin();
      crowd_.close(which);
      crowd_.run_until("a crash", [&] { return !crowd_.at(which).runs && all_owned(); });
      all.push_back(since(begun));
      all.back().milliseconds = crowd_.until_last_begun_ms();
    }
    tell_median(of_planner ? "crash of the planner" : "crash", std::move(all));
  }

  void rolling_restart() {
    const auto begun = begin();
    std::size_t done = 0;
    std::int64_t taken_back = 0;
    for (std::size_t i = 0; i < crowd_.size() && done < restarts; ++i) {
      if (!crowd_.at(i).runs) continue;
      const auto owned = crowd_.at(i).owned;
      crowd_.at(i).group.stop();
      crowd_.run_until("a stop", [&] { return !crowd_.at(i).runs; });
      crowd_.start(i);
      crowd_.run_until("a return", [&] { return crowd_.at(i).owned == owned && all_owned(); });
      taken_back += static_cast<std::int64_t>(owned);
      ++done;
    }
    auto all = since(begun);
    all.moves -= static_cast<double>(taken_back);  // each gets its own back: what is left has moved
    tell("rolling restart of " + std::to_string(done), all);
  }

  std::size_t running() const {
    std::size_t count = 0;
    for (std::size_t i = 0; i < crowd_.size(); ++i) count += const_cast<shard_crowd&>(crowd_).at(i).runs ? 1 : 0;
    return count;
  }

  group_size size_;
  std::vector<row>& rows_;
  boost::asio::io_context io_;
  shard_crowd crowd_;
};

/// For how long a shard is without an owner when the third of three members joins, and when one dies.
void beside_kazoo(const plan& what, std::vector<row>& rows) {
  constexpr std::uint32_t partitions = 12;
  boost::asio::io_context io;
  shard_crowd crowd(io, direct_hosts(), "/shard-bench", partitions);
  const auto all_owned = [&] { return crowd.owned() == partitions; };
  crowd.connect(3);
  crowd.start(0);
  crowd.start(1);
  crowd.run_until("two members", [&] { return all_owned() && crowd.at(0).owned == crowd.at(1).owned; });
  crowd.longest_gap_ms();
  crowd.start(2);
  crowd.run_until("a third", [&] { return all_owned() && crowd.at(2).owned == partitions / 3; });
  row join{"no owner at a join, 3 members, 12 shards", "milliseconds", crowd.longest_gap_ms()};
  crowd.close(0);
  crowd.run_until("a crash", [&] { return all_owned() && !crowd.at(0).runs; });
  row crash{"no owner after the end of a session, 3 members, 12 shards", "milliseconds", crowd.longest_gap_ms()};
  crowd.end();
  if (!what.peers.empty()) {
    const auto kazoo = peer(what.peers, "kazoo", "shards", join_hosts(direct_hosts())).figures();
    join.kazoo = kazoo.at("join");
    crash.kazoo = kazoo.at("crash");
  }
  rows.push_back(std::move(join));
  rows.push_back(std::move(crash));
}

}  // namespace

std::vector<row> shards(const plan& what) {
  std::vector<row> rows;
  beside_kazoo(what, rows);
  for (const auto& size : sizes) {
    shard_trial trial(size, rows);
    trial.run(what.rounds);
  }
  return rows;
}

}  // namespace bench
