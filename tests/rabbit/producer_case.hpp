// Cases of producers that put into one queue.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include "brokers/producing_case.hpp"
#include "rabbit/rabbit_case.hpp"

namespace zkrecipes::test {

/// A case with producers named "p". What they have put into `queue()` is read with `has_put`.
struct producer_case : producing_case<rabbit_case, rabbit_producer> {
  using producing_case::put_well;

  explicit producer_case(getter which = &common_rabbit, const std::string& password = "guest")
      : producing_case(which, password) {}
  void teardown() {
    reader_.reset();
    producing_case::teardown();
  }

  rabbit_queues queues(const session& over) { return source(over); }
  void put_well(producer_base& by, const std::string& data) { check(put(by, data), {}); }

  /// Takes what is in the queue. There must be no other consumer at the time.
  rabbit_reader& reader() {
    if (!reader_) reader_ = make_reader();
    return *reader_;
  }
  /// 1 to `last` were put into the queue so far, in order and each with one id.
  void has_put(int last) { BOOST_TEST(reader().read_data() == numbers(1, last), boost::test_tools::per_element()); }
  std::size_t count_put() { return reader().read().size(); }

  /// For cases in which the broker is away for a time. Call it first.
  void expect_outage() { between_ = &use_proxy(); }
  void begin_outage() {
    between_->refuse(true);
    between_->cut();
  }
  void end_outage() { between_->refuse(false); }

 private:
  testcluster::proxy* between_ = nullptr;
  std::unique_ptr<rabbit_reader> reader_;
};

}  // namespace zkrecipes::test
