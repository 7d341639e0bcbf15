// Brokers over TLS, and users who may not do everything.
#include "rabbit/producer_case.hpp"
#include "support/temporary_folder.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

testcluster::rabbit_broker& secure_rabbit() {
  static testcluster::rabbit_broker broker({.password = "open sesame", .tls = true});
  return broker;
}

/// Its user may make and delete queues whose names begin with "ours", and put and read nothing.
testcluster::rabbit_broker& narrow_rabbit() {
  static testcluster::rabbit_broker broker(
      {.extra_config = {"default_permissions.configure = ^ours", "default_permissions.write = ^$",
                        "default_permissions.read = ^$"}});
  return broker;
}

struct rabbit_secure_case : producer_case {
  rabbit_secure_case() : producer_case(&secure_rabbit, "open sesame") {
    const auto& own = broker().client_certificate();
    with.hosts = broker().secure_address();
    with.password = "open sesame";
    with.tls = tls_options{.authorities = broker().authority().certificate().string(),
                           .certificate = own.certificate.string(),
                           .key = own.key.string()};
    put_all(numbers(1, 3));  // by the port without TLS
  }
  bool has_told(const error_code& why) {
    return run_until([&] { return has_logged("connect_failed rabbitmq") && has_logged(why.message()); });
  }
};

struct rabbit_rights_case : producer_case {
  rabbit_rights_case() : producer_case(&narrow_rabbit) { with.queue = "ours-" + with.queue; }

  void run_is_refused() {
    auto& who = consume(&succeed);
    BOOST_TEST_REQUIRE(has_failed(who));
    check(who.failure(), rabbit_errc::refused_credentials);
    BOOST_TEST(has_logged("ACCESS_REFUSED"));
    all.clear();
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rabbit_secure, rabbit_secure_case)

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
  await_kept();
  client().disconnect();
  beside([&] { broker().restart(); });
  for (const auto& each : numbers(4, 6)) put_in_the_end(each);
  BOOST_TEST_REQUIRE(has_results(6));
  BOOST_TEST(results() == numbers(1, 6), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_not_told) {
  with.password = "open barley";
  auto& who = consume(&succeed);
  BOOST_TEST_REQUIRE(has_failed(who));
  check(who.failure(), rabbit_errc::refused_credentials);
  BOOST_TEST(has_logged("authentication_failed rabbitmq"));
  BOOST_TEST(!has_logged("barley"));
  all.clear();
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_authority_is_refused) {
  temporary_folder folder;
  const testcluster::authority other(folder.path());
  with.tls->authorities = other.certificate().string();
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::unknown_authority));
  BOOST_TEST(children("/results").empty());
  end_runs(all);
}

BOOST_AUTO_TEST_CASE(a_broker_of_another_name_is_refused) {
  with.tls->server_name = "rabbit.example";
  consume(&succeed);
  BOOST_TEST(has_told(tls_errc::wrong_name));
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

BOOST_AUTO_TEST_CASE(tls_at_the_plain_port_is_told) {
  with.hosts = broker().address();
  with.timeout = 500ms;
  consume(&succeed);
  BOOST_TEST(run_until([&] { return has_logged("connect_failed rabbitmq " + with.hosts); }));
}

BOOST_AUTO_TEST_CASE(a_missing_file_is_named) {
  with.tls->authorities = "/nowhere.pem";
  BOOST_CHECK_EXCEPTION(queues(zk()), std::invalid_argument, [](const std::invalid_argument& why) {
    const std::string text = why.what();
    return text.starts_with("rabbit_options::tls.authorities: /nowhere.pem: ");
  });
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(rabbit_rights, rabbit_rights_case)

BOOST_AUTO_TEST_CASE(without_the_right_to_read_a_run_ends) {
  run_is_refused();
  BOOST_TEST(client().look_at(queue()).has_value());  // it was made
}

BOOST_AUTO_TEST_CASE(without_the_right_to_make_queues_a_run_ends) {
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
