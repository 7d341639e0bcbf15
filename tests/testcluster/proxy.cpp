#include <ctime>
#include <optional>
#include <sstream>
#include <string>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include <testcluster/proxy.hpp>

#include "../unit/no_descriptors.hpp"
#include "descriptor.hpp"
#include "jute/messages.hpp"
#include "support.hpp"

/// One server behind a proxy for a whole suite; every case leaves the proxy as it found it.
class proxied_server {
 public:
  static testcluster::ensemble& get() { return *current(); }
  proxied_server() { current().emplace(testcluster::ensemble_options{.servers = 1, .delay_proxies = true}); }
  ~proxied_server() { current().reset(); }

 private:
  static std::optional<testcluster::ensemble>& current() {
    static std::optional<testcluster::ensemble> cluster;
    return cluster;
  }
};

inline testcluster::proxy& middle() { return proxied_server::get().proxy(1); }

inline zk_client through() { return connect(middle().address()); }

inline zk_client direct() { return connect(proxied_server::get().nodes().at(0).address); }

/// A session whose requests and replies are sent and awaited one by one.
class line {
 public:
  line() : line_(testcluster::detail::parse_endpoint(middle().address()), clock_type::now() + 10s) {
    line_.write(testcluster::jute::connect_request({.timeout_ms = 10'000}));
    read();
  }
  void send(const std::string& request) { line_.write(request); }

  /// The xid of the next reply.
  std::int32_t reply() { return testcluster::jute::reader(read()).int32(); }

  /// Whether neither a reply nor the end of the connection comes within 300 ms. No other member can be called
  /// afterwards.
  bool silent() {
    line_.set_deadline(clock_type::now() + 300ms);
    return contains(end(), "in time");
  }

  /// Whether the connection ends before the deadline, without another byte. No other member can be called afterwards.
  bool ends() {
    const auto why = end();
    return !why.empty() && !contains(why, "in time");
  }

 private:
  std::string end() {
    return failure([this] { line_.read(1); });
  }
  std::string read() { return line_.read(testcluster::jute::reader(line_.read(4)).int32()); }
  testcluster::detail::connection line_;
};

using testcluster::proxy;
using testcluster::detail::connection;
using testcluster::detail::parse_endpoint;
namespace jute = testcluster::jute;
namespace op = testcluster::op;

namespace {

template <class Function>
clock_type::duration time_of(Function function) {
  const auto start = clock_type::now();
  function();
  return clock_type::now() - start;
}

std::chrono::nanoseconds processor_time() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

bool hears(const testcluster::detail::descriptor& link, std::chrono::milliseconds within) {
  pollfd event{link.get(), POLLIN, 0};
  return ::poll(&event, 1, static_cast<int>(within.count())) == 1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(proxies, *boost::unit_test::fixture<proxied_server>())

BOOST_AUTO_TEST_CASE(hosts_names_the_proxy) {
  BOOST_TEST(proxied_server::get().hosts() == middle().address());
  BOOST_TEST(proxied_server::get().nodes().at(0).proxy == middle().address());
  BOOST_TEST(middle().address() != proxied_server::get().nodes().at(0).address);
}

BOOST_AUTO_TEST_CASE(a_round_trip_takes_the_delay_twice) {
  auto client = through();
  middle().set_delay(300ms);
  const auto slow = time_of([&] { client.exists("/"); });
  middle().set_delay(0ms);
  const auto fast = time_of([&] { client.exists("/"); });
  BOOST_TEST((slow >= 600ms));
  BOOST_TEST((fast < slow));
}

BOOST_AUTO_TEST_CASE(a_delay_can_be_a_part_of_a_millisecond) {
  middle().set_delay(1500us);
  const auto on = middle().faults();
  auto client = through();
  const auto took = time_of([&] { client.exists("/"); });
  middle().set_delay(0ms);
  BOOST_TEST((on == std::vector<std::string>{"delay 1500 us"}));
  BOOST_TEST((took >= 3ms));
}

BOOST_AUTO_TEST_CASE(the_delay_of_pipelined_requests_overlaps) {
  constexpr int requests = 20;
  connection link(parse_endpoint(middle().address()), clock_type::now() + 30s);
  link.write(jute::connect_request({.timeout_ms = 10'000}));
  link.read(jute::reader(link.read(4)).int32());
  middle().set_delay(100ms);
  const auto took = time_of([&] {
    for (int xid = 1; xid <= requests; ++xid) link.write(jute::exists_request(xid, "/"));
    for (int xid = 1; xid <= requests; ++xid) {
      const auto reply = link.read(jute::reader(link.read(4)).int32());
      BOOST_TEST(jute::reader(reply).int32() == xid);
    }
  });
  middle().set_delay(0ms);
  BOOST_TEST((took >= 200ms));
  BOOST_TEST((took < requests * 200ms / 2));
}

BOOST_AUTO_TEST_CASE(cut_closes_what_there_is_and_lets_in_what_comes) {
  auto client = through();
  BOOST_TEST(middle().connections() >= 1u);
  middle().cut();
  BOOST_TEST(middle().connections() == 0u);
  BOOST_TEST(contains(failure([&] { client.exists("/"); }), "could not"));
  BOOST_TEST(through().exists("/"));
}

BOOST_AUTO_TEST_CASE(a_frozen_proxy_answers_nobody_and_forgets_nothing) {
  connection link(parse_endpoint(middle().address()), clock_type::now() + 30s);
  link.write(jute::connect_request({.timeout_ms = 10'000}));
  link.read(jute::reader(link.read(4)).int32());
  middle().freeze(true);
  link.write(jute::exists_request(1, "/"));
  BOOST_TEST(contains(failure([&] { connect(middle().address(), 300ms); }), "in time"));
  BOOST_TEST(direct().exists("/"));
  middle().freeze(false);
  const auto reply = link.read(jute::reader(link.read(4)).int32());
  BOOST_TEST(jute::reader(reply).int32() == 1);
}

BOOST_AUTO_TEST_CASE(a_refusing_proxy_keeps_the_connections_it_has) {
  auto client = through();
  middle().refuse(true);
  BOOST_TEST(contains(failure([&] { through(); }), "refused"));
  BOOST_TEST(client.exists("/"));
  middle().refuse(false);
  BOOST_TEST(through().exists("/"));
}

BOOST_AUTO_TEST_CASE(a_lost_reply_belongs_to_a_request_that_was_done) {
  auto client = through();
  const auto before = middle().drops();
  middle().drop_reply(op::create, 2);
  BOOST_TEST(client.create("/reply-1", "", 0) == "/reply-1");
  BOOST_TEST(!failure([&] { client.create("/reply-2", "", 0); }).empty());
  BOOST_TEST(middle().drops() == before + 1);
  BOOST_TEST(direct().exists("/reply-2"));
  BOOST_TEST(through().create("/reply-3", "", 0) == "/reply-3");
}

BOOST_AUTO_TEST_CASE(a_lost_request_was_never_done) {
  auto client = through();
  middle().drop_request(op::create, 2);
  BOOST_TEST(client.create("/request-1", "", 0) == "/request-1");
  BOOST_TEST(!failure([&] { client.create("/request-2", "", 0); }).empty());
  BOOST_TEST(!direct().exists("/request-2"));
  BOOST_TEST(through().create("/request-2", "", 0) == "/request-2");
}

BOOST_AUTO_TEST_CASE(a_session_can_be_lost_as_it_is_made) {
  middle().drop_reply(op::create_session);
  BOOST_TEST(!failure([] { through(); }).empty());
  BOOST_TEST(through().exists("/"));
}

BOOST_AUTO_TEST_CASE(four_letter_words_pass) {
  const auto answer =
      testcluster::detail::four_letter_word(parse_endpoint(middle().address()), "ruok", clock_type::now() + 10s);
  BOOST_TEST(answer == "imok");
}

BOOST_AUTO_TEST_CASE(large_requests_pass) {
  const std::string data(900'000, 'x');
  auto client = through();
  BOOST_TEST(client.create("/large", data, 0) == "/large");
  BOOST_TEST(client.exists("/large"));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_gone_shows_as_a_closed_connection) {
  auto& cluster = proxied_server::get();
  auto client = through();
  cluster.kill(1);
  BOOST_TEST(!failure([&] { client.exists("/"); }).empty());
  BOOST_TEST(!failure([] { through(); }).empty());
  cluster.start(1);
  BOOST_TEST(through().exists("/"));
}

BOOST_AUTO_TEST_CASE(ends_while_a_client_is_frozen_and_one_waits) {
  std::optional<proxy> other(std::in_place, proxied_server::get().nodes().at(0).address,
                             testcluster::proxy_options{.delay = 60s});
  connection slow(parse_endpoint(other->address()), clock_type::now() + 10s);
  slow.write(jute::connect_request({.timeout_ms = 10'000}));
  BOOST_TEST(eventually([&] { return other->connections() == 1; }));
  other->freeze(true);
  other.reset();
  BOOST_TEST(!failure([&] { slow.read(1); }).empty());
}

BOOST_AUTO_TEST_CASE(without_descriptors_it_waits_for_one_and_does_not_spin) {
  const auto where = parse_endpoint(middle().address());
  const testcluster::detail::descriptor link(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  std::optional<zkrecipes::test::no_descriptors> none(std::in_place, 0u);
  BOOST_TEST_REQUIRE(::connect(link.get(), where.data(), static_cast<socklen_t>(where.size())) == 0);
  const auto hello = jute::connect_request({.timeout_ms = 10'000});
  BOOST_TEST_REQUIRE(::send(link.get(), hello.data(), hello.size(), 0) == static_cast<ssize_t>(hello.size()));
  const auto begin = processor_time();
  BOOST_TEST(!hears(link, 300ms));
  BOOST_TEST((processor_time() - begin < 100ms));
  none.reset();
  BOOST_TEST(hears(link, 30s));
}

BOOST_AUTO_TEST_SUITE_END()

// The faults of a connection to a server: a client sees each of them, the test heals it, and then a client works again.
// tests/ensemble/line_leave.cpp tests a lost reply to the create of a node in a waiting line.

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
