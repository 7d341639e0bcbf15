// The processor time of a request in the client: ours and the C client alone, measured in turns in this thread.
#include <sys/resource.h>

#include "asynchronous.hpp"
#include "bare.hpp"
#include "parts.hpp"
#include "rounds.hpp"

namespace bench {

namespace {

constexpr int requests = 4000;
constexpr int at_once = 100;

double cpu_ms() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  auto ms = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1000 + static_cast<double>(t.tv_usec) / 1000;
  };
  return ms(usage.ru_utime) + ms(usage.ru_stime);
}

/// Milliseconds of processor time for a thousand requests.
double cpu_of(const std::function<void()>& what) {
  const double before = cpu_ms();
  what();
  return (cpu_ms() - before) * 1000 / requests;
}

awaitable<bool> get_one_by_one(zkrecipes::session& zk) {
  for (int i = 0; i < requests; ++i) co_await zk.async_get("/", use_awaitable);
  co_return true;
}

/// Uses callbacks, as a library on top of ours would.
void get_with_callbacks(asio::io_context& io, zkrecipes::session& zk) {
  for (int round = 0; round < requests / at_once; ++round) {
    int left = at_once;
    for (int i = 0; i < at_once; ++i) {
      zk.async_get("/", asio::bind_executor(io, [&left](zkrecipes::error_code, const auto&...) { --left; }));
    }
    run_until(io, [&] { return left == 0; });
  }
}

}  // namespace

std::vector<row> cpu(const plan& what) {
  const auto& hosts = direct_hosts().front();
  asio::io_context io;
  zkrecipes::session zk(io.get_executor(), {.hosts = hosts, .timeout = std::chrono::seconds(30)});
  bare_client bare(hosts);
  const std::string unit = "CPU ms of the client, 1 000 requests";
  auto bare_one_by_one = [&] {
    for (int i = 0; i < requests; ++i) bare.get("/");
  };
  auto bare_at_once = [&] {
    for (int i = 0; i < requests / at_once; ++i) bare.get_at_once("/", at_once);
  };
  const auto line = [&](const std::string& name, const std::function<void()>& ours,
                        const std::function<void()>& floor) {
    return measure_in_turns(name, unit,
                            {{&row::ours, [&](const std::string&) { return std::optional(cpu_of(ours)); }},
                             {&row::bare, [&](const std::string&) { return std::optional(cpu_of(floor)); }}},
                            what.rounds);
  };
  std::vector<row> rows;
  rows.push_back(line(
      "get, one after the other, coroutine", [&] { run_coroutine(io, get_one_by_one(zk)); }, bare_one_by_one));
  rows.push_back(line(
      "get, 100 at once, callbacks", [&] { get_with_callbacks(io, zk); }, bare_at_once));
  auto close = [&]() -> awaitable<bool> {
    co_await zk.async_close(use_awaitable);
    co_return true;
  };
  run_coroutine(io, close());
  return rows;
}

}  // namespace bench
