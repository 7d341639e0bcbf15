// `zkadmin streams --broker` with RabbitMQ.
#include <zkrecipes/rabbitmq/rabbit_producer.hpp>

#include <testcluster/rabbit_broker.hpp>

#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct rabbit_queues_fixture : stream_fixture {
  rabbit_queues queues(const testcluster::rabbit_broker& broker) {
    rabbit_options with;
    with.hosts = broker.address();
    with.queue = "jobs";
    with.shards = 2;
    return rabbit_queues(zk(), "/q", with);
  }
  void put(const rabbit_queues& into, const std::string& data) {
    rabbit_producer by(into, "shop");
    const auto done = run(by.async_put("smith", data, tuple), std::chrono::seconds(60));
    BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(streams_rabbitmq_suite, rabbit_queues_fixture)

BOOST_AUTO_TEST_CASE(the_broker_tells_what_waits_and_may_be_away) {
  testcluster::rabbit_broker broker;
  removes("/q");
  const auto jobs = queues(broker);
  put(jobs, "tea");
  const auto used = jobs.shard_of("smith");
  const std::vector<std::string> asking{"--broker", broker.address()};
  const auto seen = stream_at("/q", asking);
  BOOST_TEST(seen.at("producers").as_int64() == 1);
  BOOST_TEST(seen.at("broker").at("trouble").is_null());
  const auto& depths = seen.at("broker").at("depths").as_array();
  BOOST_TEST_REQUIRE(depths.size() == 2u);
  BOOST_TEST(depths[used].at("messages").as_int64() == 1);
  BOOST_TEST(depths[used].at("consumers").as_int64() == 0);
  BOOST_TEST(depths[1 - used].at("missing").as_bool());
  const auto alone = check("/q", asking);
  BOOST_TEST(alone.code == 1);
  BOOST_TEST(has(alone.out, "warning queue-without-consumers " + at("/q")), alone.out);

  broker.kill();
  const auto away = check("/q", {"--broker", broker.address(), "--timeout", "4s"});
  BOOST_TEST(away.code == 2);
  BOOST_TEST(has(away.out, "critical broker-away " + at("/q")), away.out);
}

BOOST_AUTO_TEST_CASE(a_broker_over_tls) {
  testcluster::rabbit_broker broker({.tls = true});
  removes("/q");
  const auto jobs = queues(broker);
  put(jobs, "tea");  // by the port without TLS
  const auto& own = broker.client_certificate();
  const std::vector<std::string> ours{
      "--broker",         broker.secure_address(), "--broker-tls-certificate", own.certificate.string(),
      "--broker-tls-key", own.key.string()};
  auto known = ours;
  known.insert(known.end(), {"--broker-tls-authorities", broker.authority().certificate().string()});
  const auto seen = stream_at("/q", known);
  BOOST_TEST(seen.at("broker").at("trouble").is_null());
  const auto& depths = seen.at("broker").at("depths").as_array();
  BOOST_TEST_REQUIRE(depths.size() == 2u);
  BOOST_TEST(depths[jobs.shard_of("smith")].at("messages").as_int64() == 1);

  auto trusting = ours;  // the authorities of the system have not signed it
  trusting.insert(trusting.end(), {"--timeout", "4s"});
  const auto refused = check("/q", trusting);
  BOOST_TEST(refused.code == 2, refused.out);
  BOOST_TEST(has(refused.out, "(see --broker-tls-authorities)"), refused.out);
}

BOOST_AUTO_TEST_SUITE_END()
