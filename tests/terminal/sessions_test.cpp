// Sessions: what servers answer about them, of any kind, and how they are shown.
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "base/tasks.hpp"
#include "fake_server.hpp"
#include "report/session_report.hpp"
#include "sessions/session_reader.hpp"

// Answers of ZooKeeper 3.8.0 about its sessions.

/// To /commands/configuration.
inline std::string admin_configuration_text(std::uint16_t client_port) {
  return R"({"client_port":)" + std::to_string(client_port) +
         R"(,"data_dir":"/x","tick_time":2000,"command":"configuration","error":null})";
}

/// To /commands/connections.
inline const std::string admin_connections_text = R"({
  "connections" : [ {
    "remote_socket_address" : "10.0.0.7:41884",
    "interest_ops" : 1,
    "outstanding_requests" : 2,
    "packets_received" : 7,
    "packets_sent" : 5,
    "session_id" : 72058454119481344,
    "last_operation" : "PING",
    "established" : 1795714004295,
    "session_timeout" : 8000,
    "last_cxid" : 3,
    "last_zxid" : 3,
    "last_response_time" : 13140783,
    "last_latency" : 1,
    "min_latency" : 0,
    "avg_latency" : 2,
    "max_latency" : 8
  }, {
    "remote_socket_address" : "10.0.0.8:50000",
    "session_id" : 72058454119481345,
    "last_response_time" : 13137783
  }, {
    "remote_socket_address" : "10.0.0.9:50001",
    "interest_ops" : 0,
    "outstanding_requests" : 0
  } ],
  "secure_connections" : [ ],
  "command" : "connections",
  "error" : null
})";

/// To /commands/dump, of a leader.
inline const std::string admin_dump_text = R"({
  "expiry_time_to_session_ids" : {
    "13147000" : [ ],
    "13149000" : [ 72058454119481344, 72058454119481345, 72058454119481346 ]
  },
  "session_id_to_ephemeral_paths" : {
    "72058454119481344" : [ "/app/lock/a", "/other/b" ],
    "-6917529027641081856" : [ "/app/e" ]
  },
  "command" : "dump",
  "error" : null
})";

inline const std::string cons_text =
    " /10.0.0.7:41884[1](queued=2,recved=8,sent=6,sid=0x10000c840db0000,lop=PING,est=1795714004295,to=8000,lcxid=0x3,"
    "lzxid=0x3,lresp=13141785,llat=0,minlat=0,avglat=2,maxlat=8)\n"
    " /[0:0:0:0:0:0:0:1]:50000[1](queued=0,recved=1,sent=1,sid=0x10000c840db0001,lop=CREA,est=1795714004295,to=4000,"
    "lcxid=0x3,lzxid=0x3,lresp=13140785,llat=3,minlat=0,avglat=2,maxlat=8)\n"
    " /10.0.0.9:51318[0](queued=0,recved=1,sent=0)\n\n";

/// A leader's.
inline const std::string dump_text =
    "SessionTracker dump:\nSession Sets (4)/(1):\n0 expire at Thu Nov 26 17:26:52 UTC 2026:\n"
    "2 expire at Thu Nov 26 17:26:55 UTC 2026:\n\t0x10000c840db0000\n\t0x10000c840db0001\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (2):\n0x10000c840db0000:\n\t/app/lock/a\n\t/other/b\n0xa000000000000000:\n\t/app/e\n"
    "Connections dump:\nConnections Sets (2)/(2):\n1 expire at Thu Nov 26 17:26:55 UTC 2026:\n"
    "\tip: /127.0.0.1:41884 sessionId: 0x10000c840db0000\n";

/// That of a server that does not lead.
inline const std::string followers_dump_text =
    "SessionTracker dump:\nGlobal Sessions(1):\n0x10000c840db0000\t8000ms\nephemeral nodes dump:\n"
    "Sessions with Ephemerals (0):\nConnections dump:\nConnections Sets (0)/(0):\n";

inline const std::string not_allowed_text = "cons is not executed because it is not in the whitelist.\n";

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;
namespace asio = boost::asio;

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

// Sessions as servers of all kinds tell them, over real connections.

namespace {

/// A server that answers each four-letter word, and each path of HTTP, with one text; others by closing.
using answers = std::map<std::string, std::string>;

std::string http_ok(const std::string& body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// "cons" or "/commands/dump".
std::string subject_of(const std::string& request) {
  if (!request.starts_with("GET ")) return request;
  return request.substr(4, request.find(' ', 4) - 4);
}

asio::awaitable<void> converse_with_client(asio::ip::tcp::socket socket, answers all) {
  std::array<char, 4096> buffer{};
  auto read = co_await socket.async_read_some(asio::buffer(buffer), as_result);
  if (std::get<0>(read)) co_return;
  const auto found = all.find(subject_of(std::string(buffer.data(), std::get<1>(read))));
  if (found == all.end()) co_return;
  co_await asio::async_write(socket, asio::buffer(found->second), as_result);
}

conversation answering_each(answers all) {
  return [all](asio::ip::tcp::socket socket) { return converse_with_client(std::move(socket), all); };
}

server_answers ask_it(asio::io_context& io, const endpoint& server, std::uint16_t admin_port,
                      std::chrono::milliseconds limit = 20s) {
  server_answers told;
  bool is_over = false;
  asio::co_spawn(io, ask_about_sessions(server, admin_port, nullptr, std::chrono::steady_clock::now() + limit),
                 [&](std::exception_ptr error, server_answers result) {
                   if (error) std::rethrow_exception(error);
                   told = std::move(result);
                   is_over = true;
                 });
  while (!is_over) io.run_one();
  return told;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(session_reading)

BOOST_AUTO_TEST_CASE(the_admin_server_comes_first) {
  asio::io_context io;
  fake_server server(io, answering_each({{"cons", cons_text}, {"dump", dump_text}}));
  const auto admin_of = [](std::uint16_t port) {
    return answering_each({{"/commands/configuration", http_ok(admin_configuration_text(port))},
                           {"/commands/connections", http_ok(admin_connections_text)},
                           {"/commands/dump", http_ok(admin_dump_text)}});
  };
  fake_server admin(io, admin_of(server.where().port)), others(io, admin_of(1));
  const auto told = ask_it(io, server.where(), admin.where().port);
  BOOST_TEST((told.asked.source == session_source::admin_server && told.asked.why.empty()), told.asked.why);
  BOOST_TEST((told.connections.sessions.size() == 2u && told.owners.sessions.size() == 3u));
  BOOST_TEST(told.owners_told_by == "admin_server of " + server.where().name);
  const auto without = ask_it(io, server.where(), 0);
  BOOST_TEST((without.asked.source == session_source::four_letter && without.asked.why.empty()));
  BOOST_TEST(without.owners_told_by == "dump of " + server.where().name);
  const auto wrong = ask_it(io, server.where(), others.where().port);
  BOOST_TEST((wrong.asked.source == session_source::four_letter));
  BOOST_TEST(wrong.asked.why.ends_with("it is that of the server with the client port 1"), wrong.asked.why);
}

BOOST_AUTO_TEST_CASE(an_admin_server_that_is_something_else) {
  const auto ask_with = [](conversation talk, std::chrono::milliseconds limit = 20s) {
    asio::io_context io;
    fake_server admin(io, std::move(talk)), server(io, answering_each({{"cons", cons_text}, {"dump", dump_text}}));
    auto told = ask_it(io, server.where(), admin.where().port, limit);
    BOOST_TEST((told.asked.source == session_source::four_letter), told.asked.why);
    BOOST_TEST(told.connections.sessions.size() == 2u);
    BOOST_TEST(told.owners.is_answer);
    BOOST_TEST(told.asked.why.starts_with("AdminServer at 127.0.0.1:"), told.asked.why);
    return told.asked.why;
  };
  const auto answering = [](std::string text) {
    return answering_each({{"/commands/configuration", std::move(text)}});
  };
  BOOST_TEST(ask_with(answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")).ends_with("the status 404"));
  BOOST_TEST(ask_with(answering(http_ok("hello"))).ends_with("is not that of an AdminServer, or is cut off"));
  BOOST_TEST(!ask_with(answering("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"conn")).empty());
  BOOST_TEST(!ask_with(answering("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n{\"conn")).empty());
  BOOST_TEST(!ask_with(fake_server::endless()).empty());
  BOOST_TEST(!ask_with(fake_server::closing()).empty());
  BOOST_TEST(ask_with(fake_server::silent(), 2s).ends_with("no answer in time"));
  const std::string head = "HTTP/1.1 200 OK\r\n";
  for (const auto& text : {head + "Server: ", head + "Content-Length: 1000000\r\n\r\n{\"conn",
                           head + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1;"})
    BOOST_TEST_CONTEXT(text) {
      const auto why = ask_with(fake_server::dripping(text), 2s);
      BOOST_TEST(why.ends_with("no answer in time"), why);
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_tells_nothing) {
  asio::io_context io;
  fake_server server(io, answering_each({{"cons", not_allowed_text}, {"dump", not_allowed_text}}));
  const auto told = ask_it(io, server.where(), 0);
  BOOST_TEST((told.asked.source == session_source::tree && !told.connections.is_answer && !told.owners.is_answer));
  BOOST_TEST(told.asked.why ==
             "cons: it does not allow cons; add to its zoo.cfg: 4lw.commands.whitelist=srvr,cons,dump");
  fake_server silent(io, fake_server::silent());
  BOOST_TEST(ask_it(io, silent.where(), 0, 300ms).asked.why == "cons: no answer in time");
  fake_server slow(io, fake_server::dripping(cons_text));
  BOOST_TEST(ask_it(io, slow.where(), 0, 300ms).asked.why == "cons: no answer in time");
  fake_server endless(io, fake_server::endless());
  BOOST_TEST(ask_it(io, endless.where(), 0).asked.why == "cons: its answer is too long");
}

BOOST_AUTO_TEST_SUITE_END()
