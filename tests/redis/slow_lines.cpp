// Answers that take several times as long as a broker may be silent. How a silent one is left is in slow_answers.cpp.
#include <cstddef>
#include <memory>
#include <string>

#include <testcluster/proxy.hpp>

#include "redis/redis_case.hpp"
#include "redis/source_case.hpp"

namespace zkrecipes::test {

/// A case with a broker at the end of a slow line.
/// Messages of 1 MiB, of which each takes an eighth of a second once the line is slow. A broker may be silent for half
/// a second. The client, which is there before it, has another line.
class slow_line_case : public redis_case {
 public:
  slow_line_case()
      : line_(std::make_unique<testcluster::proxy>(
            with.hosts, testcluster::proxy_options{.protocol = testcluster::proxy_protocol::opaque})) {
    with.hosts = line_->address();
    with.timeout = 500ms;
  }
  void teardown() {
    end_runs(all);
    line_.reset();
    redis_case::teardown();
  }

  void put_large(int count) {
    for (const auto& each : numbers(1, count)) client().add("orders:0", each, std::string(std::size_t{1} << 20, 'x'));
  }
  void slow_down() { line_->set_bandwidth(8'000'000); }

 private:
  std::unique_ptr<testcluster::proxy> line_;
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_slow_lines, source_case<slow_line_case>)

// All of them are one reply: 2.6 s.
BOOST_AUTO_TEST_CASE(messages_that_come_slowly_are_consumed) {
  put_large(20);
  slow_down();
  auto& who = consume([](term, message) -> asio::awaitable<message_outcome> { co_return message_outcome::done(); });
  BOOST_TEST(run_until([&] { return who.does.status().done == 20; }));
  BOOST_TEST(!has_logged("no answer in time"));
}

BOOST_AUTO_TEST_CASE(messages_that_are_read_again_slowly_come) {
  put_large(12);
  open_source();
  std::vector<std::string> names;
  for (const auto& each : receive_all(12)) names.push_back(each.name);
  slow_down();
  const auto again = read_again(names);
  BOOST_TEST_REQUIRE(!std::get<0>(again), std::get<0>(again).message());
  for (const auto& each : std::get<1>(again)) BOOST_TEST(each.has_value());
  BOOST_TEST(!has_logged("no answer in time"));
}

BOOST_AUTO_TEST_SUITE_END()
