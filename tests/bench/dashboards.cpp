// What an open dashboard costs: the servers' requests, processor time, memory.
#include <functional>
#include <memory>
#include <stdexcept>

#include <boost/asio.hpp>

#include "electorate.hpp"
#include "parts.hpp"
#include "process_status.hpp"
#include "recipe_crowd.hpp"
#include "shard_crowd.hpp"
#include "stopwatch.hpp"
#include "support/cluster.hpp"
#include "support/coroutine.hpp"
#include "terminal/pseudo_terminal.hpp"
#include "traffic.hpp"

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using namespace zkrecipes::test;

namespace {

constexpr auto quiet_time = 10s;
constexpr auto change_interval = 100ms;

/// What a dashboard looks at.
struct subject {
  std::string name;
  std::string root;
  std::string sign;                ///< On the screen once the dashboard knows everything.
  std::function<void()> change{};  ///< Makes one change.
  std::string keys{};              ///< Typed first: they lead to the page.
};

/// Lets the context run, and makes a change every tenth of a second.
void pass(asio::io_context& io, std::chrono::seconds time, const std::function<void()>& change) {
  const auto begin = clock::now();
  for (auto due = begin + change_interval; due - begin <= time; due += change_interval) {
    run_until(
        io, [&] { return clock::now() >= due; }, change_interval * 2);
    if (change) change();
  }
}

/// Requests a second of all clients.
double requests_while(asio::io_context& io, const std::function<void()>& change) {
  const auto before = count_traffic().requests;
  const auto begin = clock::now();
  pass(io, quiet_time, change);
  return (count_traffic().requests - before) / ms_since(begin) * 1000;
}

/// Waits until the others have come to rest: what they did at their start is no cost of a dashboard.
void await_rest(asio::io_context& io) {
  constexpr double few = 50;  // in a second, heartbeats among them
  for (int tries = 0; tries < 120; ++tries) {
    const auto before = count_traffic().requests;
    pass(io, 1s, nullptr);
    if (count_traffic().requests - before < few) return;
  }
  throw std::runtime_error("the ensemble does not come to rest");
}

class measurement {
 public:
  measurement(asio::io_context& io, const plan& what, std::vector<row>& rows)
      : io_(io), program_(what.self.substr(0, what.self.rfind('/')) + "/zkadmin"), rows_(rows) {}

  void measure(const subject& of) {
    await_rest(io_);
    const auto quiet = requests_while(io_, nullptr);
    const auto busy = of.change ? requests_while(io_, of.change) : 0;
    pseudo_terminal terminal(io_, 120, 40);
    terminal.start({program_, "dashboard", "--root", of.root}, {{"ZKADMIN_HOSTS", join_hosts(direct_hosts())}});
    if (!of.keys.empty() && terminal.shows("QUORUM")) terminal.type(of.keys);
    if (!terminal.shows(of.sign)) throw std::runtime_error("the dashboard does not show " + of.sign);
    await_rest(io_);
    tell(of.name + ", nothing changes", terminal, quiet, nullptr);
    if (of.change) tell(of.name + ", 10 changes a second", terminal, busy, of.change);
    rows_.push_back(
        {of.name, "memory of the dashboard, MiB", status_of("VmRSS", std::to_string(terminal.pid())) / 1024.0});
    terminal.type("q");
    terminal.exit_code();
  }

 private:
  void tell(const std::string& name, const pseudo_terminal& terminal, double without,
            const std::function<void()>& change) {
    const auto processor = processor_time_of(terminal.pid());
    const auto begin = clock::now();
    const auto beside = requests_while(io_, change);
    const auto used = processor_time_of(terminal.pid()) - processor;
    rows_.push_back({name, "requests a second of an open dashboard", beside - without});
    rows_.push_back({name, "processor time of the dashboard, %", used * 100.0 / ms_since(begin)});
  }

  asio::io_context& io_;
  std::string program_;
  std::vector<row>& rows_;
};

void measure_elections(asio::io_context& io, measurement& with, int elections, int candidates) {
  const auto root = "/dashboards-" + std::to_string(elections);
  electorate all(io, root, elections, candidates);
  subject of{std::to_string(elections) + " elections of " + std::to_string(candidates) + " candidates", root,
             "ELECTIONS " + std::to_string(elections)};
  if (elections > 0) of.change = [&all] { all.change(); };
  if (elections == 0) of.name = "no elections", of.sign = "ELECTIONS";
  with.measure(of);
}

/// 80 locks, 20 queues and 10 topics.
void measure_recipes(asio::io_context& io, measurement& with) {
  const std::string root = "/dashboards-recipes";
  recipe_crowd all(io, root, 80, 20, 10);
  with.measure({"100 recipes and 10 topics", root, "RECIPES 100", [&all] { all.change(); }, "6"});
}

/// A change freezes the group, or ends that.
void measure_shards(asio::io_context& io, measurement& with, std::uint32_t shards) {
  constexpr std::size_t members = 10;
  const std::string path = "/dashboards-shards";
  shard_crowd crowd(io, direct_hosts(), path, shards);
  crowd.connect(members);
  for (std::size_t i = 0; i < members; ++i) crowd.start(i);
  crowd.run_until("a group", [&] { return crowd.owned() == shards; });
  bool is_frozen = false;
  const auto freeze = [&crowd, &is_frozen] {
    is_frozen = !is_frozen;
    crowd.at(0).group.async_freeze(is_frozen, [](zkrecipes::error_code) {});
  };
  with.measure({std::to_string(shards) + " shards of 10 members", path, "SHARD GROUPS 1", freeze});
  crowd.end();
}

}  // namespace

std::vector<row> dashboards(const plan& what) {
  asio::io_context io;
  std::vector<row> rows;
  measurement with(io, what, rows);
  measure_elections(io, with, 0, 1);
  measure_elections(io, with, 200, 10);
  measure_elections(io, with, 1000, 10);
  measure_shards(io, with, 10'000);
  measure_recipes(io, with);
  return rows;
}

}  // namespace bench
