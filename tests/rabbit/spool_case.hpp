// Cases of spooled producers that put into queues of RabbitMQ.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include <zkrecipes/rabbitmq/rabbit_spool.hpp>

#include "rabbit/producer_case.hpp"
#include "spool/file_case.hpp"

namespace zkrecipes::test {

/// A process with a spooled producer, in so far as its end closes the session: nothing is sent behind it.
struct spooling_life {
  spooling_life(session over, const rabbit_options& where, const spool_options& how)
      : zk(std::move(over)), spool(spool_into(rabbit_queues(zk, "/t", where), "p", how)) {}

  session zk;
  spooled_producer spool;
  bool is_over = false;
};

/// The producers are named "p", have one file and one key unless a case says otherwise, and connect through a proxy.
struct spool_case : producer_case {
  spool_case() : between(&use_proxy()) { how.file = file.path(); }
  void teardown() {
    for (auto& each : lives) end(each);
    lives.clear();
    producer_case::teardown();
  }

  spooling_life& begin() { return lives.emplace_back(connect(logging()), with, how); }
  void end(spooling_life& which) {
    if (std::exchange(which.is_over, true)) return;
    which.spool = spooled_producer();
    BOOST_TEST(!std::get<0>(run(which.zk.async_close(tuple))));
  }

  /// They are accepted.
  void accept(spooled_producer& by, int from, int to, const std::string& key = "k") {
    std::deque<recorder<std::uint64_t>> puts;
    for (const auto& each : numbers(from, to)) {
      puts.emplace_back(executor());
      by.async_put(key, each, puts.back().token());
    }
    BOOST_TEST_REQUIRE(run_until([&] { return std::ranges::all_of(puts, &recorder<std::uint64_t>::done); }));
    for (const auto& each : puts) BOOST_TEST(!each.error(), each.error().message());
  }
  error_code flush(spooled_producer& by, std::chrono::milliseconds within = 60s) {
    recorder<> done(executor());
    by.async_flush(within, done.token());
    BOOST_TEST_REQUIRE(run_until([&] { return done.done(); }, 2min));
    return done.error();
  }
  void flush_well(spooled_producer& by) {
    const auto error = flush(by);
    BOOST_TEST(!error, error.message() << ": " << by.status().trouble);
  }
  bool has_trouble(spooled_producer& by, const error_code& what) {
    return run_until([&] { return by.status().error == what; });
  }

  file_case file;
  spool_options how;
  testcluster::proxy* between;
  std::deque<spooling_life> lives;
};

}  // namespace zkrecipes::test
