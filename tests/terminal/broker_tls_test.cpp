// The options of secure connections to a broker, and what is told of a broker that can not be used.
#include <zkrecipes/tls_options.hpp>

#include "brokers/broker_reader.hpp"
#include "settings_place.hpp"

namespace {

using zkrecipes::session_event;
using zkrecipes::tls_errc;

struct broker_place_case : settings_place {
  static std::optional<broker_place> place(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"streams", "/s"});
    return place_of(parse_command_line(arguments, std::cout).value().broker, 4s);
  }
  static std::string refusal(std::vector<const char*> arguments) {
    try {
      place(std::move(arguments));
    } catch (const failure& error) {
      BOOST_TEST((error.code() == exit_code::usage));
      return error.what();
    }
    return "not refused";
  }
};

struct broker_log_case {
  void tell(session_event event, const std::string& server, const std::string& detail) {
    zkrecipes::log_event told;
    told.event = event;
    told.server = server;
    told.error = zkrecipes::errc::connection_loss;
    told.detail = detail;
    log.record(told);
  }
  void tell(const std::string& server, tls_errc why) {
    tell(session_event::connect_failed, server, make_error_code(why).message());
  }

  broker_log log;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(broker_tls, broker_place_case)

BOOST_AUTO_TEST_CASE(each_of_the_options_asks_for_it) {
  BOOST_TEST(!place({"--broker", "a"})->tls.has_value());
  BOOST_TEST(place({"--broker", "a", "--broker-tls"})->tls.has_value());
  const auto named = place({"--broker", "a", "--broker-tls-server-name", "redis.example"});
  BOOST_TEST_REQUIRE(named->tls.has_value());
  BOOST_TEST(named->tls->server_name == "redis.example");
  BOOST_TEST(named->tls->authorities.empty());
  const auto folder = dir.string();
  const auto trusting = place({"--broker", "a", "--broker-tls-authorities", folder.c_str()});
  BOOST_TEST_REQUIRE(trusting->tls.has_value());
  BOOST_TEST(trusting->tls->authorities == folder);
}

BOOST_AUTO_TEST_CASE(an_empty_value_does_not_turn_it_off) {
  const auto found = place({"--broker", "a", "--broker-tls-authorities", ""});
  BOOST_TEST_REQUIRE(found->tls.has_value());
  BOOST_TEST(found->tls->authorities.empty());
}

BOOST_AUTO_TEST_CASE(check_knows_them_too) {
  const auto asked = parse_command_line(std::vector{"check", "--broker", "a", "--broker-tls"}, std::cout).value();
  BOOST_TEST(asked.broker.tls.is_wanted);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  BOOST_TEST(refusal({"--broker-tls"}) == "--broker-tls needs --broker");
  BOOST_TEST(refusal({"--broker-tls-authorities", "ca.pem"}) == "--broker-tls needs --broker");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-certificate", "c.pem"}) ==
             "--broker-tls-certificate needs --broker-tls-key, the file with its key");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-key", "c.key"}) ==
             "--broker-tls-key needs --broker-tls-certificate, the file with its certificate");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_of_no_use_is_named_with_its_option) {
  const auto missing = (dir / "missing.pem").string(), empty = write_private("empty.pem", "");
  BOOST_TEST(refusal({"--broker", "a", "--broker-tls-authorities", missing.c_str()}) ==
             "--broker-tls-authorities: " + missing + ": No such file or directory");
  const auto bad =
      refusal({"--broker", "a", "--broker-tls-certificate", empty.c_str(), "--broker-tls-key", empty.c_str()});
  BOOST_TEST(bad.starts_with("--broker-tls-certificate: " + empty + ": "), bad);
  const auto name = refusal({"--broker", "a", "--broker-tls-server-name", "*.example"});
  BOOST_TEST(name.starts_with("--broker-tls-server-name: it is neither a host name nor an address"), name);
}

BOOST_AUTO_TEST_CASE(a_key_that_everybody_may_read_is_refused) {
  const auto key = write("key.pem", "");
  fs::permissions(key, fs::perms::owner_read | fs::perms::others_read);
  const auto said =
      refusal({"--broker", "a", "--broker-tls-certificate", key.c_str(), "--broker-tls-key", key.c_str()});
  BOOST_TEST(said.starts_with("--broker-tls-key: everybody may read the key in " + key), said);
}

BOOST_AUTO_TEST_CASE(each_address_has_a_share_of_the_time) {
  BOOST_TEST((place({"--broker", "a"})->share == 1s));
  BOOST_TEST((place({"--broker", "a:1,b:2,c:3"})->share == 500ms));
  const broker_request asked{"a", ""};
  BOOST_TEST((place_of(asked, 20ms)->share == 10ms));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(broker_reasons, broker_log_case)

BOOST_AUTO_TEST_CASE(the_last_reason_of_each_address) {
  BOOST_TEST(log.reasons().empty());
  tell(session_event::connect_failed, "redis 10.0.0.2:6379", "Connection refused");
  tell(session_event::connect_failed, "redis 10.0.0.1:6379", "No route to host");
  tell(session_event::connection_lost, "redis 10.0.0.1:6379", "");
  const auto lost = make_error_code(zkrecipes::errc::connection_loss).message();
  BOOST_TEST(log.reasons() == "redis 10.0.0.1:6379: " + lost + "; redis 10.0.0.2:6379: Connection refused");
  tell(session_event::connected, "redis 10.0.0.1:6379", "");
  BOOST_TEST(log.reasons() == "redis 10.0.0.2:6379: Connection refused");
  log.forget();
  BOOST_TEST(log.reasons().empty());
}

BOOST_AUTO_TEST_CASE(what_the_log_says_of_servers_is_left_out) {
  tell(session_event::connect_failed, "10.0.0.1:2181", "Connection refused");
  tell(session_event::connected, "rabbitmq 10.0.0.1:5672", "");
  tell(session_event::operation_failed, "rabbitmq 10.0.0.1:5672", "NOT_FOUND");
  BOOST_TEST(log.reasons().empty());
}

BOOST_AUTO_TEST_CASE(the_option_that_helps) {
  tell("rabbitmq a:5671", tls_errc::unknown_authority);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-authorities)"), log.reasons());
  tell("rabbitmq a:5671", tls_errc::wrong_name);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-server-name)"), log.reasons());
  tell("rabbitmq a:5671", tls_errc::certificate_required);
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-certificate and --broker-tls-key)"), log.reasons());
  tell(session_event::connect_failed, "rabbitmq a:5671", "Connection reset by peer");
  BOOST_TEST(log.reasons().ends_with(" (see --broker-tls-certificate and --broker-tls-key)"), log.reasons());
  tell("rabbitmq b:5671", tls_errc::expired);
  BOOST_TEST(log.reasons().ends_with("; rabbitmq b:5671: " + make_error_code(tls_errc::expired).message()));
}

BOOST_AUTO_TEST_SUITE_END()
