// The output of `topics`.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "report/topic_report.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

topic_status mail() {
  topic_status topic;
  topic.path = "/mail";
  topic.shards = 16;
  topic.kept = {{0, 2, 30, 0ms}, {3, 1, 5, 0ms}, {12, 4, 400, 0ms}};
  topic.groups = {{"audit", {}, 2}, {"billing", {{0, 1, 10, 1500ms}, {12, 3, 300, 90s}}, 0}};
  return topic;
}

known_topics sample() {
  topic_status quiet;
  quiet.path = "/quiet";
  quiet.shards = 256;
  topic_survey all;
  all.found = {mail(), quiet};
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(topics)

BOOST_AUTO_TEST_CASE(totals) {
  BOOST_TEST((total_of({}) == topic_shard_status{}));
  BOOST_TEST((total_of(mail().groups[1].behind) == topic_shard_status{0, 4, 310, 90s}));
}

BOOST_AUTO_TEST_CASE(json_of_a_topic) {
  const auto text = to_json(sample());
  BOOST_TEST(text.find('\n') == text.size() - 1);
  const auto document = json::parse(text);
  BOOST_TEST(document.at("schema").as_int64() == 1);
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(json::serialize(document.at("topics").at(0)) ==
             R"({"path":"/mail","shards":16,"batches":7,"messages":435,"kept":[{"shard":0,"batches":2,"messages":30},)"
             R"({"shard":3,"batches":1,"messages":5},{"shard":12,"batches":4,"messages":400}],"groups":[)"
             R"({"name":"audit","lag":0,"lag_batches":0,"oldest_ms":null,"dead_letters":2,"behind":[]},)"
             R"({"name":"billing","lag":310,"lag_batches":4,"oldest_ms":90000,"dead_letters":0,"behind":[)"
             R"({"shard":0,"batches":1,"messages":10,"oldest_ms":1500},{"shard":12,"batches":3,"messages":300,)"
             R"("oldest_ms":90000}]}]})");
}

BOOST_AUTO_TEST_CASE(none_are_told_from_not_known) {
  BOOST_TEST(to_json(known_topics()) == R"({"schema":1,"complete":false,"topics":null,"notes":[]})"
                                        "\n");
  BOOST_TEST(to_json(topic_survey{}) == R"({"schema":1,"complete":true,"topics":[],"notes":[]})"
                                        "\n");
  BOOST_TEST(to_tsv(known_topics()) == "topics\tunknown\t\n");
  BOOST_TEST(to_tsv(topic_survey{}) == "topics\tcomplete\t0\n");
  BOOST_TEST(to_table(known_topics()) == "Topics: not known.\n");
  BOOST_TEST(to_table(known_topics(topic_survey{})) == "No topics.\n");
}

BOOST_AUTO_TEST_CASE(table_of_topics) {
  BOOST_TEST(to_table(sample()) ==
             "TOPIC   SHARDS  BATCHES  MESSAGES  GROUP    LAG  OLDEST  SHARDS BEHIND  DEAD LETTERS\n"
             "/mail       16        7       435  audit      0       -              0             2\n"
             "                                   billing  310  1m 30s              2             0\n"
             "/quiet     256        0         0  -\n");
}

BOOST_AUTO_TEST_CASE(table_of_one_topic) {
  BOOST_TEST(to_table(mail()) ==
             "/mail: 16 shards, 7 batches, 435 messages\n"
             "\n"
             "GROUP    LAG  OLDEST  SHARDS BEHIND  DEAD LETTERS\n"
             "audit      0       -              0             2\n"
             "billing  310  1m 30s              2             0\n"
             "\n"
             "SHARD  BATCHES  MESSAGES  audit  billing\n"
             "   12        4       400      0      300\n"
             "    0        2        30      0       10\n"
             "    3        1         5      0        0\n");
}

BOOST_AUTO_TEST_CASE(only_the_shards_with_the_largest_lags_are_in_the_table) {
  auto topic = mail();
  topic.kept.clear();
  topic.groups[1].behind.clear();
  for (std::uint32_t i = 0; i < 30; ++i) {
    topic.kept.push_back({i, 1, 100, 0ms});
    topic.groups[1].behind.push_back({i, 1, i + 1, 1s});
  }
  const auto text = to_table(topic);
  BOOST_TEST(text.find("billing\n   29        1       100      0       30\n") != std::string::npos, text);
  BOOST_TEST(text.ends_with("and 10 more\n"), text);
}

BOOST_AUTO_TEST_CASE(tsv_of_topics) {
  BOOST_TEST(to_tsv(sample()) ==
             "topics\tcomplete\t2\n"
             "topic\t/mail\t16\t7\t435\t2\n"
             "shard\t/mail\t0\t2\t30\n"
             "shard\t/mail\t3\t1\t5\n"
             "shard\t/mail\t12\t4\t400\n"
             "group\t/mail\taudit\t0\t0\t\t0\t2\n"
             "group\t/mail\tbilling\t310\t4\t90000\t2\t0\n"
             "lag\t/mail\tbilling\t0\t10\t1\t1500\n"
             "lag\t/mail\tbilling\t12\t300\t3\t90000\n"
             "topic\t/quiet\t256\t0\t0\t0\n");
}

BOOST_AUTO_TEST_CASE(texts_from_the_cluster_can_not_harm_a_terminal) {
  topic_survey one;
  one.found = {mail()};
  one.found[0].path = one.found[0].groups[0].name = "/a\x1b[2J\n\x9b\xff";
  for (const auto& text : {to_table(one.found[0]), to_table(known_topics(one)), to_tsv(one), to_json(one)})
    for (const unsigned char c : text) BOOST_TEST((c == '\n' || c == '\t' || (c >= 0x20 && c != 0x7f)));
}

BOOST_AUTO_TEST_SUITE_END()
