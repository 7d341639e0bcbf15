// `zkadmin streams`, and what other commands say of sources outside of ZooKeeper, without a broker.
#include <boost/json/serialize.hpp>

#include "live/recipe_fixture.hpp"

namespace json = boost::json;

namespace {

constexpr const char* redis_record = R"({"zkrecipes":"redis_streams","count":4,"hash":"crc32","stream":"orders"})";
constexpr const char* rabbit_record = R"({"zkrecipes":"rabbit_queues","count":2,"hash":"crc32","queue":"jobs"})";

struct made_streams : stream_fixture {
  void make(const std::string& path, const std::string& record) {
    removes(path);
    create(path, record);
    create(path + "/_producers");
    create(path + "/_producers/shop", R"({"zkrecipes":"rabbit_producer"})");
    create(path + "/_dead");
  }
  void put_memory(const std::string& path, const std::string& shard, const std::string& group,
                  const std::string& data) {
    create(path + "/" + shard);
    create(path + "/" + shard + "/_at");
    create(path + "/" + shard + "/_at/" + group, data);
  }
  void bury(const std::string& path, const std::string& group) {
    create(path + "/_dead/" + group);
    create(path + "/_dead/" + group + "/letter-0000000000",
           R"({"zkrecipes":"dead_letter","item":"1/17-0","attempts":3,"reason":"no luck"})"
           "\ntea");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(streams_suite, made_streams)

BOOST_AUTO_TEST_CASE(positions_of_redis_streams) {
  make("/s", redis_record);
  put_memory("/s", "0001", "billing", R"({"zkrecipes":"stream_position","last":"17-3","ahead":["18-0 19-2"]})");
  bury("/s", "audit");
  const auto seen = stream_at("/s");
  BOOST_TEST(seen.at("source") == "redis_streams");
  BOOST_TEST(seen.at("name") == "orders");
  BOOST_TEST(seen.at("shards").as_int64() == 4);
  BOOST_TEST(seen.at("producers").as_int64() == 1);
  BOOST_TEST(seen.at("broker").is_null());
  BOOST_TEST_REQUIRE(seen.at("groups").as_array().size() == 2u);
  BOOST_TEST(seen.at("groups").at(0).at("name") == "audit");
  BOOST_TEST(seen.at("groups").at(0).at("dead_letters").as_int64() == 1);
  const auto& shard = seen.at("groups").at(1).at("shards").at(0);
  BOOST_TEST(shard.at("shard").as_int64() == 1);
  BOOST_TEST(shard.at("last") == "17-3");
  BOOST_TEST(shard.at("ahead").at(0) == "18-0 19-2");
  const auto table = zkadmin({"streams", at("/s")});
  BOOST_TEST(table.out.starts_with(at("/s") + ": redis_streams orders, 4 shards, 1 producer\n"), table.out);
  const auto all = zkadmin({"streams", "-o", "tsv"});
  BOOST_TEST(has(all.out, "stream\t" + at("/s") + "\tredis_streams\torders\t4\t1\t2\n"), all.out);
  BOOST_TEST(recipe_at("/s").at("kind") == "stream");
}

BOOST_AUTO_TEST_CASE(memories_of_queues) {
  make("/q", rabbit_record);
  put_memory("/q", "0000", "consumers",
             R"({"zkrecipes":"delivery_memory","settled":31,"runs":["1-29 12 shop"],"names":["a","b"]})");
  const auto seen = stream_at("/q");
  BOOST_TEST(seen.at("source") == "rabbit_queues");
  const auto& shard = seen.at("groups").at(0).at("shards").at(0);
  BOOST_TEST(json::serialize(shard.at("runs")) == R"([{"producer":"shop","epoch":"12","ranges":"1-29"}])");
  BOOST_TEST(shard.at("names").as_int64() == 2);
  const auto healthy = check("/q");
  BOOST_TEST(healthy.code == 0, healthy.out);
}

BOOST_AUTO_TEST_CASE(letters_of_a_source) {
  make("/s", redis_record);
  bury("/s", "billing");
  make("/q", rabbit_record);
  bury("/q", "consumers");
  BOOST_TEST(zkadmin({"queue", "letters", at("/s")}).code == 2, "a stream has groups");
  const auto of_group = zkadmin({"queue", "letters", at("/s"), "--group", "billing"});
  BOOST_TEST(has(of_group.out, at("/s") + ", group billing: 1 dead letter\n"), of_group.out + of_group.err);
  const auto of_queue = zkadmin({"queue", "letters", at("/q")});
  BOOST_TEST(has(of_queue.out, at("/q") + ", group consumers: 1 dead letter\n"), of_queue.out + of_queue.err);
  BOOST_TEST(
      fails(zkadmin({"queue", "revive", at("/q"), "--all", "--rw"}), 1, "has its messages outside of ZooKeeper"));
  const auto warned = check("/q");
  BOOST_TEST(warned.code == 1);
  BOOST_TEST(has(warned.out, "warning dead-letters " + at("/q") + ": dead letters: 1 of consumers"), warned.out);
  const auto discarded = zkadmin({"queue", "discard", at("/q"), "letter-0000000000", "--rw"});
  BOOST_TEST(discarded.code == 0, discarded.err);
  BOOST_TEST(check("/q").code == 0);
}

BOOST_AUTO_TEST_CASE(a_position_that_is_damaged) {
  make("/s", redis_record);
  put_memory("/s", "0003", "billing", R"({"zkrecipes":"stream_position","last":17})");
  BOOST_TEST(stream_at("/s").at("groups").at(0).at("shards").at(0).at("damaged").as_bool());
  const auto judged = check("/s");
  BOOST_TEST(judged.code == 2);
  BOOST_TEST(has(judged.out, "critical damaged-position " + at("/s")), judged.out);
  BOOST_TEST(has(judged.out, "shard 3 of billing"), judged.out);
}

BOOST_AUTO_TEST_CASE(a_source_of_the_users) {
  make("/own", R"({"zkrecipes":"external_log","count":2,"source":"pages"})");
  put_memory("/own", "0001", "g", R"({"zkrecipes":"external_position","last":"page 7"})");
  const auto seen = stream_at("/own");
  BOOST_TEST(seen.at("name") == "pages");
  BOOST_TEST(seen.at("groups").at(0).at("shards").at(0).at("last") == "page 7");
  const auto asked = stream_at("/own", {"--broker", "127.0.0.1:1"});
  BOOST_TEST(asked.at("broker").is_null(), "it has none that zkadmin knows");
}

BOOST_AUTO_TEST_CASE(there_has_to_be_a_source) {
  make("/other", R"({"zkrecipes":"redis_streams","count":0})");
  BOOST_TEST(zkadmin({"streams", at("/other")}).err == "zkadmin: " + at("/other") + " is no stream\n");
  BOOST_TEST(zkadmin({"streams", at("/none")}).err == "zkadmin: there is no stream at " + at("/none") + "\n");
  BOOST_TEST(zkadmin({"check", "--security", "--broker", "127.0.0.1:1"}).code == 3);
  BOOST_TEST(zkadmin({"streams", "--broker-credentials", "/no/such/file"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
