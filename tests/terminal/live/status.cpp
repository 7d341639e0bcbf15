// `zkadmin status` against real servers.
#include "live/admin_fixture.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;
namespace json = boost::json;

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
  BOOST_TEST((taken < 6s));
  const auto document = json::parse(result.out);
  BOOST_TEST(server_named(document, direct_hosts()[static_cast<std::size_t>(hung - 1)]).at("error") ==
             "no answer within 3.2 s");
  BOOST_TEST(document.at("elections").as_array().size() == 1u);
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
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  const auto result = zkadmin({"status", "-o", "json", "--hosts", "127.0.0.1:1,127.0.0.1:2"});
  BOOST_TEST(result.code == 3);
  BOOST_TEST(result.err == "zkadmin: none of the servers answers\n");
  BOOST_TEST(json::parse(result.out).at("ensemble").as_array().size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_root_that_does_not_exist) {
  const auto result = zkadmin({"status", "--root", "/no/such/root"});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err.find("the root /no/such/root does not exist") != std::string::npos);
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
    BOOST_TEST(refused.code == 5);
    BOOST_TEST(refused.err.find("not allowed; give credentials") != std::string::npos, refused.err);
    const auto partly = zkadmin({"status"});
    BOOST_TEST(partly.code == 0);
    BOOST_TEST(partly.err == "zkadmin: note: 1 nodes may not be read\n");
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

BOOST_AUTO_TEST_CASE(a_tree_that_is_too_large_is_cut_off_with_a_note) {
  constexpr int groups = 21;
  constexpr int each_group = 500;
  const auto change = [this](auto add) {
    for (int group = 0; group < groups; ++group) {
      transaction batch;
      add(batch, "/g" + std::to_string(group));
      const auto result = run(zk().async_commit(std::move(batch), tuple));
      BOOST_TEST_REQUIRE(!std::get<0>(result), std::get<0>(result).message());
    }
  };
  change([](transaction& batch, const std::string& group) {
    batch.create(group);
    for (int i = 0; i < each_group; ++i) batch.create(group + "/" + std::to_string(i));
  });
  const auto result = zkadmin({"status"});
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(result.err == "zkadmin: note: only the first 10000 nodes were looked at: choose a --root\n");
  change([](transaction& batch, const std::string& group) {
    for (int i = 0; i < each_group; ++i) batch.remove(group + "/" + std::to_string(i));
    batch.remove(group);
  });
}

BOOST_AUTO_TEST_SUITE_END()
