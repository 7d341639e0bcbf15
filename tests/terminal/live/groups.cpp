// `zkadmin groups` and `zkadmin group` against real servers.
#include "live/group_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
namespace json = boost::json;

BOOST_FIXTURE_TEST_SUITE(groups_suite, group_fixture)

BOOST_AUTO_TEST_CASE(members_and_their_shards) {
  create("/plain");
  leaves("/plain");
  BOOST_TEST(groups().at("groups").as_array().empty());
  BOOST_TEST(zkadmin({"groups"}).out == "No shard groups.\n");
  add("a");
  add("b");
  wait_complete();
  const auto found = group_owning(shards);
  BOOST_TEST(found.at("path").as_string() == root() + "/g");
  BOOST_TEST(found.at("shards").as_int64() == shards);
  BOOST_TEST(!found.at("frozen").as_bool());
  BOOST_TEST(found.at("problem").is_null());
  BOOST_TEST(found.at("planner").is_string());
  const auto& members = found.at("members").as_array();
  BOOST_TEST_REQUIRE(members.size() == 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string id = i == 0 ? "a" : "b";
    BOOST_TEST(members[i].at("id").as_string() == id);
    BOOST_TEST(members[i].at("data").as_string() == "host-of-" + id);
    BOOST_TEST(members[i].at("state") == "active");
    BOOST_TEST(members[i].at("capacity").as_int64() == 1);
    BOOST_TEST(members[i].at("owned").as_int64() == 3);
    BOOST_TEST(contains("/g/member/" + std::string(members[i].at("node").as_string())));
  }

  const auto list = zkadmin({"groups"});
  BOOST_TEST(list.code == 0, list.err);
  BOOST_TEST(list.out.find("\n" + root() + "/g ") != std::string::npos, list.out);
  const auto one = zkadmin({"groups", root() + "/g"});
  BOOST_TEST(one.code == 0, one.err);
  BOOST_TEST(one.out.starts_with(root() + "/g: 6 shards, 6 owned; planner "), one.out);
  BOOST_TEST(one.out.find("host-of-b") != std::string::npos, one.out);
  const auto tsv = zkadmin({"groups", root() + "/g", "-o", "tsv"});
  BOOST_TEST(tsv.out.starts_with("groups\tcomplete\t1\ngroup\t" + root() + "/g\t6\t6\t0\t0\t0\t0\t2\t0\t"), tsv.out);
}

// A record of a shard is a term record like that of an election.
BOOST_AUTO_TEST_CASE(shards_are_not_taken_for_elections) {
  add("a");
  wait_complete();
  const auto found = election("/g/_planner", is_executing);
  BOOST_TEST(found.at("leader").at("id") == "a");
  BOOST_TEST(status().at("elections").as_array().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_move_under_way) {
  auto& a = add("a");
  wait_complete();
  auto& hold = a.hold_back();
  add("b");
  const auto found = group([](const auto& each) {
    for (const auto& move : each.at("moves").as_array())
      if (move.at("phase") != "handing_over") return false;
    return each.at("moving").as_int64() == 3;
  });
  BOOST_TEST(found.at("owned").as_int64() == 3);
  for (const auto& move : found.at("moves").as_array()) {
    BOOST_TEST(move.at("from") == "a");
    BOOST_TEST(!move.at("from_gone").as_bool());
    BOOST_TEST(move.at("to") == "b");
    BOOST_TEST(move.at("age_ms").as_int64() >= 0);
  }
  BOOST_TEST(found.at("members").at(1).at("moving").as_int64() == 3);
  const auto shown = zkadmin({"groups", root() + "/g"}).out;
  BOOST_TEST(shown.find("a     b   handing_over") != std::string::npos, shown);
  hold.open();
  group_owning(shards);
}

BOOST_AUTO_TEST_CASE(a_move_that_stands_still_is_a_problem) {
  auto& a = add("a");
  wait_complete();
  const auto check = [this](const char* limit) {
    return zkadmin({"check", "--only", "groups", "--move-limit", limit});
  };
  const auto stands = "warning moves-stand-still " + root() + "/g: moves that stand still: 3, the longest for ";
  BOOST_TEST(check("100ms").code == 0);
  auto& hold = a.hold_back();
  add("b");
  BOOST_TEST(run_until([&] {
    const auto result = check("100ms");
    return result.code == 1 && result.out.find(stands) != std::string::npos;
  }));
  const auto patient = check("1h");
  BOOST_TEST(patient.code == 0, patient.out);
  hold.open();
  group_owning(shards);
}

BOOST_AUTO_TEST_CASE(a_member_that_may_come_back) {
  auto& only = add("a", 60s);
  wait_complete();
  stop(only);
  const auto found = group([](const auto& each) { return each.at("waiting").as_int64() == shards; });
  BOOST_TEST(found.at("owned").as_int64() == 0);
  BOOST_TEST(found.at("unassigned").as_int64() == 0);
  BOOST_TEST(found.at("members").as_array().empty());
  BOOST_TEST(found.at("planner").is_null());
  BOOST_TEST(found.at("problem").is_null());
  const auto& away = found.at("away").as_array();
  BOOST_TEST_REQUIRE(away.size() == 1u);
  BOOST_TEST(away[0].at("id") == "a");
  BOOST_TEST(away[0].at("grace_ms").as_int64() == 60'000);
  BOOST_TEST(away[0].at("age_ms").as_int64() >= 0);
  BOOST_TEST(away[0].at("shards") == "0-5");
}

BOOST_AUTO_TEST_CASE(freeze_and_thaw) {
  add("a");
  wait_complete();
  const auto path = root() + "/g";
  const auto shown = zkadmin({"group", "freeze", path});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "create " + path + "/frozen data=\n");
  BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(!contains("/g/frozen"));

  const auto frozen = zkadmin({"group", "freeze", path, "--rw"});
  BOOST_TEST(frozen.code == 0, frozen.err);
  BOOST_TEST(frozen.err == "create " + path + "/frozen data=\n");
  BOOST_TEST(frozen.out == "froze " + path + "\n");
  group([](const auto& each) { return each.at("frozen").as_bool(); });
  BOOST_TEST(zkadmin({"group", "freeze", path, "--rw"}).err ==
             "zkadmin: " + path + " is frozen already: nothing was sent\n");

  const auto thawed = zkadmin({"group", "thaw", path, "--rw"});
  BOOST_TEST(thawed.code == 0, thawed.err);
  BOOST_TEST(thawed.err == "delete " + path + "/frozen version=0\n");
  BOOST_TEST(thawed.out == "thawed " + path + "\n");
  BOOST_TEST(!contains("/g/frozen"));
  BOOST_TEST(zkadmin({"group", "thaw", path, "--rw"}).err == "zkadmin: " + path + " is not frozen: nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(a_shard_in_quarantine_is_released) {
  add("a");
  wait_complete();
  const auto path = root() + "/g";
  create("/g/quarantine");
  create("/g/quarantine/0004", R"({"zkrecipes":"shard_quarantine","deaths":3,"last":"b"})");
  const auto found = group([](const auto& each) { return each.at("owned").as_int64() == shards - 1; });
  BOOST_TEST(json::serialize(found.at("quarantine")) == R"([{"shard":4,"deaths":3,"last_owner":"b"}])");
  BOOST_TEST(found.at("problem") == "shards in quarantine: 1");
  const auto checked = zkadmin({"check"});
  BOOST_TEST(checked.code == 2);
  BOOST_TEST(checked.out.find("critical quarantined-shards " + root() + "/g: ") != std::string::npos, checked.out);

  const auto shown = zkadmin({"group", "release", path, "4"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "delete " + path + "/quarantine/0004 version=0\n");
  BOOST_TEST(contains("/g/quarantine/0004"));
  const auto released = zkadmin({"group", "release", path, "4", "--rw"});
  BOOST_TEST(released.code == 0, released.err);
  BOOST_TEST(released.out == "released shard 4 of " + path + "\n");
  BOOST_TEST(group_owning(shards).at("problem").is_null());
  BOOST_TEST(zkadmin({"group", "release", path, "4", "--rw"}).err ==
             "zkadmin: shard 4 of " + path + " is not in quarantine: nothing was sent\n");
  BOOST_TEST(zkadmin({"group", "release", path, "6", "--rw"}).err ==
             "zkadmin: " + path + " has no shard 6: its shards are 0 to 5: nothing was sent\n");

  for (const auto* each : {"3", "5"}) create("/g/quarantine/000" + std::string(each), "");
  BOOST_TEST(zkadmin({"group", "release", path, "--all", "--rw"}).out == "released 2 shards of " + path + "\n");
  BOOST_TEST(group_owning(shards).at("problem").is_null());
}

BOOST_AUTO_TEST_CASE(the_dashboard_shows_a_group_as_it_changes) {
  add("a");
  wait_complete();
  {
    pseudo_terminal terminal(io(), 160, 40);
    terminal.start({ZKADMIN_PROGRAM, "--root", root(), "--interval", "200ms"}, {{"ZKADMIN_HOSTS", hosts}});
    BOOST_TEST(terminal.shows("SHARD GROUPS 1"));
    BOOST_TEST(terminal.shows(root() + "/g       6      6       0"));
    create("/g/quarantine");
    create("/g/quarantine/0004");
    BOOST_TEST(terminal.shows(root() + "/g       6      5       0"));
    remove("/g/quarantine/0004");
    BOOST_TEST(terminal.shows(root() + "/g       6      6       0"));
    terminal.type("q");
    BOOST_TEST(terminal.exit_code() == 0);
  }
}

BOOST_AUTO_TEST_CASE(there_has_to_be_a_group) {
  create("/other", "data");
  leaves("/other");
  const auto path = root() + "/other";
  const auto missing = zkadmin({"groups", "/no/such/path", "-o", "json"});
  BOOST_TEST(missing.code == 1);
  BOOST_TEST(missing.err == "zkadmin: there is no shard group at /no/such/path\n");
  BOOST_TEST(json::parse(missing.out).at("groups").is_null());
  BOOST_TEST(zkadmin({"groups", path}).err == "zkadmin: " + path + " is no shard group\n");
  BOOST_TEST(zkadmin({"group", "freeze", path, "--rw"}).err == "zkadmin: " + path + " is no shard group\n");
  BOOST_TEST(zkadmin({"group", "freeze", "/no/such/path", "--rw"}).err ==
             "zkadmin: there is no shard group at /no/such/path\n");
  BOOST_TEST(!contains("/other/frozen"));
  BOOST_TEST(zkadmin({"groups", "relative"}).code == 2);
}

BOOST_AUTO_TEST_SUITE_END()
