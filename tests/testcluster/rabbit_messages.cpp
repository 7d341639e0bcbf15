// RabbitMQ for tests: what a client sees.
#include <memory>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "connection.hpp"
#include "rabbit/rabbit_client.hpp"
#include "support.hpp"

using testcluster::rabbit_broker;
using zkrecipes::test::rabbit_client;

namespace {

/// Whether a client can log in over TLS. `own`: its certificate, or none.
bool can_log_in(rabbit_broker& broker, const testcluster::certificate_files* own, const std::string& password) {
  const auto place = testcluster::detail::parse_endpoint(broker.secure_address());
  const std::unique_ptr<amqp_connection_state_t_, int (*)(amqp_connection_state_t)> state(amqp_new_connection(),
                                                                                          &amqp_destroy_connection);
  auto* socket = amqp_ssl_socket_new(state.get());
  amqp_ssl_socket_set_verify_hostname(socket, 0);  // librabbitmq 0.11 knows names only, and the node has an address
  amqp_ssl_socket_set_cacert(socket, broker.authority().certificate().c_str());
  if (own != nullptr) amqp_ssl_socket_set_key(socket, own->certificate.c_str(), own->key.c_str());
  const timeval longest{20, 0};
  if (amqp_socket_open_noblock(socket, place.address().to_string().c_str(), place.port(), &longest) != AMQP_STATUS_OK)
    return false;
  amqp_set_handshake_timeout(state.get(), &longest);
  return amqp_login(state.get(), "orders", 0, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN, "bob",
                    password.c_str())
             .reply_type == AMQP_RESPONSE_NORMAL;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rabbit_messages)

BOOST_AUTO_TEST_CASE(three_nodes_keep_a_durable_queue_over_kills) {
  rabbit_broker three({.nodes = 3});
  rabbit_client client(three.addresses());
  client.declare("orders");
  client.put({.queue = "orders", .data = "one"});
  const int leader = three.leader_of("orders");
  BOOST_TEST_REQUIRE(leader >= 1);
  BOOST_TEST(three.leader_of("others") == 0);
  three.kill(leader);
  BOOST_TEST(eventually([&] { return client.try_put({.queue = "orders", .data = "two"}); }, 60s));
  const int next = three.leader_of("orders");
  BOOST_TEST(next != leader);
  BOOST_TEST(next >= 1);
  three.start(leader);
  for (int node = 1; node <= 3; ++node) three.kill(node);
  BOOST_TEST(three.leader_of("orders") == 0);
  three.start_all();
  rabbit_client later(three.address(leader));
  const auto has_both = [&] {
    const auto found = later.look_at("orders");
    return found && found->messages >= 2;  // a put that was not confirmed may be in the queue as well
  };
  BOOST_TEST(eventually(has_both, 60s));
}

BOOST_AUTO_TEST_CASE(each_node_shows_a_certificate_and_asks_for_one) {
  rabbit_broker one({.user = "bob", .password = "open # \"sesame\"", .virtual_host = "orders", .tls = true});
  BOOST_TEST(can_log_in(one, &one.client_certificate(), "open # \"sesame\""));
  BOOST_TEST(!can_log_in(one, &one.client_certificate(), "open"));
  BOOST_TEST(!can_log_in(one, nullptr, "open # \"sesame\""));
  testcluster::detail::connection plain(testcluster::detail::parse_endpoint(one.address()), clock_type::now() + 10s);
  plain.write(std::string_view("AMQP\0\0\x09\x01", 8));
  BOOST_TEST(plain.read(1) == "\x01");
}

BOOST_AUTO_TEST_SUITE_END()
