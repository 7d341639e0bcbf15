// Cases of producers that put into one stream.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include <zkrecipes/redis_producer.hpp>

#include "redis/redis_case.hpp"

namespace zkrecipes::test {

/// A case with one stream, "orders:0", and producers named "p".
struct producer_case : redis_case {
  using answer = std::tuple<error_code, std::uint64_t>;

  producer_case() : logged_(connect(logging())) {}
  void teardown() {
    logged_ = session();
    redis_case::teardown();
  }

  redis_streams streams(const session& over) { return redis_streams(over, "/t", with); }
  redis_producer producer() { return redis_producer(streams(logged_), "p"); }
  answer put(redis_producer& by, const std::string& data) { return run(by.async_put("k", data, tuple)); }
  void put_well(redis_producer& by, std::uint64_t number) { check(put(by, std::to_string(number)), {}, number); }
  static void check(const answer& found, error_code error, std::uint64_t number) {
    BOOST_TEST((std::get<0>(found) == error), std::get<0>(found).message());
    BOOST_TEST(std::get<1>(found) == number);
  }
  std::vector<std::string> stream() { return client().data_of("orders:0"); }
  void has_put(int last) { BOOST_TEST(stream() == numbers(1, last), boost::test_tools::per_element()); }
  std::string owner() { return client().get({"HGET", "orders:producer:p", "by"})->str; }
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

 private:
  session logged_;
};

}  // namespace zkrecipes::test
