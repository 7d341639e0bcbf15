#include "operations.hpp"

#include <algorithm>
#include <exception>

#include <boost/asio/use_awaitable.hpp>

#include "asynchronous.hpp"

namespace bench {

// Locks in round trips.

namespace {

awaitable<double> free_lock(setting& where, std::string path) {
  zkrecipes::lock lock(where.first, path);
  auto acquisition = lock.async_acquire(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
}

awaitable<double> free_read_lock(setting& where, std::string path) {
  zkrecipes::read_write_lock lock(where.first, path);
  auto acquisition = lock.async_acquire_read(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
}

awaitable<double> free_semaphore(setting& where, std::string path) {
  zkrecipes::semaphore semaphore(where.first, path, 2);
  auto acquisition = semaphore.async_acquire(use_awaitable);
  co_return co_await time_to_own(std::move(acquisition));
}

awaitable<void> until_in_line(zkrecipes::lock& lock, std::size_t count) {
  for (;;) {
    auto members = co_await lock.async_members(use_awaitable);
    if (members.size() == count) co_return;
  }
}

awaitable<double> hand_off(setting& where, std::string path) {
  zkrecipes::lock one(where.first, path);
  zkrecipes::lock two(where.second, path);
  auto holder = one.async_acquire(use_awaitable);
  auto waiter = two.async_acquire(use_awaitable);
  auto both = until_in_line(one, 2);
  co_return co_await time_to_succeed(where, std::move(holder), std::move(waiter), std::move(both));
}

}  // namespace

std::vector<operation> lock_operations() {
  return {{"acquire a free lock", "acquire a free lock", &free_lock},
          {"acquire a free read lock", "acquire a free read lock", &free_read_lock},
          {"acquire a free semaphore", "acquire a free semaphore", &free_semaphore},
          {"release a lock until the next owner knows", "lock hand-off", &hand_off}};
}

// Elections and terms in round trips.

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

// Barriers in round trips.

namespace {

awaitable<void> until_children(zkrecipes::session zk, std::string path, std::size_t count) {
  std::int64_t seen = 0;
  for (;;) {
    auto all = co_await zk.async_children_change(path, seen, use_awaitable);
    if (all.names.size() == count) co_return;
    seen = all.stat.pzxid;
  }
}

/// The time to enter as the second of two members, while the first one waits.
awaitable<double> last_one_in(setting& where, std::string path) {
  zkrecipes::double_barrier mine(where.first, path, 2);
  zkrecipes::double_barrier theirs(where.second, path, 2);
  zkrecipes::attendance other;
  moment let_in(where.first.get_executor());
  theirs.async_enter(
      asio::bind_executor(where.first.get_executor(), [&](const zkrecipes::error_code&, zkrecipes::attendance inside) {
        other = std::move(inside);
        let_in.note();
      }));
  co_await until_children(where.first, path, 1);
  co_await where.second.async_sync(use_awaitable);
  const auto begin = clock::now();
  auto inside = co_await mine.async_enter(use_awaitable);
  const double took = ms_since(begin);
  co_await let_in.wait();
  other.async_leave(asio::detached);
  co_await inside.async_leave(use_awaitable);
  co_await until_children(where.first, path, 0);
  co_return took;
}

}  // namespace

std::vector<operation> barrier_operations() {
  return {{"double barrier enter, last one in", "double barrier enter, last one in", &last_one_in}};
}

awaitable<double> time_to_own(owning acquisition) {
  const auto begin = clock::now();
  auto held = co_await std::move(acquisition);
  const double took = ms_since(begin);
  co_await held.async_release(use_awaitable);
  co_return took;
}

awaitable<double> time_to_succeed(setting& where, owning holder, owning waiter, awaitable<void> both_in_line) {
  auto held = co_await std::move(holder);
  zkrecipes::ownership next;
  moment owned(where.first.get_executor());
  asio::co_spawn(where.first.get_executor(), std::move(waiter), [&](std::exception_ptr, zkrecipes::ownership owner) {
    next = std::move(owner);
    owned.note();
  });
  co_await std::move(both_in_line);
  co_await where.second.async_sync(use_awaitable);  // answered after the waiter's look at its predecessor
  const auto begin = clock::now();
  held.async_release(asio::detached);
  const auto end = co_await owned.wait();
  co_await next.async_release(use_awaitable);
  co_return ms_between(begin, end);
}

using boost::asio::awaitable;
using boost::asio::use_awaitable;

namespace {

awaitable<double> median(setting& where, operation what) {
  const std::string path = "/bench";
  std::vector<double> samples;
  co_await where.first.async_ensure_path(path, use_awaitable);
  co_await where.second.async_sync(use_awaitable);
  for (int i = 0; i <= where.repeat; ++i) {
    const double took = co_await what.sample(where, path);
    if (i > 0) samples.push_back(took / where.round_trip_ms);  // the first sample is the warm-up
  }
  co_await where.first.async_remove(path, zkrecipes::any_version, use_awaitable);
  std::sort(samples.begin(), samples.end());
  co_return samples[samples.size() / 2];
}

}  // namespace

awaitable<std::map<std::string, double>> measure(setting where, std::vector<operation> what) {
  std::map<std::string, double> results;
  for (const auto& each : what) results[each.name] = co_await median(where, each);
  co_return results;
}

}  // namespace bench
