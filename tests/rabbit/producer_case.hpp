// Cases of producers that put into one queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <zkrecipes/rabbit_producer.hpp>

#include "rabbit/rabbit_case.hpp"

namespace zkrecipes::test {

/// A case with producers named "p". What they have put into `queue()` is read with `has_put`.
struct producer_case : rabbit_case {
  using answer = std::tuple<error_code, std::uint64_t>;
  using messages = std::vector<topic_message>;

  explicit producer_case(getter which = &common_rabbit, const std::string& password = "guest")
      : rabbit_case(which, password), logged_(connect(logging())) {}
  void teardown() {
    reader_.reset();
    logged_ = session();
    rabbit_case::teardown();
  }

  static messages with_key(const std::string& key, int first, int last) {
    messages all_of_key;
    for (int i = first; i <= last; ++i) all_of_key.push_back({key, std::to_string(i)});
    return all_of_key;
  }

  rabbit_queues queues(const session& over) { return rabbit_queues(over, "/t", with); }
  rabbit_producer producer(const std::string& name = "p") { return rabbit_producer(queues(logged_), name); }
  error_code put(rabbit_producer& by, const std::string& data, const std::string& key = "k") {
    return std::get<0>(run(by.async_put(key, data, tuple)));
  }
  void put_well(rabbit_producer& by, const std::string& data) {
    const auto error = put(by, data);
    BOOST_TEST(!error, error.message());
  }
  answer put_all_of(rabbit_producer& by, messages what) { return run(by.async_put_all(std::move(what), tuple)); }
  static void check(const error_code& found, const error_code& expected) {
    BOOST_TEST((found == expected), found.message());
  }
  static void check(const answer& found, const error_code& error, std::uint64_t count) {
    check(std::get<0>(found), error);
    BOOST_TEST(std::get<1>(found) == count);
  }

  /// Takes what is in the queue. There must be no other consumer at the time.
  rabbit_reader& reader() {
    if (!reader_) reader_ = make_reader();
    return *reader_;
  }
  /// 1 to `last` were put into the queue so far, in order and each with one id.
  void has_put(int last) { BOOST_TEST(reader().read_data() == numbers(1, last), boost::test_tools::per_element()); }

 private:
  session logged_;
  std::unique_ptr<rabbit_reader> reader_;
};

}  // namespace zkrecipes::test
