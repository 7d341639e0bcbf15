// Data that is too large for a request ends with `too_large`, and nothing is sent, in every recipe that takes data.
#include "session/request_size.hpp"

#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/membership.hpp>
#include <zkrecipes/producer.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/service_discovery.hpp>
#include <zkrecipes/shared_value.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct size_case : fake_session {
  size_case() { connect(); }
  std::string large = std::string(detail::max_data_bytes + 1, 'x');

  /// The operation has been refused by now, and nothing was sent.
  template <class Recorder>
  void check_refused(const Recorder& operation) {
    settle();
    BOOST_TEST_REQUIRE(operation.done());
    BOOST_TEST((operation.error() == errc::too_large), operation.error().message());
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
  auto put = record<std::string>();
  into.async_put(large, put.token());
  check_refused(put);
  auto many = record<std::vector<std::string>>();
  into.async_put_many({large, "small"}, many.token());
  check_refused(many);
  auto number = record<std::uint64_t>();
  producer(into, "p").async_put(large, number.token());
  check_refused(number);
}

BOOST_AUTO_TEST_CASE(a_value) {
  shared_value value(zk, "/v");
  auto set = record<node_stat>();
  value.async_set(large, set.token());
  check_refused(set);
}

BOOST_AUTO_TEST_CASE(a_member) {
  auto joined = record<joined_member>();
  membership(zk, "/m").async_join("a", large, joined.token());
  check_refused(joined);
}

BOOST_AUTO_TEST_CASE(an_instance) {
  service_instance instance;
  instance.name = "service";
  instance.payload = '"' + large + '"';
  auto registered = record<service_registration>();
  service_discovery(zk, "/d").async_register(instance, registered.token());
  check_refused(registered);
}

BOOST_AUTO_TEST_SUITE_END()
