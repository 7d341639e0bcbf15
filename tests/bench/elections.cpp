// Elections and terms in round trips.
#include "asynchronous.hpp"
#include "ownerships.hpp"

namespace bench {

using zkrecipes::error_code;

namespace {

awaitable<void> until_candidates(zkrecipes::election& election, std::size_t count) {
  zkrecipes::election_view seen;
  do {
    seen = co_await election.async_view_change(seen, use_awaitable);
  } while (seen.candidates.size() != count);
}

awaitable<double> free_election(setting& where, std::string path) {
  zkrecipes::election election(where.first, path, {.id = "a"});
  auto campaign = election.async_campaign(use_awaitable);
  co_return co_await time_to_own(std::move(campaign));
}

awaitable<double> resign(setting& where, std::string path) {
  zkrecipes::election one(where.first, path, {.id = "a"});
  zkrecipes::election two(where.second, path, {.id = "b"});
  auto leader = one.async_campaign(use_awaitable);
  auto successor = two.async_campaign(use_awaitable);
  auto both = until_candidates(one, 2);
  co_return co_await time_to_succeed(where, std::move(leader), std::move(successor), std::move(both));
}

/// Notes when it is inaugurated, and idles until its term ends.
class idle_career final : public zkrecipes::leader_career {
 public:
  explicit idle_career(asio::any_io_executor ex) : inaugurated(ex), executing(ex) {}
  awaitable<void> inaugurate(zkrecipes::term) override {
    inaugurated.note();
    co_return;
  }
  awaitable<void> execute(zkrecipes::term present) override {
    executing.note();
    co_await present.async_ending(asio::as_tuple(use_awaitable));
  }
  awaitable<void> hand_over(zkrecipes::term, zkrecipes::term_end) override {
    handed_over = clock::now();
    co_return;
  }
  moment inaugurated;
  moment executing;
  clock::time_point handed_over{};
};

awaitable<void> stop(zkrecipes::consumer_coordinator& coordinator, moment& ended) {
  coordinator.stop();
  co_await ended.wait();
}

awaitable<double> free_term(setting& where, std::string path) {
  auto ex = where.first.get_executor();
  idle_career career(ex);
  moment ended(ex);
  zkrecipes::consumer_coordinator coordinator(where.first, path, {.id = "a"});
  const auto begin = clock::now();
  coordinator.async_run(career, asio::bind_executor(ex, [&](error_code) { ended.note(); }));
  const auto end = co_await career.inaugurated.wait();
  co_await stop(coordinator, ended);
  co_return ms_between(begin, end);
}

awaitable<double> next_term(setting& where, std::string path) {
  auto ex = where.first.get_executor();
  idle_career one(ex);
  idle_career two(ex);
  moment one_ended(ex);
  moment two_ended(ex);
  zkrecipes::consumer_coordinator leader(where.first, path, {.id = "a"});
  zkrecipes::consumer_coordinator waiter(where.second, path, {.id = "b"});
  zkrecipes::election watcher(where.first, path, {.id = "w"});
  leader.async_run(one, asio::bind_executor(ex, [&](error_code) { one_ended.note(); }));
  co_await one.executing.wait();
  waiter.async_run(two, asio::bind_executor(ex, [&](error_code) { two_ended.note(); }));
  co_await until_candidates(watcher, 2);
  co_await where.second.async_sync(use_awaitable);
  leader.stop();
  const auto end = co_await two.inaugurated.wait();
  co_await one_ended.wait();
  co_await stop(waiter, two_ended);
  co_return ms_between(one.handed_over, end);
}

}  // namespace

std::vector<operation> election_operations() {
  return {{"win a free election", "win a free election", &free_election},
          {"resign until the successor wakes up", "resign to successor", &resign},
          {"win a free election until inaugurated", "win a free election", &free_term},
          {"hand over until the successor inaugurates", "resign to successor", &next_term}};
}

}  // namespace bench
