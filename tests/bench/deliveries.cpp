// Messages a second through one consumer, beside kazoo's and Curator's queues and a bare loop of the same transactions.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bare_delivery.hpp"
#include "consumer_rounds.hpp"
#include "delivery_backlog.hpp"
#include "delivery_peer.hpp"
#include "parts.hpp"
#include "rounds.hpp"
#include "support/cluster.hpp"

namespace bench {

using namespace zkrecipes::test;

namespace {

/// A round trip, and how many messages make a round of about one to three seconds with it.
struct pace {
  int round_trip_ms;
  int one_by_one;
  int in_batches;
  int curator;
  int kazoo;
};

constexpr pace paces[] = {{0, 1500, 8000, 300, 200}, {1, 500, 6000, 100, 100}, {20, 60, 5000, 20, 20}};

struct line {
  const char* name;
  zkrecipes::message_order order;
  std::size_t window;
  std::size_t parallel;
  bool bare_reads;  ///< The bare loop reads the messages, too. Only without a delay, and without the peers.
};

constexpr line lines[] = {{"strict, window 1", zkrecipes::message_order::strict, 1, 1, false},
                          {"strict, window 256", zkrecipes::message_order::strict, 256, 1, false},
                          {"by key, window 256, 8 in parallel", zkrecipes::message_order::by_key, 256, 8, false},
                          {"strict, window 1, bare loop reads, too", zkrecipes::message_order::strict, 1, 1, true},
                          {"strict, window 256, bare loop reads, too", zkrecipes::message_order::strict, 256, 1, true}};

constexpr double share = 100;  // costs are told for as many messages, because one transaction has many

std::string name_of(const line& which, const pace& at) {
  const auto delay = at.round_trip_ms ? std::to_string(at.round_trip_ms) + " ms" : std::string("no delay");
  return delay + ", " + which.name;
}

/// The rate of each contestant as round trips of the delay for each message.
row in_round_trips(const row& rates, const pace& at) {
  row result{rates.operation, "round trips of " + std::to_string(at.round_trip_ms) + " ms for 100 messages"};
  for (auto column : {&row::ours, &row::curator, &row::kazoo, &row::bare}) {
    const auto& rate = (rates.*column).value;
    if (rate.is_number()) result.*column = share * 1000 / rate.to_number<double>() / at.round_trip_ms;
  }
  return result;
}

/// All contestants of one delay. They use the same server, because a leader and a follower do different work.
class contest {
 public:
  contest(const plan& what, const pace& at)
      : what_(what), at_(at), hosts_(at.round_trip_ms ? proxy_hosts().front() : direct_hosts().front()) {
    if (what.peers.empty()) return;
    curator_ = std::make_unique<delivery_peer>("curator", what, hosts_);
    kazoo_ = std::make_unique<delivery_peer>("kazoo", what, hosts_);
  }

  void measure(const line& which, std::vector<row>& rates, std::vector<row>& costs) {
    const int count = which.window == 1 ? at_.one_by_one : at_.in_batches;
    std::vector<double> commits;
    std::vector<double> commits_bare;
    std::vector<contestant> all{{&row::ours, [&](const std::string&) { return ours(which, count, commits); }}};
    if (curator_ && !which.bare_reads)
      all.push_back({&row::curator, [&](const std::string&) { return curator_->round(at_.curator); }});
    if (kazoo_ && !which.bare_reads)
      all.push_back({&row::kazoo, [&](const std::string&) { return kazoo_->round(at_.kazoo); }});
    all.push_back({&row::bare, [&](const std::string&) { return bare(which, count, commits_bare); }});
    rates.push_back(measure_in_turns(name_of(which, at_), per_second, all, what_.rounds));
    row commit_row{name_of(which, at_), "commits for 100 messages", summary(std::move(commits))};
    commit_row.bare = summary(std::move(commits_bare));
    std::cerr << "measured " << name_of(which, at_) << std::endl;
    costs.push_back(std::move(commit_row));
    if (at_.round_trip_ms) costs.push_back(in_round_trips(rates.back(), at_));
  }

 private:
  std::optional<double> ours(const line& which, int count, std::vector<double>& commits) {
    zkrecipes::queue_consumer_options how;
    how.order = which.order;
    how.window = which.window;
    how.parallel = which.parallel;
    if (which.order == zkrecipes::message_order::by_key)
      how.key = [](const zkrecipes::message& item) { return item.data; };
    const delivery_backlog backlog(direct_hosts().front(), count);
    const auto seen = consume_round(hosts_, backlog, how);
    commits.push_back(share * seen.commits / count);
    return seen.rate;
  }

  std::optional<double> bare(const line& which, int count, std::vector<double>& commits) {
    // By key, the transactions are the same ones, in another order.
    const delivery_backlog backlog(direct_hosts().front(), count);
    const auto seen =
        bare_delivery_round(hosts_, backlog, {which.window == 1 ? 1 : messages_of_a_commit, which.bare_reads});
    commits.push_back(share * seen.commits / count);
    return seen.rate;
  }

  const plan& what_;
  const pace& at_;
  std::string hosts_;
  std::unique_ptr<delivery_peer> curator_;
  std::unique_ptr<delivery_peer> kazoo_;
};

}  // namespace

std::vector<row> deliveries(const plan& what) {
  std::vector<row> rates;
  std::vector<row> costs;
  for (const auto& at : paces) {
    cluster().proxy(1).set_delay(std::chrono::microseconds(500 * at.round_trip_ms));
    contest all(what, at);
    for (const auto& which : lines) {
      if (!which.bare_reads || at.round_trip_ms == 0) all.measure(which, rates, costs);
    }
  }
  heal_proxies();
  std::ranges::stable_sort(costs, {}, &row::unit);
  rates.insert(rates.end(), costs.begin(), costs.end());
  return rates;
}

}  // namespace bench
