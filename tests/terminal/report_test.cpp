// The output of `status`.
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "report/status_report.hpp"
#include "samples.hpp"

using namespace zkadmin;
namespace json = boost::json;

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
  cluster.survey->elections = samples::troubles();
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").as_array().at(1).at("resignation_asked_ms").as_int64() == 9000);
  BOOST_TEST(to_tsv(cluster).find("\t9000\t\nwaiter\t/parcels/consumer\t1") != std::string::npos);
  BOOST_TEST(to_table(cluster).find("  resignation: worker-1 was asked 9.0 s ago\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(an_office_without_anybody_in_line_is_a_problem_in_every_format) {
  cluster_status cluster{samples::servers(), election_survey{}};
  cluster.survey->elections = samples::elections();
  cluster.survey->elections.push_back(samples::troubles()[0]);
  const auto problem = "in office by its record, but nobody is in line";
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
  cluster.survey->elections[0].leader->id = "\xff\x1b\"\\\n";
  const auto document = parsed(cluster);
  BOOST_TEST(document.at("elections").as_array().at(0).at("leader").at("id").as_string() == "\uFFFD\x1b\"\\\n");
}

// A terminal may show the output of any format.
BOOST_AUTO_TEST_CASE(what_orders_a_terminal_about_is_written_as_its_code) {
  const std::string id = "\u009b31m\u202ex\x7f\U000E0041 \u00e9";
  auto cluster = samples::cluster();
  cluster.survey->elections[0].leader->id = id;
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
             "/billing/consumer      7  executing     worker-1  worker-2, worker-3\n"
             "/mail/sender          12  handing_over  sender-a  sender-b\n"
             "  hand-over: sender-a -> sender-b  finishing  1.2 s / 10 s\n");
  cluster.survey->elections.clear();
  BOOST_TEST(to_table(cluster).ends_with("\nNo elections.\n"));
  cluster.survey.reset();
  BOOST_TEST(to_table(cluster).ends_with("\nElections: not known.\n"));
}

BOOST_AUTO_TEST_CASE(tsv_for_scripts) {
  auto cluster = samples::cluster();
  cluster.survey->elections[2].path = "/a\tb\\c\x1b";
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
