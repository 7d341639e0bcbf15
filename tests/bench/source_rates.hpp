// How many messages a second a consumer takes from a source, beside bare clients that take the same messages.
//   PROGRAM [MESSAGES [ROUNDS]]        200 000 messages, 3 rounds
// One ZooKeeper server and one broker. The effect of each message is a set of one path, so a commit is one set, the
// move of the position and the check of the term. Each round measures everyone once, and the order turns from round to
// round. On a machine that others use, the processor time of a message and the ratios say more than the rates.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <boost/asio.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/queue_consumer.hpp>

#include <testcluster/ensemble.hpp>

#include "support/coroutine.hpp"

namespace zkrecipes::test {

/// Somebody who takes all messages.
struct rates_entrant {
  std::string name;
  std::function<void()> prepare;  ///< Not measured.
  /// Returns after how many seconds it had all of them.
  std::function<double()> take_all;
};

class counting_consumer final : public queue_consumer {
 public:
  counting_consumer(const message_feed& from, std::size_t wanted)
      : queue_consumer(from, {.window = 2'000}), wanted_(wanted) {}

  asio::awaitable<message_outcome> process(term, const message&) override {
    ++seen_;
    co_return transaction().set("/total", std::to_string(seen_));
  }
  bool is_done() const { return status().done >= wanted_; }

 private:
  std::size_t wanted_;
  std::size_t seen_ = 0;
};

class rates {
 public:
  using feed_maker = std::function<message_feed(const session&)>;
  using clock = std::chrono::steady_clock;

  rates(int argc, char** argv)
      : count_(static_cast<std::size_t>(argc > 1 ? std::atoll(argv[1]) : 200'000)),
        rounds_(argc > 2 ? std::atoi(argv[2]) : 3),
        ensemble_({.servers = 1}) {
    asio::io_context io;
    session zk(io, {.hosts = ensemble_.hosts()});
    for (const auto* each : {"/total", "/leader"}) run_coroutine(io, make_node(zk, each));
  }

  std::size_t count() const { return count_; }
  static double since(clock::time_point begun) { return std::chrono::duration<double>(clock::now() - begun).count(); }

  /// The consumer of the library: what `rates_entrant::take_all` returns.
  double consume(const feed_maker& make) {
    asio::io_context io;
    session zk(io, {.hosts = ensemble_.hosts()});
    counting_consumer career(make(zk), count_);
    consumer_coordinator leader(zk, "/leader", {.id = "rates"});
    recorder<> ended(io.get_executor());
    const auto begun = clock::now();
    leader.async_run(career, ended.token());
    run_until(
        io, [&] { return career.is_done() || ended.done(); }, 10min);
    const auto seconds = since(begun);
    const auto commits = career.status().commits;
    const bool is_done = career.is_done();
    leader.stop();
    run_until(io, [&] { return ended.done(); });
    if (!is_done) throw std::runtime_error("the consumer is not done: " + ended.error().message());
    std::cout << commits << " commits, ";
    return seconds;
  }

  /// The last one is compared with each of the others.
  void compare(const std::vector<rates_entrant>& all) {
    std::vector<std::vector<double>> ratios(all.size() - 1);
    for (int round = 0; round < rounds_; ++round) {
      std::vector<double> rate_of(all.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto which = (i + static_cast<std::size_t>(round)) % all.size();
        rate_of[which] = measure(all[which]);
      }
      std::cout << "ratio";
      for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        ratios[i].push_back(rate_of.back() / rate_of[i]);
        std::cout << ' ' << ratios[i].back() << " to " << all[i].name << (i + 2 < all.size() ? "," : "");
      }
      std::cout << std::endl;
    }
    for (std::size_t i = 0; i + 1 < all.size() && rounds_ > 0; ++i) {
      std::ranges::sort(ratios[i]);
      std::cout << "median of the ratios to " << all[i].name << ": " << ratios[i][ratios[i].size() / 2] << std::endl;
    }
  }

 private:
  static asio::awaitable<bool> make_node(session by, std::string path) {
    co_await by.async_create(path, "", create_mode::persistent, asio::use_awaitable);
    co_return true;
  }
  /// The processor time of this process, in seconds.
  static double processor_time() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto seconds = [](const timeval& of) {
      return static_cast<double>(of.tv_sec) + 1e-6 * static_cast<double>(of.tv_usec);
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
  }
  double measure(const rates_entrant& who) const {
    if (who.prepare) who.prepare();
    const auto messages = static_cast<double>(count_);
    const auto used_before = processor_time();
    const auto rate = messages / who.take_all();
    const auto used = (processor_time() - used_before) / messages;
    std::cout << who.name << ' ' << static_cast<long>(rate) << " messages/s with " << 1e6 * used
              << " us of processor each; " << std::flush;
    return rate;
  }

  std::size_t count_;
  int rounds_;
  testcluster::ensemble ensemble_;
};

}  // namespace zkrecipes::test
