#include "operations.hpp"

#include <zkrecipes/zkrecipes.hpp>

#include <boost/asio.hpp>

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using zkrecipes::error_code;

namespace {

using clock = std::chrono::steady_clock;

double ms_since(clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(clock::now() - begin).count();
}

/// A value that one coroutine waits for and another sets.
struct moment {
  explicit moment(asio::any_io_executor ex) : timer(std::move(ex), clock::time_point::max()) {}
  void set() {
    at = clock::now();
    timer.cancel();
  }
  awaitable<clock::time_point> wait() {
    if (at == clock::time_point{}) co_await timer.async_wait(asio::as_tuple(use_awaitable));
    co_return at;
  }
  asio::steady_timer timer;
  clock::time_point at{};
};

awaitable<void> until_candidates(zkrecipes::election& election, std::size_t count) {
  std::string fingerprint;
  for (;;) {
    auto view = co_await election.async_view_change(fingerprint, use_awaitable);
    if (view.candidates.size() == count) co_return;
    fingerprint = view.fingerprint;
  }
}

awaitable<double> free_place(setting& where, std::string path) {
  zkrecipes::election election(where.first, path, {.id = "a"});
  const auto begin = clock::now();
  auto held = co_await election.async_campaign(use_awaitable);
  const double took = ms_since(begin);
  co_await held.async_release(use_awaitable);
  co_return took;
}

awaitable<double> hand_off(setting& where, std::string path) {
  zkrecipes::election one(where.first, path, {.id = "a"});
  zkrecipes::election two(where.second, path, {.id = "b"});
  auto held = co_await one.async_campaign(use_awaitable);
  zkrecipes::ownership next;
  moment won(where.first.get_executor());
  two.async_campaign(
      asio::bind_executor(where.first.get_executor(), [&](error_code, zkrecipes::ownership owner) {
        next = std::move(owner);
        won.set();
      }));
  co_await until_candidates(one, 2);
  co_await where.second.async_sync(use_awaitable);  // behind its look at the predecessor
  const auto begin = clock::now();
  held.async_release(asio::detached);
  const auto end = co_await won.wait();
  co_await next.async_release(use_awaitable);
  co_return std::chrono::duration<double, std::milli>(end - begin).count();
}

/// Tells when it is inaugurated, and idles until its term ends.
class idle_career final : public zkrecipes::leader_career {
 public:
  explicit idle_career(asio::any_io_executor ex) : inaugurated(ex), executing(ex) {}
  awaitable<void> inaugurate(zkrecipes::term) override {
    inaugurated.set();
    co_return;
  }
  awaitable<void> execute(zkrecipes::term present) override {
    executing.set();
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
  coordinator.async_run(career, asio::bind_executor(ex, [&](error_code) { ended.set(); }));
  const auto end = co_await career.inaugurated.wait();
  co_await stop(coordinator, ended);
  co_return std::chrono::duration<double, std::milli>(end - begin).count();
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
  leader.async_run(one, asio::bind_executor(ex, [&](error_code) { one_ended.set(); }));
  co_await one.executing.wait();
  waiter.async_run(two, asio::bind_executor(ex, [&](error_code) { two_ended.set(); }));
  co_await until_candidates(watcher, 2);
  co_await where.second.async_sync(use_awaitable);
  leader.stop();
  const auto end = co_await two.inaugurated.wait();
  co_await one_ended.wait();
  co_await stop(waiter, two_ended);
  co_return std::chrono::duration<double, std::milli>(end - one.handed_over).count();
}

awaitable<double> put(setting& where, std::string path) {
  zkrecipes::queue queue(where.first, path);
  const auto begin = clock::now();
  co_await queue.async_put("item", use_awaitable);
  const double took = ms_since(begin);
  auto item = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(item, use_awaitable);
  co_return took;
}

/// Of a queue whose list is known, as it is when there is work.
awaitable<double> take(setting& where, std::string path, bool acknowledge) {
  zkrecipes::queue queue(where.first, path);
  for (int i = 0; i < 3; ++i) co_await queue.async_put("item", use_awaitable);
  auto first = co_await queue.async_take(use_awaitable);
  const auto begin = clock::now();
  auto second = co_await queue.async_take(use_awaitable);
  if (acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  const double took = ms_since(begin);
  if (!acknowledge) co_await queue.async_acknowledge(second, use_awaitable);
  co_await queue.async_acknowledge(first, use_awaitable);
  auto third = co_await queue.async_take(use_awaitable);
  co_await queue.async_acknowledge(third, use_awaitable);
  co_return took;
}

awaitable<double> take_only(setting& where, std::string path) {
  co_return co_await take(where, path, false);
}
awaitable<double> take_and_acknowledge(setting& where, std::string path) {
  co_return co_await take(where, path, true);
}

using operation = awaitable<double> (*)(setting&, std::string);

awaitable<double> median(setting& where, operation what, std::string path) {
  std::vector<double> samples;
  co_await where.first.async_ensure_path(path, use_awaitable);
  for (int i = 0; i <= where.repeat; ++i) {
    double took = co_await what(where, path);
    if (i > 0) samples.push_back(took / where.round_trip_ms);  // the first one warms up
  }
  co_await where.first.async_remove(path, zkrecipes::any_version, use_awaitable);
  std::sort(samples.begin(), samples.end());
  co_return samples[samples.size() / 2];
}

}  // namespace

awaitable<std::map<std::string, double>> measure_all(setting where) {
  const std::pair<const char*, operation> all[] = {
      {"acquire a free place in the line", &free_place},
      {"resign until the successor wakes up", &hand_off},
      {"win a free election until inaugurated", &free_term},
      {"hand over until the successor inaugurates", &next_term},
      {"queue put", &put},
      {"queue take", &take_only},
      {"queue take and acknowledge", &take_and_acknowledge},
  };
  std::map<std::string, double> results;
  for (const auto& [name, what] : all) {
    results[name] = co_await median(where, what, "/bench");
  }
  co_return results;
}

}  // namespace bench
