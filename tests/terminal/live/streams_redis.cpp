// `zkadmin streams --broker` with Redis.
#include <filesystem>
#include <fstream>

#include <zkrecipes/redis/redis_producer.hpp>

#include <testcluster/redis_broker.hpp>

#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace fs = std::filesystem;

namespace {

struct redis_streams_fixture : stream_fixture {
  redis_streams streams(const testcluster::redis_broker& broker, const std::string& password = {}) {
    redis_options with;
    with.hosts = broker.address();
    with.password = password;
    with.stream = "orders";
    with.shards = 4;
    return redis_streams(zk(), "/s", with);
  }
  void put(const redis_streams& into, const std::string& data) {
    redis_producer by(into, "shop");
    const auto done = run(by.async_put("smith", data, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(done), std::get<0>(done).message());
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(streams_redis_suite, redis_streams_fixture)

BOOST_AUTO_TEST_CASE(the_broker_tells_what_waits) {
  testcluster::redis_broker broker;
  removes("/s");
  auto log = streams(broker);
  put(log, "tea");
  put(log, "milk");
  const auto moved = run(log.async_seek(log.shard_of("smith"), "billing", source_position::begin(), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(moved), std::get<0>(moved).message());
  const std::vector<std::string> asking{"--broker", broker.address()};
  const auto seen = stream_at("/s", asking);
  BOOST_TEST(seen.at("broker").at("trouble").is_null());
  const auto& depths = seen.at("broker").at("depths").as_array();
  BOOST_TEST_REQUIRE(depths.size() == 4u);
  const auto& smith = depths[log.shard_of("smith")];
  BOOST_TEST(smith.at("group") == "billing");
  BOOST_TEST(smith.at("messages").as_int64() == 2);
  const auto patient = check("/s", asking);
  BOOST_TEST(patient.code == 0, patient.out);
  BOOST_TEST(run_until([&] {
    const auto judged = check("/s", {"--broker", broker.address(), "--message-limit", "100ms"});
    return judged.code == 1 && has(judged.out, "old messages wait for billing (");
  }));
}

BOOST_AUTO_TEST_CASE(a_broker_that_is_away) {
  testcluster::redis_broker broker;
  removes("/s");
  put(streams(broker), "tea");
  broker.kill();
  const std::vector<std::string> asking{"--broker", broker.address(), "--timeout", "4s"};
  const auto seen = stream_at("/s", asking, 1);
  BOOST_TEST(seen.at("broker").at("away").as_bool());
  const auto judged = check("/s", asking);
  BOOST_TEST(judged.code == 2);
  BOOST_TEST(has(judged.out, "critical broker-away " + at("/s")), judged.out);
}

BOOST_AUTO_TEST_CASE(the_credentials_for_the_broker) {
  testcluster::redis_broker broker({.password = "topsecret"});
  removes("/s");
  put(streams(broker, "topsecret"), "tea");
  const auto file = broker.dir() / "credentials";
  std::ofstream(file) << ":topsecret\n";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  stream_at("/s", {"--broker", broker.address(), "--broker-credentials", file.string()});
  const auto without = check("/s", {"--broker", broker.address()});
  BOOST_TEST(without.code == 3, without.out);
  BOOST_TEST(has(without.out, "its broker does not tell"), without.out);
  fs::remove(file);
}

BOOST_AUTO_TEST_CASE(a_broker_over_tls) {
  testcluster::redis_broker broker({.tls = true});
  removes("/s");
  put(streams(broker), "tea");  // by the port without TLS
  const auto& own = broker.client_certificate();
  const std::vector<std::string> asking{"--broker", broker.secure_address(), "--broker-tls-authorities",
                                        broker.authority().certificate().string()};
  auto known = asking;
  known.insert(known.end(),
               {"--broker-tls-certificate", own.certificate.string(), "--broker-tls-key", own.key.string()});
  const auto seen = stream_at("/s", known);
  BOOST_TEST(seen.at("broker").at("trouble").is_null());
  BOOST_TEST(seen.at("broker").at("depths").as_array().size() == 4u);
  const auto judged = check("/s", known);
  BOOST_TEST(judged.code == 0, judged.out);

  auto nameless = asking;  // it asks for a certificate
  nameless.insert(nameless.end(), {"--timeout", "4s"});
  const auto refused = check("/s", nameless);
  BOOST_TEST(refused.code == 2, refused.out);
  BOOST_TEST(has(refused.out, "(see --broker-tls-certificate and --broker-tls-key)"), refused.out);

  known.insert(known.end(), {"--broker-tls-server-name", "redis.example", "--timeout", "4s"});
  const auto other = stream_at("/s", known, 1);
  BOOST_TEST(other.at("broker").at("away").as_bool());
  BOOST_TEST(has(std::string(other.at("broker").at("trouble").as_string()), "(see --broker-tls-server-name)"));
}

BOOST_AUTO_TEST_SUITE_END()
