#include <ctime>
#include <optional>

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "../unit/no_descriptors.hpp"
#include "descriptor.hpp"
#include "jute/messages.hpp"
#include "proxied_server.hpp"

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
