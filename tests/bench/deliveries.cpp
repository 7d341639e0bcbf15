// Messages a second through one consumer, beside kazoo's and Curator's queues and a bare loop of the same transactions.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <zkrecipes/consumer/queue_consumer.hpp>
#include <zkrecipes/session.hpp>

#include "asynchronous.hpp"
#include "bare.hpp"
#include "parts.hpp"
#include "peers.hpp"
#include "rates.hpp"
#include "rounds.hpp"
#include "topic_rounds.hpp"

namespace bench {

// A queue with messages, for one round of the part "deliveries".

struct delivery_paths {
  static constexpr const char* queue = "/deliveries/queue";
  static constexpr const char* effects = "/deliveries/effects";  ///< A node for each message that was processed.
  static constexpr const char* record = "/deliveries/record";    ///< What the bare loop checks.
  static constexpr const char* coordinator = "/deliveries/lead";
};

/// Fills the queue of `delivery_paths` without a delay. The destructor checks nothing and removes all that is left.
class delivery_backlog {
 public:
  delivery_backlog(const std::string& hosts, int count);
  ~delivery_backlog();
  delivery_backlog(const delivery_backlog&) = delete;
  delivery_backlog& operator=(const delivery_backlog&) = delete;

  int count() const noexcept { return count_; }
  /// \throws std::runtime_error unless each message has one effect.
  void require_all_effects() const;

 private:
  boost::asio::awaitable<bool> fill();
  boost::asio::awaitable<bool> clear();

  mutable boost::asio::io_context io_;
  mutable zkrecipes::session zk_;
  int count_;
};

using zkrecipes::test::run_coroutine;

namespace {

constexpr int put_at_once = 100;
constexpr int accounts = 1000;  // the keys; more than fit into a window

}  // namespace

delivery_backlog::delivery_backlog(const std::string& hosts, int count)
    : zk_(io_.get_executor(), {.hosts = hosts, .timeout = 30s}), count_(count) {
  run_coroutine(io_, fill(), 1min);
}

delivery_backlog::~delivery_backlog() { run_coroutine(io_, clear(), 1min); }

awaitable<bool> delivery_backlog::fill() {
  for (const auto* path : {delivery_paths::effects, delivery_paths::record}) {
    co_await zk_.async_ensure_path(path, use_awaitable);
  }
  zkrecipes::queue queue(zk_, delivery_paths::queue);
  for (int done = 0; done < count_;) {
    std::vector<std::string> some;
    for (int i = std::min(put_at_once, count_ - done); i > 0; --i) {
      some.push_back("account-" + std::to_string(done++ % accounts));
    }
    co_await queue.async_put_many(std::move(some), use_awaitable);
  }
  co_return true;
}

awaitable<bool> delivery_backlog::clear() {
  for (const auto* path : {delivery_paths::effects, delivery_paths::queue}) {
    co_await zk_.async_remove_with_children(path, use_awaitable);
  }
  co_await zk_.async_close(use_awaitable);
  co_return true;
}

void delivery_backlog::require_all_effects() const {
  const auto found = run_coroutine(io_, zk_.async_children(delivery_paths::effects, use_awaitable), 1min);
  if (found.names.size() != static_cast<std::size_t>(count_)) throw std::runtime_error("a message has no effect");
}

/// The transactions of a consumer, by the C client alone.
inline constexpr std::size_t messages_of_a_commit = 100;  ///< As in the library.

/// What the bare loop does.
struct bare_delivery {
  std::size_t at_once = messages_of_a_commit;  ///< Messages in a transaction.
  bool reads = false;                          ///< Reads the messages, too: those of the next transaction meanwhile.
};

namespace {

using names = std::vector<std::string>;

names items_of(bare_client& client, const delivery_backlog& backlog) {
  auto all = client.children(delivery_paths::queue);
  std::erase_if(all, [](const std::string& each) { return each.starts_with('_'); });
  std::ranges::sort(all);
  if (all.size() != static_cast<std::size_t>(backlog.count())) throw std::runtime_error("bare loop: no such backlog");
  return all;
}

names part_of(const names& all, std::size_t first, std::size_t most) {
  const auto begin = std::min(first, all.size());
  const auto end = std::min(begin + most, all.size());
  return {all.begin() + static_cast<std::ptrdiff_t>(begin), all.begin() + static_cast<std::ptrdiff_t>(end)};
}

}  // namespace

/// Lists the queue once, then removes the messages and creates their effects, one transaction after the other. Each
/// checks the version of a record. The listing and the first read are not measured.
delivery_result bare_delivery_round(const std::string& hosts, const delivery_backlog& backlog,
                                    const bare_delivery& how) {
  bare_client client(hosts);
  const auto all = items_of(client, backlog);
  delivery_result seen;
  const auto begin = clock::now();
  for (std::size_t done = 0; done < all.size(); done += how.at_once) {
    const auto next = how.reads ? part_of(all, done + how.at_once, how.at_once) : names();
    client.settle(delivery_paths::record, delivery_paths::queue, delivery_paths::effects,
                  part_of(all, done, how.at_once), next);
    ++seen.commits;
  }
  seen.rate = backlog.count() / ms_since(begin) * 1000;
  backlog.require_all_effects();
  return seen;
}

namespace {

/// The effect of a message is a node.
class effect_maker : public timed_consumer {
 public:
  using timed_consumer::timed_consumer;

  awaitable<zkrecipes::message_outcome> process(zkrecipes::term, const zkrecipes::message& item) override {
    record_call();
    co_return zkrecipes::transaction().create(std::string(delivery_paths::effects) + '/' + item.name, item.data);
  }
};

awaitable<bool> connect(zkrecipes::session& zk) {
  co_await zk.async_connected(use_awaitable);
  co_return true;
}

awaitable<bool> close(zkrecipes::session& zk) {
  co_await zk.async_close(use_awaitable);
  co_return true;
}

}  // namespace

/// Runs a coordinator with a consumer until the backlog is worked off. The time is that from the first call of
/// `process` to the reply of the last commit.
delivery_result consume_round(const std::string& hosts, const delivery_backlog& backlog,
                              const zkrecipes::queue_consumer_options& how) {
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = 30s});
  run_coroutine(io, connect(zk));
  effect_maker career(zkrecipes::queue(zk, delivery_paths::queue), how);
  const auto seen = work_off(io, zk, delivery_paths::coordinator, career, backlog.count());
  run_coroutine(io, close(zk));
  backlog.require_all_effects();
  return seen;
}

/// A peer's program that works off a queue of its own.
class delivery_peer {
 public:
  delivery_peer(const std::string& name, const plan& what, const std::string& hosts);
  ~delivery_peer();
  delivery_peer(const delivery_peer&) = delete;
  delivery_peer& operator=(const delivery_peer&) = delete;

  /// Fills the queue with this many messages and works them off; returns the messages a second of the latter.
  double round(int count);

 private:
  peer program_;
};

delivery_peer::delivery_peer(const std::string& name, const plan& what, const std::string& hosts)
    : program_(what.peers, name, "deliveries", hosts) {
  program_.line();  // ready
}

delivery_peer::~delivery_peer() {
  program_.tell("");
  program_.line();  // it has removed its nodes
}

double delivery_peer::round(int count) {
  program_.tell(std::to_string(count));
  return std::stod(program_.line());
}

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
