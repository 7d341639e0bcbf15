// Brokers over TLS.
#include "redis/redis_case.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

class secure_case : public redis_case {
 public:
  secure_case() {
    auto& broker = use_own_broker({.tls = true});
    const auto& own = broker.client_certificate();
    with.hosts = broker.secure_address();
    with.tls = tls_options{.authorities = broker.authority().certificate().string(),
                           .certificate = own.certificate.string(),
                           .key = own.key.string()};
    put_all(numbers(1, 3));  // by the port without TLS
  }
  bool has_told(const error_code& why) {
    return run_until([&] { return has_logged("connect_failed redis") && has_logged(why.message()); });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(redis_secure, secure_case)

BOOST_AUTO_TEST_CASE(messages_are_consumed) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  BOOST_TEST(results() == numbers(1, 3), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_reply_of_many_records) {
  const std::string big(100'000, 'x');
  put_all({big + "1", big + "2", big + "3", big + "4"});
  std::vector<std::string> seen;
  consume([&](term, message what) -> asio::awaitable<message_outcome> {
    seen.push_back(what.data);
    co_return message_outcome::done();
  });
  BOOST_TEST_REQUIRE(run_until([&] { return seen.size() == 7; }));
  BOOST_TEST(seen.back() == big + "4");
}

BOOST_AUTO_TEST_CASE(a_broker_that_is_killed_is_found_again) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  client().disconnect();
  broker().restart();
  put_all(numbers(4, 6));
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_authority_is_refused) {
  const testcluster::redis_broker other({.tls = true});
  with.hosts = other.secure_address();
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::unknown_authority));
  BOOST_TEST(children("/results").empty());
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_name_is_refused) {
  with.tls->server_name = "redis.example";
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::wrong_name));
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

/// Redis takes the handshake for the begin of a command, and waits for its end.
BOOST_AUTO_TEST_CASE(tls_at_the_plain_port_is_told) {
  with.hosts = broker().address();
  with.timeout = 100ms;
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("connect_failed redis " + with.hosts); }));
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  with.tls->authorities = "/nowhere.pem";
  BOOST_CHECK_EXCEPTION(redis_streams(zk(), "/t", with), std::invalid_argument, [](const std::invalid_argument& why) {
    const std::string text = why.what();
    return text.starts_with("redis_options::tls.authorities: /nowhere.pem: ");
  });
}

BOOST_AUTO_TEST_SUITE_END()
