// Cases of producers that put into one stream.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <zkrecipes/redis/redis_producer.hpp>

#include "brokers/producing_case.hpp"
#include "redis/redis_case.hpp"

namespace zkrecipes::test {

/// A case with one stream, "orders:0".
struct producer_case : producing_case<redis_case, redis_producer> {
  redis_streams streams(const session& over) { return source(over); }
  std::uint64_t last_of(redis_producer& by) {
    auto read = run(by.async_last(tuple));
    BOOST_TEST(!std::get<0>(read), std::get<0>(read).message());
    return std::get<1>(read);
  }
  std::vector<std::string> stream() { return client().data_of("orders:0"); }
  void has_put(int last) { BOOST_TEST(stream() == numbers(1, last), boost::test_tools::per_element()); }
  std::size_t count_put() { return static_cast<std::size_t>(client().length("orders:0")); }
  std::string owner() { return client().get({"HGET", "orders:producer:p", "by"})->str; }
  /// For cases in which the broker is away for a time. Call it first.
  void expect_outage() { use_mortal_broker(); }
  void begin_outage() { kill_broker(); }
  void end_outage() { start_broker(); }
  void end_connections() { client().get({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"}); }

  /// The put waits while the broker has this setting, and the log has its words.
  void waits_for(redis_producer& by, const std::string& setting, const std::string& value, const std::string& words,
                 std::uint64_t number) {
    const auto before = client().get({"CONFIG", "GET", setting});
    const std::string usual = before->element[1]->str;
    log->clear();
    client().get({"CONFIG", "SET", setting, value});
    recorder<std::uint64_t> waits(executor());
    by.async_put("k", std::to_string(number), waits.token());
    BOOST_TEST(run_until([&] { return waits.done() || has_logged(words); }));
    BOOST_TEST(!waits.done(), waits.error().message());
    client().get({"CONFIG", "SET", setting, usual});
    BOOST_TEST_REQUIRE(run_until([&] { return waits.done(); }));
    check({waits.error(), waits.result<0>()}, {}, number);
  }
};

}  // namespace zkrecipes::test
