// `zkadmin status` and `zkadmin history` against real servers, and against one that is slow.
#include <array>
#include <chrono>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "fake_server.hpp"
#include "live/admin_fixture.hpp"
#include "live/running_program.hpp"

using namespace std::chrono_literals;
using namespace zkrecipes::test;
using namespace zkrecipes;
namespace asio = boost::asio;
namespace json = boost::json;

// zkadmin at a server that sends byte by byte, without end: to a session, and to a four-letter word.

namespace {

constexpr auto outcome = asio::as_tuple(asio::use_awaitable);

/// A session's acceptance, with a timeout of ten seconds, and without its password.
const std::string most_of_acceptance("\0\0\0\x25\0\0\0\0\0\0\x27\x10\0\0\0\0\0\0\0\x77\0\0\0\x10", 24);
/// The whole, and the length of an answer.
const std::string start_of_answer = most_of_acceptance + std::string(16, 'p') + std::string("\0\0\0\x20\x20", 5);

/// Answers `srvr`, and drips to a session.
asio::awaitable<void> drip_to_sessions(asio::ip::tcp::socket socket, std::string text) {
  std::array<char, 4> begin{};
  const std::string answer = leader_text;
  auto read = co_await asio::async_read(socket, asio::buffer(begin), outcome);
  if (std::get<0>(read)) co_return;
  if (std::string(begin.data(), begin.size()) == "srvr") {
    co_await asio::async_write(socket, asio::buffer(answer), outcome);
  } else {
    const auto talk = fake_server::dripping(text);
    co_await talk(std::move(socket));
  }
}

struct slow_case {
  asio::io_context io;

  void check_end(const std::string& text, std::vector<std::string> words, int code, const std::string& why) {
    fake_server server(io, [text](asio::ip::tcp::socket socket) { return drip_to_sessions(std::move(socket), text); });
    const auto begin = std::chrono::steady_clock::now();
    words.insert(words.begin(), {"--timeout", "1s"});
    const auto result = run_zkadmin(io, words, {{"ZKADMIN_HOSTS", server.where().name}});
    BOOST_TEST_CONTEXT(words[2] << ": " << result.out << result.err) {
      BOOST_TEST((std::chrono::steady_clock::now() - begin < 25s), "far more than any bound, for a loaded machine");
      BOOST_TEST(result.code == code);
      BOOST_TEST((result.out + result.err).find(why) != std::string::npos);
    }
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slow_suite, slow_case)

BOOST_AUTO_TEST_CASE(each_command_ends_within_its_timeout) {
  const std::map<std::string, std::string> reasons{
      {"", "gave no session within 1.0 s"},
      {most_of_acceptance, "gave no session within 1.0 s"},
      {start_of_answer, "gave a session, but no answer to all requests within 1.0 s"}};
  for (const auto& [text, why] : reasons) {
    check_end(text, {"status"}, 1, why);
    check_end(text, {"ls", "/"}, 1, why);
    check_end(text, {"check"}, text == start_of_answer ? 3 : 2, why);
    check_end(text, {"set", "/a", "--data", "x", "--rw"}, 1, why);
  }
}

BOOST_AUTO_TEST_CASE(a_lock_is_not_waited_for_without_end) {
  check_end(most_of_acceptance, {"lock", "--for", "2s", "/l", "--", "true"}, 125, "no session within 1.0 s");
  check_end(start_of_answer, {"lock", "--for", "2s", "/l", "--", "true"}, 124, "it was not free in time");
  check_end(start_of_answer, {"lock", "--try", "/l", "--", "true"}, 125, "reading the ACL of /l");
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin history` against real servers.

BOOST_FIXTURE_TEST_SUITE(history_suite, admin_fixture)

BOOST_AUTO_TEST_CASE(the_terms_of_an_election) {
  join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  BOOST_TEST(zkadmin({"resign", root() + "/e", "--wait", "--rw"}).code == 0);
  const auto result = zkadmin({"history", root() + "/e", "-o", "json"});
  BOOST_TEST(result.code == 0, result.err);
  const auto document = json::parse(result.out);
  BOOST_TEST(document.at("path").as_string() == root() + "/e");
  BOOST_TEST(document.at("phase") == "executing");
  const auto& terms = document.at("terms").as_array();
  BOOST_TEST_REQUIRE(terms.size() == 2u);
  BOOST_TEST(terms[0].at("epoch") == 1);
  BOOST_TEST(terms[0].at("leader") == "a");
  BOOST_TEST(terms[0].at("outcome") == "retired");
  BOOST_TEST(terms[0].at("began_ms").as_int64() <= terms[0].at("ended_ms").as_int64());
  BOOST_TEST(terms[0].at("ended_ms").as_int64() <= terms[1].at("began_ms").as_int64());
  BOOST_TEST(terms[1].at("leader") == "b");
  BOOST_TEST(terms[1].at("outcome").is_null());
  BOOST_TEST(zkadmin({"history", root() + "/e"}).out.find("goes on: executing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(where_there_is_none) {
  create("/e");
  leaves("/e");
  const auto other = zkadmin({"history", root() + "/e"});
  BOOST_TEST(other.code == 1);
  BOOST_TEST(other.out == "");
  BOOST_TEST(other.err == "zkadmin: " + root() + "/e is no election: no record is there, and nobody in line\n");
  const auto missing = zkadmin({"history", root() + "/none"});
  BOOST_TEST(missing.code == 1);
  BOOST_TEST(missing.err == "zkadmin: there is no election at " + root() + "/none\n");
  create("/f", "other");
  leaves("/f");
  BOOST_TEST(zkadmin({"history", root() + "/f"}).err.find("holds data that is not an election's") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

// `zkadmin status` against real servers.

namespace {

const json::value& server_named(const json::value& document, const std::string& name) {
  for (const auto& each : document.at("ensemble").as_array())
    if (each.at("server").as_string() == name) return each;
  throw std::runtime_error("no server " + name);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(status_suite, admin_fixture)

BOOST_AUTO_TEST_CASE(an_ensemble_without_elections) {
  zk();
  create("/plain", "data");
  leaves("/plain");
  const auto document = status();
  BOOST_TEST(document.at("ensemble").as_array().size() == 3u);
  int leaders = 0;
  for (const auto& each : document.at("ensemble").as_array()) {
    BOOST_TEST(each.at("reachable").as_bool());
    BOOST_TEST(each.at("error").is_null());
    BOOST_TEST(each.at("zxid").as_string().starts_with("0x"));
    BOOST_TEST(each.at("connections").as_int64() >= 1);
    BOOST_TEST(each.at("nodes").as_int64() > 4);
    BOOST_TEST(each.at("version").as_string().starts_with("3."));
    leaders += each.at("role") == "leader";
  }
  BOOST_TEST(leaders == 1);
  BOOST_TEST(document.at("elections").as_array().empty());
}

BOOST_AUTO_TEST_CASE(who_leads_and_who_waits_in_order) {
  join("/e", "a");
  join("/e", "b");
  join("/e", "c");
  leaves("/e");
  const auto found = election("/e", is_executing);
  BOOST_TEST(found.at("epoch").as_int64() == 1);
  BOOST_TEST(found.at("takeover") == "first");
  BOOST_TEST(found.at("leader").at("id") == "a");
  BOOST_TEST(found.at("leader").at("token").as_int64() > 0);
  BOOST_TEST(json::serialize(found.at("waiters")) == R"([{"id":"b","position":1},{"id":"c","position":2}])");
  BOOST_TEST(found.at("hand_over").is_null());

  const auto table = zkadmin({"status"});
  BOOST_TEST(table.code == 0);
  BOOST_TEST(table.out.find("QUORUM 3/3 leader ") == 0u);
  BOOST_TEST(table.out.find("executing  a       b, c\n") != std::string::npos, table.out);
  const auto tsv = zkadmin({"status", "-o", "tsv"});
  BOOST_TEST(tsv.out.find("waiter\t" + root() + "/e\t2\tc\n") != std::string::npos, tsv.out);
}

BOOST_AUTO_TEST_CASE(an_election_that_nobody_takes_part_in_now) {
  auto& last = join("/deep/down/e", "a");
  for (const char* each : {"/deep", "/deep/down", "/deep/down/e"}) leaves(each);
  election("/deep/down/e", is_executing);
  last.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return last.has_ended(); }));
  const auto found = election("/deep/down/e", [](const auto& each) { return each.at("leader").is_null(); });
  BOOST_TEST(found.at("phase") == "retired");
  BOOST_TEST(found.at("waiters").as_array().empty());
}

BOOST_AUTO_TEST_CASE(foreign_and_malformed_data_is_shown_as_such) {
  const auto candidate = [](const std::string& number) { return "/_c_x-latch-000000000" + number; };
  create("/foreign", "\xff\x00 not ours");
  create("/foreign" + candidate("1"), "\x1b[2J");
  create("/curator", "");
  create("/curator" + candidate("2"), "");
  create("/curator" + candidate("3"), "{\"id\":7");
  create("/nearly", R"({"zkrecipes":"term","epoch":"seven"})");
  for (const auto& each : {std::string("/foreign"), "/foreign" + candidate("1"), std::string("/curator"),
                           "/curator" + candidate("2"), "/curator" + candidate("3"), std::string("/nearly")})
    leaves(each);
  const auto document = status();
  const auto& found = document.at("elections").as_array();
  BOOST_TEST_REQUIRE(found.size() == 3u);
  BOOST_TEST(found[0].at("path").as_string() == root() + "/curator");
  BOOST_TEST(found[0].at("phase") == "none");
  BOOST_TEST(found[0].at("leader").at("id") == "");
  BOOST_TEST(found[0].at("waiters").at(0).at("id") == "{\"id\":7");
  BOOST_TEST(found[1].at("phase") == "foreign_data");
  BOOST_TEST(found[2].at("path").as_string() == root() + "/nearly");
  BOOST_TEST(found[2].at("phase") == "foreign_data");
  BOOST_TEST(zkadmin({"status"}).out.find('\x1b') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_server_that_is_down_does_not_hide_the_others) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const int down = cluster().leader() == 1 ? 2 : 1;
  const outage without({down});
  const auto document = status();
  for (const auto& each : direct_hosts()) {
    const auto& server = server_named(document, each);
    const bool is_down = each == direct_hosts()[static_cast<std::size_t>(down - 1)];
    BOOST_TEST(server.at("reachable").as_bool() == !is_down);
    BOOST_TEST(server.at("role").is_null() == is_down);
    if (is_down) BOOST_TEST(server.at("error") == "Connection refused");
  }
  BOOST_TEST(document.at("elections").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_server_that_hangs_does_not_hold_up_the_others) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const int hung = cluster().leader() == 1 ? 2 : 1;
  cluster().pause(hung);
  const auto begin = std::chrono::steady_clock::now();
  const auto result = zkadmin({"status", "-o", "json", "--timeout", "4s"});
  const auto taken = std::chrono::steady_clock::now() - begin;
  cluster().resume(hung);
  cluster().wait_serving();
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST((taken < 3s));
  const auto document = json::parse(result.out);
  const auto& silent = server_named(document, direct_hosts()[static_cast<std::size_t>(hung - 1)]);
  BOOST_TEST(silent.at("role").is_null());
  BOOST_TEST(silent.at("error").as_string().starts_with("no answer within "));
  BOOST_TEST(document.at("elections").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_slow_line_is_no_outage) {
  const auto slow = [](const std::string& timeout) {
    return std::vector<std::string>{"status", "-o", "json", "--timeout", timeout, "--hosts", join_hosts(proxy_hosts())};
  };
  zk();
  for (int each = 1; each <= server_count; ++each) cluster().proxy(each).set_delay(500ms);
  const auto patient = zkadmin(slow("30s"));
  const auto hasty = zkadmin(slow("2s"));
  heal_proxies();
  BOOST_TEST(patient.code == 0, patient.err);
  const auto document = json::parse(patient.out);
  for (const auto& each : document.at("ensemble").as_array()) BOOST_TEST(each.at("reachable").as_bool());
  BOOST_TEST(document.at("complete").as_bool());
  // The time was too short for a search, so the elections are reported as not known.
  BOOST_TEST(hasty.code == 1);
  BOOST_TEST(json::parse(hasty.out).at("elections").is_null());
  BOOST_TEST(hasty.err.find("within 2.0 s: the elections are not known") != std::string::npos, hasty.err);
}

BOOST_AUTO_TEST_CASE(an_office_without_anybody_in_line_is_a_problem) {
  create("/e", R"({"zkrecipes":"term","epoch":3,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
               R"("leader":{"id":"a","node":"_c_x-latch-0000000001","token":1}})");
  leaves("/e");
  const auto found = election("/e", is_executing);
  BOOST_TEST(found.at("leader").is_null());
  BOOST_TEST(found.at("problem") == "its record has a leader, but nobody is in line");
}

BOOST_AUTO_TEST_CASE(a_phase_of_a_later_version_is_unknown_and_no_foreign_data) {
  create("/e", R"({"zkrecipes":"term","epoch":3,"phase":"draining","how":"by_vote","hand_over_deadline_ms":0,)"
               R"("leader":{"id":"a","node":"_c_x-latch-0000000001","token":1},"later":1})");
  create("/e/_c_x-latch-0000000001", R"({"zkrecipes":"candidate","id":"a","keeps_record":true})");
  for (const char* each : {"/e", "/e/_c_x-latch-0000000001"}) leaves(each);
  const auto found = election("/e", [](const auto& each) { return !each.at("leader").is_null(); });
  BOOST_TEST(found.at("phase") == "unknown");
  BOOST_TEST(found.at("epoch") == 3);
  BOOST_TEST(found.at("leader").at("id") == "a");
  BOOST_TEST(found.at("takeover") == "forced");
  // The test has no session that owns the candidate.
  BOOST_TEST(found.at("problem") == "in line without a session: a; its node stays until somebody deletes it");
}

BOOST_AUTO_TEST_CASE(long_data_of_a_foreign_candidate_is_cut) {
  create("/e");
  create("/e/_c_x-latch-0000000001", std::string(70'000, 'x'));
  for (const char* each : {"/e", "/e/_c_x-latch-0000000001"}) leaves(each);
  const auto found = election("/e", [](const auto& each) { return !each.at("leader").is_null(); });
  BOOST_TEST(found.at("leader").at("id").as_string().size() < 300u);
  BOOST_TEST(found.at("leader").at("id").as_string().ends_with("... (70000 bytes)"));
}

BOOST_AUTO_TEST_CASE(without_a_quorum_the_servers_are_shown_and_the_elections_are_not_known) {
  const outage without(outage::quorum());
  program_result result;
  const bool seen = run_until([&] {
    result = zkadmin({"status", "-o", "json", "--timeout", "3s"});
    return result.out.find(R"("role":"not serving","reachable":true)") != std::string::npos;
  });
  BOOST_TEST(seen);
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err == "zkadmin: no server is serving requests: the elections are not known\n");
  const auto document = json::parse(result.out);
  BOOST_TEST(document.at("elections").is_null());
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(zkadmin({"status", "-o", "tsv", "--timeout", "3s"}).out.find("elections\tunknown\t\n") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  const auto result = zkadmin({"status", "-o", "json", "--hosts", "127.0.0.1:1,127.0.0.1:2"});
  BOOST_TEST(result.code == 3);
  BOOST_TEST(result.err == "zkadmin: none of the servers answers\n");
  BOOST_TEST(json::parse(result.out).at("ensemble").as_array().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_root_that_does_not_exist) {
  BOOST_TEST(fails(zkadmin({"status", "--root", "/no/such/root"}), 1, "the root /no/such/root does not exist"));
}

BOOST_AUTO_TEST_CASE(credentials_open_what_is_closed_and_are_never_shown) {
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  {
    auto owner = connect(mine);
    run(owner.async_create("/closed", "", create_mode::persistent, creator_acl(), tuple));
    const std::string candidate = "/closed/_c_x-latch-0000000001";
    run(owner.async_create(candidate, "x", create_mode::persistent, creator_acl(), tuple));
    const auto refused = zkadmin({"status", "--root", root() + "/closed"});
    BOOST_TEST(fails(refused, 5, "not allowed; give credentials"));
    const auto partly = zkadmin({"status"});
    BOOST_TEST(partly.code == 5);
    BOOST_TEST(partly.err == "zkadmin: note: " + root() +
                                 "/closed: may not be read with these credentials\n"
                                 "zkadmin: something may not be read; give credentials (digest_file or "
                                 "ZKADMIN_DIGEST)\n");
    const auto document = status(5);
    BOOST_TEST(!document.at("complete").as_bool());
    BOOST_TEST(document.at("notes").at(0).at("path").as_string() == root() + "/closed");
    const auto allowed = zkadmin({"status"}, {{"ZKADMIN_DIGEST", "admin:topsecret"}});
    BOOST_TEST(allowed.code == 0, allowed.err);
    BOOST_TEST(allowed.out.find(root() + "/closed") != std::string::npos);
    for (const auto* each : {&refused, &partly, &allowed}) {
      BOOST_TEST(each->out.find("topsecret") == std::string::npos);
      BOOST_TEST(each->err.find("topsecret") == std::string::npos);
    }
    run(owner.async_remove(candidate, any_version, tuple));
    run(owner.async_remove("/closed", any_version, tuple));
    run(owner.async_close(tuple));
  }
}

// 12 000 items beside an election that is deeper in the tree than they are.
struct backlog_fixture : admin_fixture {
  void put(const std::function<std::string(int)>& name_of) {
    change("/backlog", [&](transaction& batch, int i) { batch.create("/backlog/" + name_of(i)); });
  }
  void take(const std::function<std::string(int)>& name_of) {
    change("/backlog", [&](transaction& batch, int i) { batch.remove("/backlog/" + name_of(i)); });
  }
  void change(const std::string& path, const std::function<void(transaction&, int)>& add) {
    constexpr int batches = 24, each_batch = 500;
    if (!contains(path)) create(path);
    for (int first = 0; first < batches * each_batch; first += each_batch) {
      transaction batch;
      for (int i = 0; i < each_batch; ++i) add(batch, first + i);
      const auto result = run(zk().async_commit(std::move(batch), tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
    }
  }
  void make_election() {
    for (const char* each : {"/z", "/z/deep", "/z/deep/down", "/z/deep/down/e"}) {
      create(each);
      leaves(each);
    }
    create("/z/deep/down/e/_c_x-latch-0000000001", "x");
    leaves("/z/deep/down/e/_c_x-latch-0000000001");
    leaves("/backlog");
  }
  std::string path_of_only_election(const json::value& document) {
    const auto& found = document.at("elections").as_array();
    BOOST_TEST_REQUIRE(found.size() == 1u);
    return std::string(found[0].at("path").as_string());
  }
};

BOOST_FIXTURE_TEST_CASE(a_backlog_does_not_hide_an_election, backlog_fixture) {
  const auto name = [](int i) { return "job-" + std::to_string(i); };
  make_election();
  put(name);
  const auto document = status(1);
  BOOST_TEST(path_of_only_election(document) == root() + "/z/deep/down/e");
  BOOST_TEST(!document.at("complete").as_bool());
  BOOST_TEST(document.at("notes").at(0).at("path").as_string() == root() + "/backlog");
  const auto result = zkadmin({"status"});
  BOOST_TEST(
      result.err.find("/backlog: 2006 nodes below it were not looked at: only 10000 nodes are; choose a --root") !=
          std::string::npos,
      result.err);
  take(name);
}

BOOST_FIXTURE_TEST_CASE(items_of_a_queue_are_passed_over, backlog_fixture) {
  const auto name = [](int i) { return "qn-" + std::to_string(1'000'000'000 + i); };
  make_election();
  put(name);
  const auto document = status();
  BOOST_TEST(path_of_only_election(document) == root() + "/z/deep/down/e");
  BOOST_TEST(document.at("complete").as_bool());
  take(name);
}

BOOST_AUTO_TEST_SUITE_END()
