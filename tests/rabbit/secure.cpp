// Brokers over TLS, and users who may not do everything.
#include "brokers/secure_case.hpp"
#include "rabbit/producer_case.hpp"

namespace zkrecipes::test {

// A case with a broker that listens for TLS, and producers.

inline testcluster::rabbit_broker& secure_rabbit() {
  static testcluster::rabbit_broker broker({.password = "open sesame", .tls = true});
  return broker;
}

struct rabbit_secure_case : secure_case<producer_case> {
  rabbit_secure_case() : secure_case(&secure_rabbit, "open sesame") {
    with.password = "open sesame";
    begin_with_tls();
  }
};

}  // namespace zkrecipes::test

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// Its user may make and delete queues whose names begin with "ours", and put and read nothing.
testcluster::rabbit_broker& narrow_rabbit() {
  static testcluster::rabbit_broker broker(
      {.extra_config = {"default_permissions.configure = ^ours", "default_permissions.write = ^$",
                        "default_permissions.read = ^$"}});
  return broker;
}

struct rabbit_rights_case : producer_case {
  rabbit_rights_case() : producer_case(&narrow_rabbit) { with.queue = "ours-" + with.queue; }

  void run_is_refused() { check_waiting(consume(&succeed), "ACCESS_REFUSED"); }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_secure, rabbit_secure_case)

#include "brokers/secure_cases.hpp"

BOOST_AUTO_TEST_CASE(messages_are_put_and_consumed_and_the_password_is_not_told) {
  consume(&succeed);
  BOOST_TEST_REQUIRE(has_results(3));
  auto by = producer();
  check(put_all_of(by, with_key("k", 4, 1'000)), {}, 997u);
  BOOST_TEST_REQUIRE(has_results(1'000));
  BOOST_TEST(results() == numbers(1, 1'000), boost::test_tools::per_element());
  BOOST_TEST(!has_logged("sesame"));
}

BOOST_AUTO_TEST_CASE(messages_of_many_records) {
  const std::string big(100'000, 'x');
  auto by = producer();
  for (const auto* each : {"1", "2", "3", "4"}) put_well(by, big + each);
  check_consumed(7, big + "4");
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_not_told) {
  with.password = "open barley";
  check_waiting(consume(&succeed), "authentication_failed rabbitmq");
  BOOST_TEST(!has_logged("barley"));
}

// It says so in its own words, or just closes: its TLS is that of Erlang.
BOOST_AUTO_TEST_CASE(a_broker_that_demands_a_certificate_refuses_us_without_one) {
  with.tls->certificate.clear();
  with.tls->key.clear();
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("connect_failed rabbitmq"); }));
  BOOST_TEST(children("/results").empty());
}

BOOST_AUTO_TEST_CASE(plain_text_at_the_secure_port_is_told) {
  with.tls.reset();
  with.timeout = 500ms;
  auto& who = consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("rabbitmq " + with.hosts); }));
  BOOST_TEST(children("/results").empty());
  who.coordinator.stop();  // it may have ended by itself: an alert of TLS is no frame of AMQP
  BOOST_TEST(run_until([&] { return who.ended.done(); }));
  all.clear();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(rabbit_rights, rabbit_rights_case)

BOOST_AUTO_TEST_CASE(without_the_right_to_read_a_run_waits) {
  run_is_refused();
  BOOST_TEST(client().look_at(queue()).has_value());  // it was made
}

BOOST_AUTO_TEST_CASE(without_the_right_to_make_queues_a_run_waits) {
  const auto ours = std::exchange(with.queue, "others");
  run_is_refused();
  with.queue = ours;
}

BOOST_AUTO_TEST_CASE(without_the_right_to_write_nothing_is_put) {
  auto by = producer();
  check(put(by, "x"), rabbit_errc::refused_credentials);
  check(put(by, "x"), rabbit_errc::refused_credentials);
  BOOST_TEST(client().depth(queue()) == 0u);
}

BOOST_AUTO_TEST_CASE(without_the_right_to_make_queues_nothing_is_put) {
  const auto ours = std::exchange(with.queue, "others");
  auto by = producer();
  check(put(by, "x"), rabbit_errc::refused_credentials);
  BOOST_TEST(has_logged("ACCESS_REFUSED"));
  with.queue = ours;
}

BOOST_AUTO_TEST_SUITE_END()
