// What cases with producers of either broker have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <zkrecipes/producer_base.hpp>

#include "brokers/broker_case.hpp"

namespace zkrecipes::test {

/// `Case`: a `broker_case`. Producers are named "p".
template <class Case, class Producer>
class producing_case : public Case {
 public:
  using producer_type = Producer;
  using answer = std::tuple<error_code, std::uint64_t>;
  using messages = std::vector<topic_message>;

  template <class... Arguments>
  explicit producing_case(Arguments&&... of_case)
      : Case(std::forward<Arguments>(of_case)...), logged_(this->connect(this->logging())) {}
  void teardown() {
    logged_ = session();
    Case::teardown();
  }

  /// It has the producers, unless a case says otherwise.
  const session& logged() const { return logged_; }

  producer_type producer_of(const session& over, const std::string& name = "p") {
    return producer_type(this->source(over), name);
  }
  producer_type producer(const std::string& name = "p") { return producer_of(logged(), name); }

  static messages with_key(const std::string& key, int first, int last) {
    messages all_of_key;
    for (int i = first; i <= last; ++i) all_of_key.push_back({key, std::to_string(i)});
    return all_of_key;
  }
  answer put(producer_base& by, const std::string& data, const std::string& key = "k") {
    return this->run(by.async_put(key, data, tuple));
  }
  /// The first messages of a producer, if all go into one queue: its number is that of the message.
  void put_well(producer_base& by, std::uint64_t number) { check(put(by, std::to_string(number)), {}, number); }
  void check_refused(producer_base& by, const error_code& why) { check(put(by, "x"), why, 0); }
  answer put_all_of(producer_base& by, messages what) { return this->run(by.async_put_all(std::move(what), tuple)); }
  static void check(const error_code& found, const error_code& expected) {
    BOOST_TEST((found == expected), found.message());
  }
  static void check(const answer& found, const error_code& error, std::uint64_t number) {
    check(std::get<0>(found), error);
    BOOST_TEST(std::get<1>(found) == number);
  }
  /// The number tells nothing here.
  static void check(const answer& found, const error_code& error) { check(std::get<0>(found), error); }

  /// A consumer gets 1 to `last` in order, the last with this key.
  void check_consumed(int last, const std::string& key) {
    const auto seen = std::make_shared<std::string>();
    this->consume([seen](term, message item) -> asio::awaitable<message_outcome> {
      *seen = item.key;
      co_return effect_of(item);
    });
    BOOST_TEST_REQUIRE(this->has_results(static_cast<std::size_t>(last)));
    BOOST_TEST(this->results() == numbers(1, last), boost::test_tools::per_element());
    BOOST_TEST(*seen == key);
  }

  /// `begin` gets a session, calls operations of an object, and returns the object. The handlers keep what `begin` gets
  /// beside the session: however far the operations have come, it goes with the context.
  template <class Begin>
  void check_goes_with_its_context(Begin begin) {
    for (int steps = 0; steps < 200; steps += 1 + steps / 8) {
      auto held = std::make_shared<int>();
      const std::weak_ptr<int> seen = held;
      {
        asio::io_context own_io;
        const session own(own_io.get_executor(), this->fixture::options());
        const auto kept = begin(own, std::move(held));
        for (int i = 0; i < steps; ++i) own_io.run_one_for(10ms);
      }
      BOOST_TEST(seen.expired(), steps);
    }
  }

 private:
  session logged_;
};

}  // namespace zkrecipes::test
