// Brokers over TLS.
#include "brokers/secure_case.hpp"
#include "redis/redis_case.hpp"

namespace zkrecipes::test {

// A case with a broker that listens for TLS.

struct redis_secure_case : secure_case<redis_case> {
  redis_secure_case() {
    use_own_broker({.tls = true});
    begin_with_tls();
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(redis_secure, redis_secure_case)

#include "brokers/secure_cases.hpp"

BOOST_AUTO_TEST_CASE(messages_are_consumed) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_reply_of_many_records) {
  const std::string big(100'000, 'x');
  put_all({big + "1", big + "2", big + "3", big + "4"});
  check_consumed(7, big + "4");
}

BOOST_AUTO_TEST_CASE(a_broker_that_demands_a_certificate_refuses_us_without_one) {
  with.tls->certificate.clear();
  with.tls->key.clear();
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::certificate_required));
}

BOOST_AUTO_TEST_CASE(plain_text_at_the_secure_port_is_told) {
  with.tls.reset();
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("connect_failed redis"); }));
}

BOOST_AUTO_TEST_SUITE_END()
