// `zkadmin sessions` against real servers, from each of its sources.
#include <optional>
#include <set>

#include <boost/json/parse.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/consumer/shard_group.hpp>
#include <zkrecipes/lock.hpp>
#include <zkrecipes/membership.hpp>
#include <zkrecipes/queue.hpp>

#include <testcluster/ensemble.hpp>

#include "base/text.hpp"
#include "live/admin_fixture.hpp"
#include "sessions/session_end.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

namespace {

/// The session in a document of `zkadmin sessions -o json`; nothing: it is not listed.
std::optional<json::object> session_in(const json::value& document, const std::string& id) {
  for (const auto& each : document.at("sessions").as_array())
    if (each.at("id").as_string() == id) return each.as_object();
  return std::nullopt;
}

/// "/e1 membership ..., role".
std::string part_at(const json::object& one, const std::string& path) {
  for (const auto& each : one.at("nodes").as_array())
    if (each.at("path").as_string() == path && !each.at("role").is_null())
      return std::string(each.at("kind").as_string()) + " " + std::string(each.at("role").as_string());
  return "unknown";
}

/// An ensemble of one server, and a session with an ephemeral node there.
struct lone_server {
  explicit lone_server(recipe_fixture& test, testcluster::ensemble_options how)
      : one(std::move(how)), hosts(one.nodes().at(0).address) {
    session_options with;
    with.hosts = hosts;
    over.emplace(test.executor(), with);
    const auto made = test.run(over->async_create("/node", "x", create_mode::ephemeral, open_acl(), tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }
  testcluster::ensemble one;
  std::string hosts;
  std::optional<session> over;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(sessions_suite, recipe_fixture)

BOOST_AUTO_TEST_CASE(sessions_by_four_letter_words_with_their_parts) {
  lock first(zk(), "/lock", {.id = "first"}), second(zk(), "/lock", {.id = "second"});
  const auto held = run(first.async_acquire(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  recorder<ownership> waiting(executor());
  second.async_acquire(waiting.token());
  removes("/lock");
  queue jobs(zk(), "/jobs");
  removes("/jobs");
  BOOST_TEST(!std::get<0>(run(jobs.async_put("x", tuple))));
  BOOST_TEST_REQUIRE(!std::get<0>(run(jobs.async_take(tuple))));
  membership group(zk(), "/group");
  removes("/group");
  auto joined = run(group.async_join("a", "10.0.0.1", tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(joined));
  BOOST_TEST_REQUIRE(run_until([&] { return children("/lock").size() == 2; }));

  const auto id = session_text(zk());
  const auto listed = zkadmin({"sessions", "-o", "json", "--admin-port", "0"});
  BOOST_TEST(listed.code == 0, listed.err);
  const auto document = json::parse(listed.out);
  BOOST_TEST(document.at("complete").as_bool());
  for (const auto& each : document.at("servers").as_array()) BOOST_TEST(each.at("source") == "four_letter");
  BOOST_TEST(document.at("nodes_told_by").as_string().starts_with("dump of "));
  const auto seen = session_in(document, id);
  BOOST_TEST_REQUIRE(seen.has_value());
  BOOST_TEST(seen->at("client").as_string().starts_with("127."));
  BOOST_TEST(seen->at("timeout_ms").as_int64() > 0);
  BOOST_TEST(seen->at("ephemeral_nodes").as_int64() == 4);

  const auto alone = zkadmin({"sessions", id, "-o", "json", "--admin-port", "0"});
  BOOST_TEST(alone.code == 0, alone.err);
  const auto one = session_in(json::parse(alone.out), id);
  BOOST_TEST_REQUIRE(one.has_value());
  std::multiset<std::string> parts;
  for (const auto& each : one->at("nodes").as_array())
    parts.insert(part_at(*one, std::string(each.at("path").as_string())));
  const std::multiset<std::string> expected{"lock holder", "lock waiter", "membership or persistent node member",
                                            "queue claim"};
  BOOST_TEST((parts == expected), alone.out);
  const auto table = zkadmin({"sessions", id, "--admin-port", "0"});
  BOOST_TEST(table.out.starts_with(id + ": 127."), table.out);
  BOOST_TEST(zkadmin({"sessions", "0x7", "--admin-port", "0"}).err == "zkadmin: there is no session 0x7\n");
  BOOST_TEST(zkadmin({"sessions", "0x7", "--admin-port", "0"}).code == 4);
  BOOST_TEST(zkadmin({"sessions", "x"}).code == 2);
  waiting.cancel();
  BOOST_TEST(run_until([&] { return waiting.done(); }));
  BOOST_TEST(!std::get<0>(run(std::get<1>(joined).async_leave(tuple))));
}

BOOST_AUTO_TEST_CASE(a_server_that_is_down_is_no_server_without_sessions) {
  zk();
  outage one({cluster().leader() == 1 ? 2 : 1});
  const auto listed = zkadmin({"sessions", "-o", "json", "--admin-port", "0"});
  BOOST_TEST(listed.code == 1);
  const auto document = json::parse(listed.out);
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("notes").as_array().size() == 1u);
  BOOST_TEST(
      listed.err.find("its sessions are known only by their nodes: cons: Connection refused") != std::string::npos,
      listed.err);
}

BOOST_AUTO_TEST_CASE(an_election_and_a_prefix_of_the_hosts) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const auto id = session_text(zk());
  const auto listed = run_zkadmin(io(), {"sessions", "-o", "json", "--admin-port", "0"},
                                  {{"ZKADMIN_HOSTS", hosts + root() + "/e"}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(listed.code == 0, listed.err);
  bool is_seen = false;
  const auto document = json::parse(listed.out);
  for (const auto& each : document.at("sessions").as_array())
    is_seen |= !each.at("ephemeral_nodes").is_null() && each.at("ephemeral_nodes").as_int64() > 0;
  BOOST_TEST(is_seen);
  const std::string leader(recipe_at("/e").at("session").as_string());
  const auto below = run_zkadmin(io(), {"sessions", leader, "-o", "tsv", "--admin-port", "0"},
                                 {{"ZKADMIN_HOSTS", hosts + root()}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(below.out.find("\telection\t/e\tleader\n") != std::string::npos, below.out);
}

BOOST_AUTO_TEST_CASE(by_the_admin_server) {
  lone_server there(*this, {.servers = 1, .admin_server = true, .base_port = 22810});
  const auto admin = there.one.nodes().at(0).admin;
  const auto port = admin.substr(admin.rfind(':') + 1);
  const auto listed = zkadmin({"sessions", "-o", "json", "--admin-port", port},
                              {{"ZKADMIN_HOSTS", there.hosts}, {"ZKADMIN_ROOT", "/"}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(listed.code == 0, listed.err);
  const auto document = json::parse(listed.out);
  // The first answer of a server's HTTP takes some seconds on a busy machine.
  BOOST_TEST_REQUIRE(document.at("servers").at(0).at("source") == "admin_server", listed.out);
  BOOST_TEST(document.at("servers").at(0).at("sessions").as_int64() >= 1);
  const auto seen = session_in(document, session_text(*there.over));
  BOOST_TEST_REQUIRE(seen.has_value());
  BOOST_TEST(seen->at("ephemeral_nodes").as_int64() == 1);
  BOOST_TEST(seen->at("timeout_ms").as_int64() > 0);
  BOOST_TEST(seen->at("server").as_string() == there.hosts);
  run(there.over->async_close(tuple));
}

BOOST_AUTO_TEST_CASE(by_the_admin_server_over_tls) {
  for (const bool tells_who_it_is : {true, false}) {
    const std::vector<std::string> words{tells_who_it_is ? "conf" : "srvr"};
    testcluster::ensemble one({.servers = 1,
                               .four_letter_words = words,
                               .admin_server = true,
                               .tls = true,
                               .base_port = 22810,
                               .start_timeout = 120s});
    const auto admin = one.nodes().at(0).admin;
    const auto& own = one.client_certificate();
    const auto listed = zkadmin({"sessions", "-o", "json", "--admin-port", admin.substr(admin.rfind(':') + 1)},
                                {{"ZKADMIN_HOSTS", one.hosts()},
                                 {"ZKADMIN_ROOT", "/"},
                                 {"ZKADMIN_TIMEOUT", "20s"},
                                 {"ZKADMIN_TLS_AUTHORITIES", one.authority().certificate()},
                                 {"ZKADMIN_TLS_CERTIFICATE", own.certificate},
                                 {"ZKADMIN_TLS_KEY", own.key}});
    const auto document = json::parse(listed.out);
    const auto& server = document.at("servers").at(0);
    BOOST_TEST(server.at("source") == (tells_who_it_is ? "admin_server" : "tree"), listed.out);
    if (tells_who_it_is) {
      BOOST_TEST(listed.code == 0, listed.err);
      BOOST_TEST(server.at("sessions").as_int64() >= 1);  // that of zkadmin
      BOOST_TEST(document.at("sessions").at(0).at("server").as_string() == one.hosts());
    } else {
      BOOST_TEST(server.at("why").as_string().find(
                     "conf: it does not allow conf; add to its zoo.cfg: 4lw.commands.whitelist=srvr,conf") !=
                     std::string::npos,
                 listed.out);
    }
  }
}

BOOST_AUTO_TEST_CASE(by_the_owners_of_nodes) {
  lone_server there(*this, {.servers = 1, .four_letter_words = {"srvr"}, .base_port = 22810});
  const auto listed =
      zkadmin({"sessions", "-o", "json", "--admin-port", "0"}, {{"ZKADMIN_HOSTS", there.hosts}, {"ZKADMIN_ROOT", "/"}});
  BOOST_TEST(listed.code == 1, "there may be others");
  const auto document = json::parse(listed.out);
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("servers").at(0).at("source") == "tree");
  BOOST_TEST(document.at("servers").at(0).at("sessions").is_null());
  BOOST_TEST(document.at("nodes_told_by") == "tree");
  BOOST_TEST(listed.err.find("add to its zoo.cfg: 4lw.commands.whitelist=srvr,cons,dump") != std::string::npos,
             listed.err);
  const auto seen = session_in(document, session_text(*there.over));
  BOOST_TEST_REQUIRE(seen.has_value());
  BOOST_TEST((seen->at("ephemeral_nodes").as_int64() == 1 && seen->at("timeout_ms").is_null()));
  BOOST_TEST((seen->at("server").is_null() && seen->at("client").is_null()));
  run(there.over->async_close(tuple));
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin expire` against real servers.

namespace {

std::string shown(std::int64_t session) { return zkadmin::hexadecimal(static_cast<std::uint64_t>(session)); }

struct expire_fixture : admin_fixture {
  std::int64_t leader_session() { return get("/e/" + children("/e").at(0)).stat.ephemeral_owner; }
  program_result expire(std::int64_t session, std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"expire", shown(session), "--because", "the machine is fenced"});
    return zkadmin(std::move(more));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(expire_suite, expire_fixture)

BOOST_AUTO_TEST_CASE(without_rw_nothing_is_sent) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const auto session = leader_session();
  const auto before = get("/e").data;
  const auto result = expire(session);
  BOOST_TEST(result.code == 1);
  const auto node = children("/e").at(0);
  BOOST_TEST(result.out.starts_with("# session " + shown(session) + " is connected: "), result.out);
  BOOST_TEST(result.out.substr(result.out.find('\n') + 1) ==
             "set " + root() + "/e phase=died, if it names " + node + "\nclose session " + shown(session) + "\n");
  BOOST_TEST(result.err.starts_with("zkadmin: nothing was sent"));
  BOOST_TEST(get("/e").data == before);
  BOOST_TEST(leader_session() == session);
  BOOST_TEST(fails(expire(session, {"--rw"}), 1,
                   "nothing was sent; without a terminal to ask at, confirm with --yes " + shown(session)));
  BOOST_TEST(fails(expire(session, {"--rw", "--yes", "0x1"}), 2, "--yes names 0x1, not " + shown(session)));
  BOOST_TEST(leader_session() == session);
}

BOOST_AUTO_TEST_CASE(the_leader_is_followed_by_one_that_takes_it_for_dead) {
  const auto far = connect_far();
  join("/e", "a", far);
  leaves("/e");
  election("/e", is_executing);
  const auto session = leader_session();
  join("/e", "b");
  disconnect(far);  // it is fenced: a process that can reach a server takes its session back
  const auto result = expire(session, {"--rw", "--yes", shown(session)});  // its server may not have noticed
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(
      result.out.find("because: the machine is fenced; 1 terms have died, 0 were left alone") != std::string::npos,
      result.out);
  const auto next = election("/e", [](const auto& each) { return each.at("epoch") == 2 && is_executing(each); });
  BOOST_TEST(next.at("takeover") == "died");
  reconnect();
  BOOST_TEST(fails(expire(session, {"--rw"}), 1, "is over already, or was never there: nothing was written"));
}

BOOST_AUTO_TEST_CASE(the_password_is_the_one_of_the_servers) {
  const auto password = zkadmin::password_of(0x300002b42690002);  // a session of ZooKeeper 3.8, and what it was given
  BOOST_TEST(password == "\x97\x36\xc8\xd9\xc6\xd0\xcb\x80\x79\xf4\x1d\x41\x18\x45\x62\xce");
}

BOOST_AUTO_TEST_CASE(mistakes_are_told) {
  for (const auto* each : {"", "0", "x", "0x", "12g", "0x11223344556677889"}) {
    const auto result = zkadmin({"expire", each, "--because", "x"});
    BOOST_TEST(result.code == 2, each);
    BOOST_TEST(result.err.find("session id in hex") != std::string::npos, result.err);
  }
  BOOST_TEST(zkadmin({"expire", "0x1"}).code == 2);
  BOOST_TEST(zkadmin({"expire", "0x1", "--because", ""}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
