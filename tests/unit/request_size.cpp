// Data that is too large for a request ends with `too_large`, and nothing is sent, in every recipe that takes data.
#include <string>
#include <vector>

#include <zkrecipes/membership.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/service_discovery.hpp>
#include <zkrecipes/shared_value.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "backend/request.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct size_case : connected_session {
  std::string large = std::string(detail::max_data_bytes + 1, 'x');

  /// The operation has been refused by now, and nothing was sent.
  template <class Recorder>
  void check_refused(const Recorder& operation) {
    settle();
    BOOST_TEST_REQUIRE(ended_with(operation, errc::too_large));
    CHECK_PENDING();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(request_sizes, size_case)

BOOST_AUTO_TEST_CASE(the_limit_itself_is_not_too_large) {
  BOOST_TEST(!detail::is_too_large(std::string(detail::max_data_bytes, 'x')));
  BOOST_TEST(detail::is_too_large(large));
  auto request = backend::make_request(backend::opcode::set, "/a");
  request.data = std::string(detail::max_data_bytes, 'x');
  BOOST_TEST(detail::size_on_wire(request) <= session_options().jute_maxbuffer);
}

BOOST_AUTO_TEST_CASE(an_item) {
  queue into(zk, "/q");
  auto put = into.async_put(large, recorded());
  check_refused(put);
  auto many = into.async_put_many({large, "small"}, recorded());
  check_refused(many);
  auto number = producer(into, "p").async_put(large, recorded());
  check_refused(number);
}

BOOST_AUTO_TEST_CASE(a_value) {
  shared_value value(zk, "/v");
  auto set = value.async_set(large, recorded());
  check_refused(set);
}

BOOST_AUTO_TEST_CASE(a_member) {
  auto joined = membership(zk, "/m").async_join("a", large, recorded());
  check_refused(joined);
}

BOOST_AUTO_TEST_CASE(an_instance) {
  service_instance instance;
  instance.name = "service";
  instance.payload = '"' + large + '"';
  auto registered = service_discovery(zk, "/d").async_register(instance, recorded());
  check_refused(registered);
}

// The request that begins it would fit. That of the decision checks each vote, too, and has to have room for a reason.
BOOST_AUTO_TEST_CASE(a_transaction_that_could_not_be_decided) {
  auto options = usual();
  options.jute_maxbuffer = 20'000;
  fake_session narrow(options);
  narrow.connect();
  two_phase_commit over(narrow.zk, "/t");
  auto begin = [&](std::vector<std::string> participants, std::size_t bytes) {
    return over.async_begin("x", std::move(participants), std::string(bytes, 'x'), narrow.begun());
  };
  std::vector<std::string> many;
  for (int i = 0; i < 100; ++i) many.push_back(std::to_string(i));
  const auto refused = {begin({"a"}, 12'000), begin(many, 4'000)};
  for (const auto& each : refused) BOOST_TEST_REQUIRE(ended_with(each, errc::too_large));
  CHECK_PENDING_OF(narrow);
  auto fits = begin({"a"}, 9'000);
  CHECK_PENDING_OF(narrow, "get /t");
}

BOOST_AUTO_TEST_SUITE_END()
