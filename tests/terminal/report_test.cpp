// The output of `status`.
#include <iostream>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "cluster/status.hpp"
#include "report/message_report.hpp"
#include "report/status_report.hpp"
#include "samples.hpp"

using namespace zkadmin;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

json::object parsed(const cluster_status& cluster) {
  const std::string text = to_json(cluster);
  BOOST_TEST(text.back() == '\n');
  BOOST_TEST(text.find('\n') == text.size() - 1);
  return json::parse(text).as_object();
}

std::string keys(const json::value& object) {
  std::string names;
  for (const auto& each : object.as_object()) names += std::string(each.key()) + " ";
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(json_has_exactly_the_documented_shape) {
  const auto document = parsed(samples::cluster());
  BOOST_TEST(keys(document) == "schema ensemble complete elections notes ");
  BOOST_TEST(document.at("schema").as_int64() == 2);
  for (const auto& server : document.at("ensemble").as_array()) {
    BOOST_TEST(keys(server) == "server role reachable zxid connections latency_ms outstanding nodes version error ");
    BOOST_TEST(keys(server.at("latency_ms")) == "min avg max ");
  }
  for (const auto& election : document.at("elections").as_array()) {
    BOOST_TEST(keys(election) == "path epoch phase leader waiters hand_over takeover resignation_asked_ms problem ");
    if (!election.at("leader").is_null()) BOOST_TEST(keys(election.at("leader")) == "id token ");
    if (election.at("waiters").is_null()) continue;
    for (const auto& waiter : election.at("waiters").as_array()) BOOST_TEST(keys(waiter) == "id position ");
    if (!election.at("hand_over").is_null())
      BOOST_TEST(keys(election.at("hand_over")) == "from to state elapsed_ms deadline_ms ");
  }
}

BOOST_AUTO_TEST_CASE(json_values) {
  const auto document = parsed(samples::cluster());
  const auto& servers = document.at("ensemble").as_array();
  BOOST_TEST(json::serialize(servers.at(1)) ==
             R"({"server":"127.1.2.2:2181","role":"leader","reachable":true,"zxid":"0x10000001f","connections":1,)"
             R"("latency_ms":{"min":0,"avg":4.167E-1,"max":12},"outstanding":0,"nodes":42,"version":"3.8.0",)"
             R"("error":null})");
  BOOST_TEST(json::serialize(servers.at(2)) ==
             R"({"server":"127.1.2.3:2181","role":null,"reachable":false,"zxid":null,"connections":null,)"
             R"("latency_ms":{"min":null,"avg":null,"max":null},"outstanding":null,"nodes":null,"version":null,)"
             R"("error":"Connection refused"})");
  const auto& elections = document.at("elections").as_array();
  BOOST_TEST(json::serialize(elections.at(0)) ==
             R"({"path":"/billing/consumer","epoch":7,"phase":"executing","leader":{"id":"worker-1",)"
             R"("token":4294967321},"waiters":[{"id":"worker-2","position":1},{"id":"worker-3","position":2}],)"
             R"("hand_over":null,"takeover":"clean","resignation_asked_ms":null,"problem":null})");
  BOOST_TEST(json::serialize(elections.at(1).at("hand_over")) ==
             R"({"from":"sender-a","to":"sender-b","state":"finishing","elapsed_ms":1200,"deadline_ms":10000})");
  BOOST_TEST(
      json::serialize(elections.at(2)) ==
      R"({"path":"/other","epoch":null,"phase":"foreign_data","leader":null,"waiters":null,"hand_over":null,)"
      R"("takeover":null,"resignation_asked_ms":null,"problem":"its node holds data that zkrecipes did not write"})");
}

BOOST_AUTO_TEST_CASE(json_of_unknown_elections_and_not_serving) {
  cluster_status cluster{samples::servers(), std::nullopt};
  cluster.ensemble[0].role = server_role::not_serving;
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").is_null());
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("ensemble").as_array().at(0).at("role") == "not serving");
  BOOST_TEST(to_tsv(cluster).ends_with("elections\tunknown\t\n"));
}

BOOST_AUTO_TEST_CASE(none_are_told_from_not_known) {
  cluster_status cluster{samples::servers(), election_survey{}};
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").as_array().empty());
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(to_tsv(cluster).ends_with("elections\tcomplete\t0\n"));
}

BOOST_AUTO_TEST_CASE(what_was_left_out_is_told_with_its_path) {
  auto cluster = samples::cluster();
  cluster.survey->complete = false;
  cluster.survey->notes = {{"/closed", "may not be read with these credentials"}};
  const auto document = parsed(cluster);
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(json::serialize(document.at("notes")) ==
             R"([{"path":"/closed","text":"may not be read with these credentials"}])");
  const auto tsv = to_tsv(cluster);
  BOOST_TEST(tsv.find("elections\tincomplete\t3\n") != std::string::npos);
  BOOST_TEST(tsv.ends_with("note\t/closed\tmay not be read with these credentials\n"));
  BOOST_TEST(to_table(cluster).ends_with("There may be more elections than these.\n"));
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_heeded_has_its_age_in_every_format) {
  cluster_status cluster{samples::servers(), election_survey{}};
  cluster.survey->found = samples::troubles();
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").as_array().at(1).at("resignation_asked_ms").as_int64() == 9000);
  BOOST_TEST(to_tsv(cluster).find("\t9000\t\nwaiter\t/parcels/consumer\t1") != std::string::npos);
  BOOST_TEST(to_table(cluster).find("  resignation: worker-1 was asked 9.0 s ago\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_office_without_anybody_in_line_is_a_problem_in_every_format) {
  cluster_status cluster{samples::servers(), election_survey{}};
  cluster.survey->found = samples::elections();
  cluster.survey->found.push_back(samples::troubles()[0]);
  const auto problem = "its record has a leader, but nobody is in line";
  BOOST_TEST(parsed(cluster).at("elections").as_array().at(3).at("problem") == problem);
  BOOST_TEST(to_tsv(cluster).find(std::string("\t") + problem + "\n") != std::string::npos);
  const auto table = to_table(cluster);
  BOOST_TEST(table.find("executing     nobody in line") != std::string::npos);
  BOOST_TEST(table.find("/orders/consumer") < table.find("/billing/consumer"));
}

BOOST_AUTO_TEST_CASE(the_banner_says_what_is_known) {
  const auto banner = [](const std::vector<server_status>& servers) {
    return to_table({servers, std::nullopt}).substr(0, to_table({servers, std::nullopt}).find('\n'));
  };
  auto servers = samples::servers();
  servers[1] = servers[2];
  servers[1].silent = true;
  BOOST_TEST(banner(servers) == "QUORUM 1/3 leader not known");
  servers[1] = servers[2] = servers[0];
  BOOST_TEST(banner(servers) == "QUORUM 3/3 leader not among the hosts");
  servers.assign(3, samples::servers()[2]);
  BOOST_TEST(banner(servers) == "NO ANSWER 0/3");
  servers[0].reachable = true;
  BOOST_TEST(banner(servers) == "QUORUM not known: no server tells its role");
  servers[0].role = server_role::not_serving;
  BOOST_TEST(banner(servers) == "NO QUORUM 0/3");
  servers[1].silent = true;
  servers[1].error.clear();
  BOOST_TEST(banner(servers) == "asking the servers");
}

BOOST_AUTO_TEST_CASE(json_survives_any_name) {
  auto cluster = samples::cluster();
  cluster.survey->found[0].leader->id = "\xff\x1b\"\\\n";
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").as_array().at(0).at("leader").at("id").as_string() == "\uFFFD\x1b\"\\\n");
}

// A terminal may show the output of any format.
BOOST_AUTO_TEST_CASE(what_orders_a_terminal_about_is_written_as_its_code) {
  const std::string id = "\u009b31m\u202ex\x7f\U000E0041 \u00e9";
  auto cluster = samples::cluster();
  cluster.survey->found[0].leader->id = id;
  BOOST_TEST(parsed(cluster).at("elections").as_array().at(0).at("leader").at("id").as_string() == id);
  const auto text = to_json(cluster);
  BOOST_TEST(text.find(R"("\u009b31m\u202ex\u007f\udb40\udc41 )"
                       "\u00e9\"") != std::string::npos,
             text);
  const auto fields = to_tsv(cluster);
  BOOST_TEST(fields.find("\t\\xc2\\x9b31m\\xe2\\x80\\xaex\\x7f\\xf3\\xa0\\x81\\x81 \u00e9\t") != std::string::npos,
             fields);
  for (const auto& line : {text, fields})
    for (const auto* raw : {"\u009b", "\u202e", "\x7f", "\U000E0041"})
      BOOST_TEST(line.find(raw) == std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(an_error_text_gives_no_orders_to_a_terminal) {
  BOOST_TEST(failure(exit_code::error, "no \u009b31m\u202e\x1b node\n\tat all").what() ==
             std::string("no \uFFFD31m\uFFFD\uFFFD node\n\tat all"));
}

BOOST_AUTO_TEST_CASE(table_for_people) {
  auto cluster = samples::cluster();
  BOOST_TEST(to_table(cluster) ==
             "QUORUM 2/3 leader 127.1.2.2:2181\n"
             "\n"
             "SERVER          ROLE      ZXID         CONN  LATENCY MS  OUTST  NODES  VERSION\n"
             "127.1.2.1:2181  follower  0x10000001f     4  0/0.417/12      0     42  3.8.0\n"
             "127.1.2.2:2181  leader    0x10000001f     1  0/0.417/12      0     42  3.8.0\n"
             "127.1.2.3:2181  down      Connection refused\n"
             "\n"
             "PATH               EPOCH  PHASE         LEADER    WAITING\n"
             "/other                 -  foreign_data  -         -\n"
             "  problem: its node holds data that zkrecipes did not write\n"
             "/billing/consumer      7  executing     worker-1  worker-2, worker-3\n"
             "/mail/sender          12  handing_over  sender-a  sender-b\n"
             "  hand-over: sender-a -> sender-b  finishing  1.2 s / 10 s\n");
  cluster.survey->found.clear();
  BOOST_TEST(to_table(cluster).ends_with("\nNo elections.\n"));
  cluster.survey.reset();
  BOOST_TEST(to_table(cluster).ends_with("\nElections: not known.\n"));
}

BOOST_AUTO_TEST_CASE(tsv_for_scripts) {
  auto cluster = samples::cluster();
  cluster.survey->found[2].path = "/a\tb\\c\x1b";
  BOOST_TEST(to_tsv(cluster) ==
             "server\t127.1.2.1:2181\tfollower\tyes\t0x10000001f\t4\t0\t0.4167\t12\t0\t42\t3.8.0\t\n"
             "server\t127.1.2.2:2181\tleader\tyes\t0x10000001f\t1\t0\t0.4167\t12\t0\t42\t3.8.0\t\n"
             "server\t127.1.2.3:2181\t\tno\t\t\t\t\t\t\t\t\tConnection refused\n"
             "elections\tcomplete\t3\n"
             "election\t/billing/consumer\t7\texecuting\tworker-1\t4294967321\tclean\t\t\t\t\t\t\t\n"
             "waiter\t/billing/consumer\t1\tworker-2\n"
             "waiter\t/billing/consumer\t2\tworker-3\n"
             "election\t/mail/sender\t12\thanding_over\tsender-a\t4294967400\tforced\tsender-a\tsender-b\tfinishing"
             "\t1200\t10000\t\t\n"
             "waiter\t/mail/sender\t1\tsender-b\n"
             "election\t/a\\tb\\\\c\\x1b\t\tforeign_data\t\t\t\t\t\t\t\t\t\tits node holds data that zkrecipes did "
             "not write\n");
}

BOOST_AUTO_TEST_SUITE_END()

// The output of `history`, and the options of `resign`.

namespace {

constexpr std::chrono::system_clock::time_point begin{1'700'000'000s};

election_status sample_terms() {
  election_status election;
  election.path = "/e";
  election.epoch = 8;
  election.phase = "executing";
  election.history = {{5, "a\x1b", std::nullopt, begin, "forced"},
                      {7, "b", begin + 10s, begin + 70s, "retired"},
                      {8, "c", begin + 70s, std::nullopt, ""}};
  return election;
}

std::string refused_by(std::vector<const char*> arguments) {
  try {
    require_consistent(parse_command_line(arguments, std::cout)->resignation);
  } catch (const failure& error) {
    BOOST_TEST((error.code() == exit_code::usage));
    return error.what();
  }
  return "not refused";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(history)

// The figures of its consumer are written into the record again and again.
BOOST_AUTO_TEST_CASE(a_leader_that_executes_is_as_old_as_its_term) {
  zkrecipes::election_view view;
  view.since = begin + 60s;
  view.phase = zkrecipes::term_phase::executing;
  BOOST_TEST((status_of(view).since == begin + 60s), "an older version has not told when the term began");
  view.began = begin;
  BOOST_TEST((status_of(view).since == begin));
  view.phase = zkrecipes::term_phase::handing_over;
  BOOST_TEST((status_of(view).since == begin + 60s));
}

BOOST_AUTO_TEST_CASE(a_table_with_the_present_term_last) {
  BOOST_TEST(formatted_history(sample_terms(), output_format::table, begin + 112s) ==
             "EPOCH  LEADER  BEGAN                    LASTED  ENDED\n"
             "    5  a\xef\xbf\xbd      -                             -  forced\n"
             "    7  b       2023-11-14 22:13:30 UTC  1m 00s  retired\n"
             "    8  c       2023-11-14 22:14:30 UTC    42 s  goes on: executing\n");
  BOOST_TEST(formatted_history({}, output_format::table, begin) == "no term is recorded\n");
}

BOOST_AUTO_TEST_CASE(for_programs) {
  const auto document = json::parse(formatted_history(sample_terms(), output_format::json, begin + 112s));
  BOOST_TEST(document.at("schema") == 1);
  BOOST_TEST(document.at("path") == "/e");
  BOOST_TEST(json::serialize(document.at("terms").at(1)) ==
             R"({"epoch":7,"leader":"b","began_ms":1700000010000,"ended_ms":1700000070000,"lasted_ms":60000,)"
             R"("outcome":"retired"})");
  BOOST_TEST(json::serialize(document.at("terms").at(2)) ==
             R"({"epoch":8,"leader":"c","began_ms":1700000070000,"ended_ms":null,"lasted_ms":42000,"outcome":null})");
  BOOST_TEST(document.at("terms").at(0).at("lasted_ms").is_null());
  BOOST_TEST(formatted_history(sample_terms(), output_format::tsv, begin + 112s)
                 .ends_with("term\t/e\t8\tc\t1700000070000\t\t42000\t\n"));
}

BOOST_AUTO_TEST_CASE(a_clock_that_is_behind_gives_no_negative_length) {
  const auto document = json::parse(formatted_history(sample_terms(), output_format::json, begin));
  BOOST_TEST(document.at("terms").at(2).at("lasted_ms") == 0);
}

BOOST_AUTO_TEST_CASE(options_of_resign_that_do_not_go_together) {
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force", "--grace", "1s", "--yes", "a", "-o", "ndjson"}) ==
             "not refused");
  BOOST_TEST(refused_by({"resign", "/e", "--for", "1s"}).ends_with("need --wait"));
  BOOST_TEST(refused_by({"resign", "/e", "-o", "ndjson"}).ends_with("need --wait"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force"}).ends_with("need each other"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--grace", "1s"}).ends_with("need each other"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--yes", "a"}).ends_with("needs --force"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--force", "--grace", "1m"}).ends_with("shorter than --for"));
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "--for", "soon"}).find("--for") != std::string::npos);
  BOOST_TEST(refused_by({"resign", "/e", "--wait", "-o", "tsv"}).find("expected table or ndjson") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

// The output of `topics`.

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
