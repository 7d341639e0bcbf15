// A consumer that suppresses the repeats of producers, on a server that the test makes.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "unit/delivering.hpp"

namespace zkrecipes::test {

inline constexpr const char* marks_path = "/q/_repeats";

/// "a3" is the number 3 of the producer "a"; what begins with "-" is not numbered.
inline std::optional<message_origin> origin_in(const message& item) {
  if (item.data.starts_with('-')) return std::nullopt;
  const auto digits = item.data.find_first_of("0123456789");
  return message_origin{item.data.substr(0, digits), std::stoull(item.data.substr(digits))};
}

inline queue_consumer_options repeats_in_order(std::size_t window = 8) {
  queue_consumer_options options;
  options.window = window;
  options.retry = {.first = 10ms, .longest = 10ms, .jitter = 0, .attempts = 2};
  options.repeats = message_repeats{.origin = &origin_in};
  return options;
}

inline queue_consumer_options repeats_by_producer() {
  auto options = repeats_in_order();
  options.order = message_order::by_key;
  options.parallel = 4;
  return options;
}

class idle_consumer final : public queue_consumer {
 public:
  idle_consumer(const queue_base& from, queue_consumer_options options) : queue_consumer(from, std::move(options)) {}
  asio::awaitable<message_outcome> process(term, const message&) override { co_return message_outcome::done(); }
};

/// A consumer that suppresses repeats.
struct repeating : delivering {
  void consume_freely(queue_consumer_options options) {
    consume(std::move(options));
    consumer->is_held = false;
  }
  /// One by one, because sets of one path that travel together are merged.
  void put_each(const strings& data) {
    for (const auto& each : data) put({each});
  }
  void change_term() {
    const auto before = coordinator->status().epoch;
    coordinator->resign();
    serve_all();
    BOOST_TEST_REQUIRE(coordinator->status().epoch == before + 1);
  }
  void check_status(std::uint64_t done, std::uint64_t repeated, std::uint64_t parked = 0) const {
    const auto status = consumer->status();
    BOOST_TEST(status.done == done);
    BOOST_TEST(status.repeated == repeated);
    BOOST_TEST(status.parked == parked);
  }
  static std::string record(const std::string& producers) {
    return R"({"zkrecipes":"producer_marks","producers":[)" + producers + "]}";
  }
  template <class Queue>
  std::string problem_of(const queue_consumer_options& options) const {
    try {
      idle_consumer made(Queue(zk, "/q"), options);
      return "";
    } catch (const std::invalid_argument& problem) {
      return problem.what();
    }
  }
};

}  // namespace zkrecipes::test
