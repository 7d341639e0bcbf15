// The requests of an open dashboard while nothing changes.
#include <memory>
#include <stdexcept>

#include <boost/asio.hpp>

#include <zkrecipes/election.hpp>

#include "parts.hpp"
#include "stopwatch.hpp"
#include "support/cluster.hpp"
#include "support/coroutine.hpp"
#include "terminal/pseudo_terminal.hpp"
#include "traffic.hpp"

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using namespace std::chrono_literals;
using namespace zkrecipes::test;

namespace {

constexpr int elections = 1000;
constexpr int candidates = 3;

/// Candidates of many elections, which stay until the end.
class electorate {
 public:
  electorate(asio::io_context& io, const std::string& hosts) : io_(io) {
    for (int i = 0; i < candidates; ++i) {
      sessions_.emplace_back(io.get_executor(), zkrecipes::session_options{.hosts = hosts, .timeout = 30s});
    }
    run_coroutine(io_, make_folder());
    for (int i = 0; i < elections; ++i) stand("/dashboards/election-" + std::to_string(i));
    if (!run_until(
            io_, [this] { return leaders_.size() == elections; }, 2min))
      throw std::runtime_error("no leaders");
    run_coroutine(io_, until_all_stand());
  }
  ~electorate() { run_coroutine(io_, close()); }

 private:
  void stand(const std::string& path) {
    for (auto& each : sessions_) {
      zkrecipes::election(each, path, {.id = "candidate"})
          .async_campaign(asio::bind_executor(io_, [this](zkrecipes::error_code error, zkrecipes::ownership won) {
            if (!error) leaders_.push_back(std::move(won));
          }));
    }
  }
  awaitable<bool> make_folder() {
    co_await sessions_.front().async_ensure_path("/dashboards", use_awaitable);
    co_return true;
  }
  /// Waits for the last election only: in each session the candidates get in line in the order in which they campaign.
  awaitable<bool> until_all_stand() {
    const auto last = "/dashboards/election-" + std::to_string(elections - 1);
    for (std::int64_t seen = 0;;) {
      auto all = co_await sessions_.front().async_children_change(last, seen, use_awaitable);
      if (all.names.size() == candidates) co_return true;
      seen = all.stat.pzxid;
    }
  }
  awaitable<bool> close() {
    for (auto& each : sessions_) co_await each.async_close(use_awaitable);
    leaders_.clear();
    co_return true;
  }

  asio::io_context& io_;
  std::vector<zkrecipes::session> sessions_;
  std::vector<zkrecipes::ownership> leaders_;
};

/// Requests per second, counted over some seconds.
double requests_while(asio::io_context& io, std::chrono::seconds time) {
  const auto before = count_traffic().requests;
  const auto begin = clock::now();
  run_until(
      io, [&] { return clock::now() - begin > time; }, time + 1s);
  return (count_traffic().requests - before) / ms_since(begin) * 1000;
}

}  // namespace

std::vector<row> dashboards(const plan& what) {
  asio::io_context io;
  electorate all(io, join_hosts(direct_hosts()));
  const auto without = requests_while(io, 5s);
  pseudo_terminal terminal(io, 120, 40);
  const auto program = what.self.substr(0, what.self.rfind('/')) + "/zkadmin";
  terminal.start({program, "dashboard", "--root", "/dashboards"}, {{"ZKADMIN_HOSTS", join_hosts(direct_hosts())}});
  if (!terminal.shows("ELECTIONS " + std::to_string(elections)))
    throw std::runtime_error("the dashboard shows no elections");
  const auto beside = requests_while(io, 10s);
  terminal.type("q");
  terminal.exit_code();
  return {
      {"1 000 elections of 3 candidates, nothing changes", "requests a second of an open dashboard", beside - without}};
}

}  // namespace bench
