// `zkadmin topics` against real servers.
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
