// Sessions: what servers answer about them, of any kind, and how they are shown.
#include <random>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "report/session_report.hpp"
#include "session_samples.hpp"
#include "sessions/session_reader.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

constexpr std::int64_t first = 0x10000c840db0000, second = 0x10000c840db0001, third = 0x10000c840db0002;
constexpr auto negative = static_cast<std::int64_t>(0xa000000000000000u);

const session_status& session_with(const session_survey& all, std::int64_t id) {
  for (const auto& each : all.found)
    if (each.id == id) return each;
  throw std::runtime_error("no such session");
}

session_survey sample_survey() {
  server_answers by_admin{{"zk1:2181", session_source::admin_server},
                          parse_admin_connections(admin_connections_text),
                          parse_admin_dump(admin_dump_text),
                          "admin_server of zk1:2181"};
  return sessions_of({by_admin}, "/app");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sessions)

BOOST_AUTO_TEST_CASE(what_the_admin_server_tells) {
  const auto told = parse_admin_connections(admin_connections_text);
  BOOST_TEST((told.is_answer && told.trouble.empty()));
  BOOST_TEST_REQUIRE(told.sessions.size() == 2u, "a connection without a session is none");
  const auto& one = told.sessions[0];
  BOOST_TEST((one.id == first && one.client == "10.0.0.7:41884" && one.timeout == 8s));
  BOOST_TEST((one.outstanding == 2 && one.received == 7 && one.sent == 5 && one.last_latency == 1ms));
  BOOST_TEST(one.last_operation == "PING");
  BOOST_TEST((!told.sessions[1].timeout && !told.sessions[1].outstanding), "what is not told is not known");
  const auto owners = parse_admin_dump(admin_dump_text);
  BOOST_TEST((owners.is_answer && owners.trouble.empty()));
  BOOST_TEST((owners.sessions.size() == 3u && owners.sessions.contains(third)));
  BOOST_TEST((owners.nodes.at(first) == std::vector<std::string>{"/app/lock/a", "/other/b"}));
  BOOST_TEST(owners.nodes.at(negative).size() == 1u, "an id with its highest bit");
}

BOOST_AUTO_TEST_CASE(what_cons_and_dump_tell) {
  const auto told = parse_cons(cons_text);
  BOOST_TEST((told.is_answer && told.trouble.empty()), told.trouble);
  BOOST_TEST_REQUIRE(told.sessions.size() == 2u);
  const auto& one = told.sessions[0];
  BOOST_TEST((one.id == first && one.client == "10.0.0.7:41884" && one.timeout == 8s && one.outstanding == 2));
  BOOST_TEST((one.received == 8 && one.sent == 6 && one.last_latency == 0ms && one.last_operation == "PING"));
  BOOST_TEST(told.sessions[1].client == "[0:0:0:0:0:0:0:1]:50000");
  BOOST_TEST((parse_cons("\n").is_answer && parse_cons("\n").trouble.empty()), "nobody is connected");
  const auto owners = parse_dump(dump_text);
  BOOST_TEST((owners.is_answer && owners.trouble.empty()), owners.trouble);
  BOOST_TEST((owners.sessions.size() == 2u && owners.sessions.contains(second)));
  BOOST_TEST((owners.nodes.at(first) == std::vector<std::string>{"/app/lock/a", "/other/b"}));
  BOOST_TEST(owners.nodes.at(negative).size() == 1u);
  const auto followers = parse_dump(followers_dump_text);
  BOOST_TEST((followers.is_answer && followers.trouble.empty() && followers.nodes.empty()), followers.trouble);
  BOOST_TEST((followers.sessions.at(first) == 8s));
}

BOOST_AUTO_TEST_CASE(a_word_that_is_not_allowed_names_the_cure) {
  const auto told = parse_cons(not_allowed_text);
  BOOST_TEST(!told.is_answer);
  BOOST_TEST(told.trouble == "it does not allow cons; add to its zoo.cfg: 4lw.commands.whitelist=srvr,cons,dump");
  BOOST_TEST(parse_dump("dump is not executed because it is not in the whitelist.\n")
                 .trouble.starts_with("it does not allow dump; add to its zoo.cfg: 4lw.commands.whitelist="));
  BOOST_TEST(parse_cons("This ZooKeeper instance is not currently serving requests\n")
                 .trouble.starts_with("not serving requests"));
  BOOST_TEST((!parse_cons("").is_answer && !parse_cons("").trouble.empty()));
}

BOOST_AUTO_TEST_CASE(an_answer_that_is_cut_off_is_never_taken_for_a_whole_one) {
  for (std::size_t i = 0; i < cons_text.size(); ++i) BOOST_TEST(!parse_cons(cons_text.substr(0, i)).trouble.empty(), i);
  // The connections behind the nodes are not needed.
  const auto needed = dump_text.find("Connections dump:") + std::string("Connections dump:").size();
  for (std::size_t i = 0; i < needed; ++i) BOOST_TEST(!parse_dump(dump_text.substr(0, i)).trouble.empty(), i);
  for (std::size_t i = 0; i < admin_connections_text.size(); ++i)
    BOOST_TEST(!parse_admin_connections(admin_connections_text.substr(0, i)).trouble.empty(), i);
  for (std::size_t i = 0; i < admin_dump_text.size(); ++i)
    BOOST_TEST(!parse_admin_dump(admin_dump_text.substr(0, i)).trouble.empty(), i);
}

BOOST_AUTO_TEST_CASE(answers_with_bytes_that_were_changed) {
  std::mt19937 random(4711);
  const std::string* samples[] = {&cons_text, &dump_text, &admin_connections_text, &admin_dump_text};
  std::size_t read = 0;
  for (int i = 0; i < 20'000; ++i) {
    auto text = *samples[random() % std::size(samples)];
    for (auto changes = random() % 8 + 1; changes > 0; --changes)
      text[random() % text.size()] = static_cast<char>(random() % 256);
    if (random() % 4 == 0) text += *samples[random() % std::size(samples)];
    for (const auto& told : {parse_cons(text), parse_admin_connections(text)}) {
      BOOST_REQUIRE(told.is_answer || (told.sessions.empty() && !told.trouble.empty()));
      read += told.sessions.size();
    }
    for (const auto& told : {parse_dump(text), parse_admin_dump(text)})
      BOOST_REQUIRE(told.is_answer || !told.trouble.empty());
  }
  BOOST_TEST(read > 1000u, "what is whole is read all the same");
}

BOOST_AUTO_TEST_CASE(values_that_mean_nothing) {
  const std::string odd =
      R"({"connections":[{"session_id":5,"session_timeout":-1,"remote_socket_address":7,"outstanding_requests":"x"},)"
      R"({"session_id":"x"},7],"command":"connections","error":null})";
  const auto told = parse_admin_connections(odd);
  BOOST_TEST_REQUIRE(told.sessions.size() == 1u);
  BOOST_TEST((!told.sessions[0].timeout && !told.sessions[0].outstanding && told.sessions[0].client.empty()));
  BOOST_TEST(told.trouble == "some of its connections can not be understood");
  BOOST_TEST(parse_admin_connections(R"({"command":"connections","error":"no quorum"})").trouble ==
             "it says: no quorum");
  BOOST_TEST(!parse_admin_connections(R"({"command":"stats","connections":[]})").is_answer);
  BOOST_TEST(!parse_admin_dump(R"({"command":"dump","error":null})").is_answer);
  BOOST_TEST(!parse_admin_connections(std::string(100'000, '[')).is_answer);
}

// Versions and proxies may add fields.
BOOST_AUTO_TEST_CASE(secrets_in_an_answer_go_nowhere) {
  const std::string cons =
      " /10.0.0.7:41884[1](queued=0,recved=8,sent=8,sid=0x1,auth=digest:user:secret,lop=PING,to=8000)\n\n";
  const std::string admin = R"({"connections":[{"session_id":1,"auth":["digest:user:secret"],"auth_info":"secret"}],)"
                            R"("secure_connections":[],"command":"connections","error":null})";
  for (const auto& told : {parse_cons(cons), parse_admin_connections(admin)}) {
    const auto all = sessions_of({{{"zk1:2181"}, told}}, "");
    BOOST_TEST_REQUIRE(all.found.size() == 1u);
    for (const auto& text : {to_table(all, 0ms), to_json(all, true, 0ms), to_tsv(all, true, 0ms), to_details(all, 0ms)})
      BOOST_TEST(text.find("secret") == std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(sessions_of_several_servers) {
  const auto all = sample_survey();
  BOOST_TEST(all.complete);
  BOOST_TEST(all.found.size() == 4u);
  BOOST_TEST((all.servers == std::vector<asked_server>{{"zk1:2181", session_source::admin_server, 2u, ""}}));
  const auto& one = session_with(all, first);
  BOOST_TEST((one.server == "zk1:2181" && one.idle == 0ms && one.outside == 1u));
  BOOST_TEST_REQUIRE(one.nodes.has_value());
  BOOST_TEST((*one.nodes == std::vector<owned_node>{{"/lock/a"}}), "below the root of the hosts");
  BOOST_TEST((session_with(all, second).idle == 3s && session_with(all, second).nodes->empty()));
  BOOST_TEST(session_with(all, third).server.empty(), "alive, and connected to none of these");
  BOOST_TEST((all.found.back().id == negative));
  // A session that has moved counts where it came to last.
  auto earlier = parse_cons(cons_text), later = earlier;
  later.sessions[0].established = *later.sessions[0].established + 1s;
  for (const bool is_first : {true, false}) {
    std::vector<server_answers> told{{{"zk1:2181"}, earlier}, {{"zk2:2181"}, later}};
    if (is_first) std::swap(told[0], told[1]);
    BOOST_TEST(session_with(sessions_of(told, ""), first).server == "zk2:2181");
  }
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_told) {
  auto silent = server_answers{{"zk2:2181", session_source::tree, {}, "cons: it does not allow cons"}};
  auto all = sessions_of({{{"zk1:2181", session_source::four_letter}, parse_cons(cons_text)}, silent}, "");
  BOOST_TEST(!all.complete);
  BOOST_TEST_REQUIRE(all.notes.size() == 1u);
  BOOST_TEST(to_string(all.notes[0]) ==
             "zk2:2181: its sessions are known only by their nodes: cons: it does not allow cons");
  BOOST_TEST(!all.servers[1].sessions.has_value(), "not 0");
  BOOST_TEST(!session_with(all, first).nodes.has_value(), "not none");
  const auto document = json::parse(to_json(all, true, 0ms));
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("servers").at(1).at("sessions").is_null());
  BOOST_TEST(document.at("sessions").at(0).at("ephemeral_nodes").is_null());
  BOOST_TEST(document.at("sessions").at(0).at("nodes").is_null());

  // Owners of nodes are found in the tree.
  node_listing seen;
  seen.nodes = {{"/a", 1, zkrecipes::node_stat{}}, {"/b", 1, zkrecipes::node_stat{}}};
  seen.nodes[0].stat->ephemeral_owner = first;
  add_owners(all, seen);
  BOOST_TEST(all.nodes_told_by == "tree");
  BOOST_TEST((*session_with(all, first).nodes == std::vector<owned_node>{{"/a"}}));
  BOOST_TEST(session_with(all, second).nodes->empty());
  seen.complete = false;
  auto less = sessions_of({{{"zk1:2181"}, parse_cons(cons_text)}}, "");
  add_owners(less, seen);
  BOOST_TEST((!less.complete && !session_with(less, second).nodes), "a walk that was cut off");

  const auto cut = parse_cons(cons_text.substr(0, cons_text.size() - 60));
  const auto partly = sessions_of({{{"zk1:2181", session_source::four_letter}, cut}}, "");
  BOOST_TEST((!partly.complete && !partly.servers[0].sessions));
  BOOST_TEST(
      to_json(std::nullopt, false, 0ms) ==
      "{\"schema\":1,\"complete\":false,\"servers\":null,\"nodes_told_by\":null,\"sessions\":null,\"notes\":[]}\n");
  BOOST_TEST(to_table(std::nullopt, 0ms).starts_with("Sessions: not known."));
  BOOST_TEST(to_tsv(std::nullopt, false, 0ms) == "sessions\tunknown\t\n");
}

BOOST_AUTO_TEST_CASE(how_they_are_shown) {
  auto all = sample_survey();
  std::erase_if(all.found, [](const auto& each) { return each.id != first; });
  auto& nodes = *all.found[0].nodes;
  nodes[0] = {"/lock/a", "lock", "/lock", "holder"};
  const auto now = std::chrono::milliseconds(1795714004295) + 65s;
  BOOST_TEST(to_table(all, now) ==
             "SERVER    SOURCE        SESSIONS  WHY\n"
             "zk1:2181  admin_server         2  -\n\n"
             "SESSION            CLIENT          SERVER    TIMEOUT     FOR  WAITING  LAST  IDLE  NODES\n"
             "0x10000c840db0000  10.0.0.7:41884  zk1:2181    8.0 s  1m 05s        2  PING  0 ms      2\n");
  BOOST_TEST(
      to_details(all, now) ==
      "0x10000c840db0000: 10.0.0.7:41884 at zk1:2181\n"
      "timeout 8.0 s, connected for 1m 05s, requests waiting: 2, packets received: 7, packets sent: 5, last: PING, "
      "its latency 1 ms, idle for at least 0 ms\n"
      "ephemeral nodes outside of the root of the hosts: 1\n\n"
      "NODE     KIND  ROLE    RECIPE\n"
      "/lock/a  lock  holder  /lock\n");
  BOOST_TEST(to_json(all, true, now) ==
             R"({"schema":1,"complete":true,"servers":[{"server":"zk1:2181","source":"admin_server","sessions":2,)"
             R"("why":null}],"nodes_told_by":"admin_server of zk1:2181","sessions":[{"id":"0x10000c840db0000",)"
             R"("client":"10.0.0.7:41884","server":"zk1:2181","timeout_ms":8000,"connected_ms":65000,"outstanding":2,)"
             R"("received":7,"sent":5,"last_operation":"PING","last_latency_ms":1,"idle_ms":0,"ephemeral_nodes":2,)"
             R"("nodes":[{"path":"/lock/a","kind":"lock","recipe":"/lock","role":"holder"}]}],"notes":[]})"
             "\n");
  BOOST_TEST(to_tsv(all, true, now) ==
             "sessions\tcomplete\t1\tadmin_server of zk1:2181\n"
             "server\tzk1:2181\tadmin_server\t2\t\n"
             "session\t0x10000c840db0000\t10.0.0.7:41884\tzk1:2181\t8000\t65000\t2\t7\t5\tPING\t1\t0\t2\n"
             "node\t0x10000c840db0000\t/lock/a\tlock\t/lock\tholder\n");
}

BOOST_AUTO_TEST_CASE(the_part_that_a_node_gives) {
  recipe_status lock;
  lock.path = "/lock";
  lock.participants = {{"holder", "a", "n1", 0, first}, {"waiter", "b", "n2", 1, second}};
  BOOST_TEST(role_of(lock, first, "n1") == "holder");
  BOOST_TEST(role_of(lock, first, "n2") == "", "that of another session");
  BOOST_TEST(role_of(lock, second, "n2") == "waiter");
  recipe_status node;
  node.path = "/config/node";
  node.session = first;
  BOOST_TEST(role_of(node, first, "node") == "owner");
  BOOST_TEST(role_of(node, second, "node") == "");
}

BOOST_AUTO_TEST_CASE(an_admin_server_is_that_of_the_server_that_was_asked) {
  const std::string admin =
      R"({"client_port":2181,"data_dir":"/a=b/version-2","command":"configuration","error":null})";
  const std::string conf = "clientPort=2181\nsecureClientPort=2281\ndataDir=/a=b/version-2\n";
  const auto told = parse_conf(conf);
  BOOST_TEST(told.trouble == "");
  BOOST_TEST(told.client_port == 2181);
  BOOST_TEST(told.data_dir == "/a=b/version-2");
  BOOST_TEST(doubts_about_admin(admin, told) == "");
  BOOST_TEST(doubts_about_admin(admin, {{}, 2181}) == "");
  BOOST_TEST(doubts_about_admin(admin, {{}, 2281}) == "it is that of the server with the client port 2181");
  BOOST_TEST(doubts_about_admin(admin, {{}, 2181, "/b"}) == "it is that of a server with another data directory");
  for (std::size_t i = 0; i + 1 < conf.find("dataDir=") + 9; ++i)
    BOOST_TEST(!parse_conf(std::string_view(conf).substr(0, i)).trouble.empty(), i);
  BOOST_TEST(parse_conf("conf is not executed because it is not in the whitelist.\n").trouble ==
             "it does not allow conf; add to its zoo.cfg: 4lw.commands.whitelist=srvr,conf,cons,dump");
}

BOOST_AUTO_TEST_SUITE_END()
