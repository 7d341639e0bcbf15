// The faults of a connection to a server: a client sees each of them, the test heals it, and then a client works again.
// tests/ensemble/line_loss.cpp tests a lost reply to the create of a node in a waiting line.
#include <sstream>

#include <boost/test/unit_test.hpp>

#include "proxied_server.hpp"

using testcluster::proxy;
namespace jute = testcluster::jute;
namespace op = testcluster::op;

namespace {

const std::string question = jute::exists_request(1, "/");

/// Ends all faults, and checks that a new client works.
void heal_middle() {
  middle().heal();
  BOOST_TEST(middle().faults().empty());
  BOOST_TEST(through().exists("/"));
}

bool shows(const std::string& fault) {
  const auto on = middle().faults();
  return on.size() == 1 && on.front() == fault;
}

std::string connections_of_server() {
  return testcluster::detail::four_letter_word(
      testcluster::detail::parse_endpoint(proxied_server::get().nodes().at(0).address), "cons",
      clock_type::now() + 10s);
}

bool server_knows(const zk_client& client) {
  std::ostringstream hex;
  hex << "sid=0x" << std::hex << client.session().id;
  return contains(connections_of_server(), hex.str());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxy_faults, *boost::unit_test::fixture<proxied_server>())

BOOST_AUTO_TEST_CASE(a_client_of_a_half_open_line_is_not_told) {
  line asking, idle;
  middle().half_open(proxy::side::server);
  BOOST_TEST(shows("half-open"));
  asking.send(question);
  BOOST_TEST(asking.silent());
  BOOST_TEST(through().exists("/"));
  heal_middle();
  BOOST_TEST(idle.ends());
}

BOOST_AUTO_TEST_CASE(a_server_of_a_half_open_line_is_not_told) {
  auto client = through();
  BOOST_TEST(server_knows(client));
  middle().half_open(proxy::side::client);
  BOOST_TEST(!failure([&] { client.exists("/"); }).empty());
  BOOST_TEST(server_knows(client));
  heal_middle();
  BOOST_TEST(eventually([&] { return !server_knows(client); }));
}

BOOST_AUTO_TEST_CASE(what_is_sent_into_a_black_hole_is_lost) {
  auto client = through();
  line asking, idle;
  middle().blackhole();
  BOOST_TEST((middle().faults() == std::vector<std::string>{"blackhole to-server", "blackhole to-client"}));
  asking.send(jute::create_request(1, "/swallowed", "", 0));
  BOOST_TEST(asking.silent());
  BOOST_TEST(contains(failure([] { connect(middle().address(), 300ms); }), "in time"));
  heal_middle();
  BOOST_TEST(!direct().exists("/swallowed"));
  BOOST_TEST(client.exists("/"), "nothing of this connection was lost");
  idle.send(question);
  BOOST_TEST(idle.reply() == 1);
}

BOOST_AUTO_TEST_CASE(a_black_hole_for_replies_lets_requests_through) {
  line asking;
  middle().blackhole(proxy::way::to_client);
  BOOST_TEST(shows("blackhole to-client"));
  const auto lost = middle().lost_bytes();
  asking.send(jute::create_request(1, "/done-unheard", "", 0));
  BOOST_TEST(eventually([] { return direct().exists("/done-unheard"); }));
  BOOST_TEST(eventually([lost] { return middle().lost_bytes() > lost; }),
             "others can see the node before the reply comes");
  heal_middle();
  BOOST_TEST(asking.ends());
}

BOOST_AUTO_TEST_CASE(a_line_frozen_one_way_delivers_the_other) {
  line asking;
  middle().freeze(true, proxy::way::to_client);
  BOOST_TEST(shows("freeze to-client"));
  asking.send(jute::create_request(1, "/done-frozen", "", 0));
  BOOST_TEST(eventually([] { return direct().exists("/done-frozen"); }));
  heal_middle();
  BOOST_TEST(asking.reply() == 1);
}

BOOST_AUTO_TEST_CASE(a_narrow_line_takes_its_time) {
  const std::string data(20'000, 'x');
  auto client = through();
  middle().set_bandwidth(40'000);
  BOOST_TEST(shows("bandwidth 40000 bytes/s"));
  const auto start = clock_type::now();
  client.create("/narrow", data, 0);
  BOOST_TEST((clock_type::now() - start >= 500ms));
  heal_middle();
  const auto healed = clock_type::now();
  client.create("/wide", data, 0);
  BOOST_TEST((clock_type::now() - healed < 500ms));
}

BOOST_AUTO_TEST_CASE(heal_ends_them_all_at_once) {
  line frozen;
  middle().set_delay(100ms);
  middle().refuse(true);
  middle().freeze(true);
  middle().drop_reply(op::create, 3);
  middle().drop_request(op::exists, 1);
  BOOST_TEST((middle().faults() == std::vector<std::string>{"drop-reply create 3", "drop-request exists 1",
                                                            "delay 100 ms", "freeze", "refuse"}));
  frozen.send(jute::create_request(7, "/thawed", "", 0));
  heal_middle();
  BOOST_TEST(frozen.reply() == 7);
}

BOOST_AUTO_TEST_CASE(what_can_not_be_done_is_said) {
  BOOST_TEST(contains(failure([] { middle().drop_reply(op::create, 0); }), "at least 1"));
  BOOST_TEST(contains(failure([] { middle().set_bandwidth(~0ULL); }), "1 TB"));
  proxy opaque(proxied_server::get().nodes().at(0).address, {.protocol = testcluster::proxy_protocol::opaque});
  BOOST_TEST(contains(failure([&] { opaque.drop_request(op::create); }), "use cut"));
  BOOST_TEST(connect(opaque.address()).exists("/"));
}

BOOST_AUTO_TEST_CASE(requests_have_names) {
  BOOST_TEST(op::code_of("create2") == op::create2);
  BOOST_TEST(op::name_of(op::close_session) == "close_session");
  BOOST_TEST(op::name_of(4711) == "4711");
  BOOST_TEST(contains(failure([] { op::code_of("mkdir"); }), "create2"));
}

BOOST_AUTO_TEST_SUITE_END()
