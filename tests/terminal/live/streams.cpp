// `zkadmin topics` and `zkadmin streams` against real servers.
#include <deque>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/consumer/topic_producer.hpp>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

// `zkadmin topics` against real servers.

namespace {

class topic_fixture : public admin_fixture {
 public:
  void teardown() {
    if (contains("/t")) BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children("/t", tuple))));
    admin_fixture::teardown();
  }

  topic log() {
    topic_options with;
    with.shards = 4;
    return topic(zk(), "/t", with);
  }
  /// Puts so many messages with this key, all in one batch.
  void put(const std::string& key, std::size_t count) {
    topic_producer by(log(), "p");
    std::deque<recorder<std::uint64_t>> puts;
    for (std::size_t i = 0; i < count; ++i) {
      puts.emplace_back(executor());
      by.async_put(key, "x", puts.back().token());
    }
    for (auto& each : puts) {
      BOOST_TEST_REQUIRE(run_until([&] { return each.done(); }));
      BOOST_TEST_REQUIRE(!each.error(), each.error().message());
    }
  }
  void seek(const std::string& group, std::uint32_t shard, source_position where) {
    const auto moved = run(log().async_seek(shard, group, where, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(moved), std::get<0>(moved).message());
  }
  json::value topics() {
    const auto result = zkadmin({"topics", "-o", "json"});
    BOOST_TEST(result.code == 0, result.err);
    return json::parse(result.out);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(topics_suite, topic_fixture)

BOOST_AUTO_TEST_CASE(what_is_kept_and_how_far_the_groups_are) {
  create("/plain");
  leaves("/plain");
  BOOST_TEST(topics().at("topics").as_array().empty());
  put("a", 3);
  const auto shard = log().shard_of("a");
  seek("billing", shard, source_position::begin());
  seek("audit", shard, source_position::end());

  const auto document = topics();
  BOOST_TEST_REQUIRE(document.at("topics").as_array().size() == 1u);
  const auto& found = document.at("topics").at(0);
  BOOST_TEST(found.at("path").as_string() == root() + "/t");
  BOOST_TEST(found.at("shards").as_int64() == 4);
  BOOST_TEST(found.at("messages").as_int64() == 3);
  const auto batches = found.at("batches").as_int64();
  BOOST_TEST(batches >= 1);
  BOOST_TEST(json::serialize(found.at("kept")) == R"([{"shard":)" + std::to_string(shard) + R"(,"batches":)" +
                                                      std::to_string(batches) + R"(,"messages":3}])");
  BOOST_TEST_REQUIRE(found.at("groups").as_array().size() == 2u);
  const auto& audit = found.at("groups").at(0);
  BOOST_TEST(audit.at("name") == "audit");
  BOOST_TEST(audit.at("lag").as_int64() == 0);
  BOOST_TEST(audit.at("oldest_ms").is_null());
  BOOST_TEST(audit.at("behind").as_array().empty());
  const auto& billing = found.at("groups").at(1);
  BOOST_TEST(billing.at("name") == "billing");
  BOOST_TEST(billing.at("lag").as_int64() == 3);
  BOOST_TEST(billing.at("oldest_ms").as_int64() >= 0);
  BOOST_TEST_REQUIRE(billing.at("behind").as_array().size() == 1u);
  BOOST_TEST(billing.at("behind").at(0).at("shard").as_int64() == shard);
  BOOST_TEST(billing.at("behind").at(0).at("messages").as_int64() == 3);

  const auto list = zkadmin({"topics"});
  BOOST_TEST(list.code == 0, list.err);
  BOOST_TEST(list.out.find("\n" + root() + "/t ") != std::string::npos, list.out);
  const auto one = zkadmin({"topics", root() + "/t"});
  BOOST_TEST(one.out.starts_with(root() + "/t: 4 shards, " + std::to_string(batches) + " batches, 3 messages\n"),
             one.out);
  BOOST_TEST(zkadmin({"topics", root() + "/t", "-o", "tsv"}).out.starts_with("topics\tcomplete\t1\ntopic\t"));
}

BOOST_AUTO_TEST_CASE(a_message_that_nobody_consumes_becomes_a_problem) {
  put("a", 3);
  seek("billing", log().shard_of("a"), source_position::begin());
  const auto old = "warning old-messages " + root() + "/t: old messages wait for billing (";
  BOOST_TEST(run_until([&] {
    const auto result = zkadmin({"check", "--message-limit", "100ms"});
    return result.code == 1 && result.out.find(old) != std::string::npos;
  }));
  const auto patient = zkadmin({"check", "--message-limit", "1h"});
  BOOST_TEST(patient.code == 0, patient.out);
}

BOOST_AUTO_TEST_CASE(the_dashboard_shows_the_lag) {
  put("a", 3);
  const auto shard = log().shard_of("a");
  seek("billing", shard, source_position::begin());
  pseudo_terminal terminal(io(), 100, 20);
  terminal.start({ZKADMIN_PROGRAM, "--root", root(), "--interval", "200ms"}, {{"ZKADMIN_HOSTS", hosts}});
  BOOST_TEST(terminal.shows("QUORUM 3/3"));
  terminal.type("5");
  BOOST_TEST(terminal.shows("TOPICS 1"));
  BOOST_TEST(terminal.shows(root() + "/t  billing    3 "));
  terminal.type("\r");
  BOOST_TEST(terminal.shows("TOPIC " + root() + "/t"));
  seek("billing", shard, source_position::end());
  BOOST_TEST(terminal.shows("billing    0 "));
  terminal.type("q");
  BOOST_TEST(terminal.exit_code() == 0);
}

// The folders of shards and producers are no elections, and nothing is looked for in them.
BOOST_AUTO_TEST_CASE(the_inside_of_a_topic_is_not_searched) {
  put("a", 1);
  create("/t/0001");
  create("/t/0001/_c_x-latch-0000000001");
  BOOST_TEST(status().at("elections").as_array().empty());
}

BOOST_AUTO_TEST_CASE(there_has_to_be_a_topic) {
  create("/other", R"({"zkrecipes":"topic","count":0,"hash":"crc32"})");
  leaves("/other");
  const auto path = root() + "/other";
  BOOST_TEST(zkadmin({"topics", path}).err == "zkadmin: " + path + " is no topic\n");
  const auto all = zkadmin({"topics", "-o", "json"});
  BOOST_TEST(all.code == 1, "it says that it is a topic, so there may be one more");
  BOOST_TEST(all.err.find(path + ": it holds data that this zkadmin does not understand") != std::string::npos,
             all.err);
  BOOST_TEST(json::parse(all.out).at("topics").as_array().empty());
  const auto missing = zkadmin({"topics", "/no/such/path", "-o", "json"});
  BOOST_TEST(missing.code == 1);
  BOOST_TEST(missing.err == "zkadmin: there is no topic at /no/such/path\n");
  BOOST_TEST(json::parse(missing.out).at("topics").is_null());
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin streams`, and what other commands say of sources outside of ZooKeeper, without a broker.

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
