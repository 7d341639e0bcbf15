// `zkadmin groups` and `zkadmin group` against real servers.
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "live/admin_fixture.hpp"
#include "live/shard_worker.hpp"
#include "pseudo_terminal.hpp"

/// A fixture with the members of a shard group at `/g`, and what `zkadmin groups` says of it.
/// The group is removed at the end.
class group_fixture : public admin_fixture {
 public:
  static constexpr std::uint32_t shards = 6;

  void teardown() {
    for (auto& each : members_) stop(each);
    members_.clear();
    if (contains("/g")) {
      for (const char* folder : {"/g/member", "/g/_planner"})
        BOOST_TEST(run_until([&] { return !contains(folder) || children(folder).empty(); }));
      remove_tree("/g");
    }
    admin_fixture::teardown();
  }

  shard_worker& add(const std::string& id, std::chrono::milliseconds grace = std::chrono::milliseconds(0)) {
    return add(id, grace, connect());
  }
  shard_worker& add(const std::string& id, std::chrono::milliseconds grace, zkrecipes::session over) {
    zkrecipes::shard_group_options with;
    with.id = id;
    with.shards = shards;
    with.data = "host-of-" + id;
    with.grace = grace;
    with.collect = std::chrono::milliseconds(50);
    with.max_moves = 1;
    return members_.emplace_back(std::move(over), "/g", with);
  }
  void stop(shard_worker& member) {
    member.stop();
    BOOST_TEST(run_until([&] { return member.has_ended(); }));
  }
  void stop_member(std::size_t which) { stop(members_.at(which)); }
  /// Waits until all shards are executed.
  void wait_complete() {
    BOOST_TEST_REQUIRE(run_until([this] {
      int all = 0;
      for (const auto& each : members_) all += each.executing();
      return all == static_cast<int>(shards);
    }));
  }

  boost::json::value groups() {
    const auto result = zkadmin({"groups", "-o", "json"});
    BOOST_TEST(result.code == 0, result.err);
    return boost::json::parse(result.out);
  }
  /// The group once the condition holds for it.
  boost::json::object group(const std::function<bool(const boost::json::object&)>& condition) {
    boost::json::object found;
    const bool holds = run_until([&] {
      const auto document = groups();
      const auto& all = document.at("groups").as_array();
      if (all.size() == 1) found = all[0].as_object();
      return !found.empty() && condition(found);
    });
    BOOST_TEST_REQUIRE(holds, boost::json::serialize(found));
    return found;
  }
  boost::json::object group_owning(std::int64_t owned) {
    return group([owned](const auto& each) { return each.at("owned").as_int64() == owned; });
  }

 private:
  void remove_tree(const std::string& path) {
    for (const auto& each : children(path)) remove_tree(path + "/" + each);
    remove(path);
  }

  std::deque<shard_worker> members_;
};

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

// `zkadmin group drain`, `undrain`, `transfer` and `unpin` against real servers.

namespace {

struct wish_fixture : group_fixture {
  std::string path() const { return root() + "/g"; }
  program_result ask(std::vector<std::string> words) {
    words.insert(words.begin(), "group");
    words.insert(words.begin() + 2, path());
    return zkadmin(std::move(words));
  }
  static std::int64_t owned_by(const json::object& group, const std::string& id) {
    for (const auto& each : group.at("members").as_array())
      if (each.at("id").as_string() == id) return each.at("owned").as_int64();
    return -1;
  }
  static bool contains_number(const std::string& ranges, int number) {
    std::istringstream text(ranges);
    for (std::string each; std::getline(text, each, ',');) {
      const auto dash = each.find('-');
      const auto first = std::stoi(each);
      const auto last = dash == std::string::npos ? first : std::stoi(each.substr(dash + 1));
      if (first <= number && number <= last) return true;
    }
    return false;
  }
  /// The id of the member that owns the shard; empty: it moves, or nobody does.
  static std::string owner_of(const json::object& group, int shard) {
    for (const auto& each : group.at("members").as_array())
      if (contains_number(std::string(each.at("owned_shards").as_string()), shard))
        return std::string(each.at("id").as_string());
    return {};
  }
  void begin_with_two() {
    add("a");
    add("b");
    group([](const auto& each) { return owned_by(each, "a") == 3 && owned_by(each, "b") == 3; });
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(group_wishes_suite, wish_fixture)

BOOST_AUTO_TEST_CASE(a_member_that_is_drained_gives_everything_and_gets_it_back) {
  begin_with_two();
  const auto requests = "create " + path() + "/operator data=\ncreate " + path() + "/operator/drain-b data=\n";
  const auto shown = ask({"drain", "b"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == requests);
  BOOST_TEST(!contains("/g/operator"));
  const auto done = ask({"drain", "b", "--wait", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == requests);
  BOOST_TEST(done.out == "drains b of " + path() + "\nb of " + path() + " has no shards\n");
  const auto found = group([](const auto& each) { return owned_by(each, "a") == 6; });
  BOOST_TEST(found.at("members").at(1).at("state") == "drained");
  BOOST_TEST(json::serialize(found.at("drained")) == R"(["b"])");

  BOOST_TEST(ask({"drain", "b", "--rw"}).err == "zkadmin: b of " + path() + " is drained already: nothing was sent\n");
  BOOST_TEST(ask({"drain", "b", "--wait"}).code == 0);  // there is nothing to send
  BOOST_TEST(ask({"drain", "a", "--rw"}).err ==
             "zkadmin: no other member of " + path() + " could take the shards of a: nothing was sent\n");
  BOOST_TEST(ask({"drain", "c", "--rw"}).err ==
             "zkadmin: " + path() + " has no member c, its members are: a, b: nothing was sent\n");
  BOOST_TEST(ask({"transfer", "0", "b", "--rw"}).err ==
             "zkadmin: b drains, so it is given no shards: nothing was sent\n");
  const auto ended = ask({"undrain", "b", "--rw"});
  BOOST_TEST(ended.code == 0, ended.err);
  BOOST_TEST(ended.err == "delete " + path() + "/operator/drain-b version=0\n");
  group([](const auto& each) { return owned_by(each, "a") == 3 && owned_by(each, "b") == 3; });
  BOOST_TEST(ask({"undrain", "b", "--rw"}).err ==
             "zkadmin: b of " + path() + " is not drained by an operator: nothing was sent\n");
}

// Work must not stand still because of a note.
BOOST_AUTO_TEST_CASE(a_member_that_is_drained_takes_all_if_there_is_no_other) {
  begin_with_two();
  BOOST_TEST(ask({"drain", "b", "--wait", "--rw"}).code == 0);
  stop_member(0);
  const auto found = group([](const auto& each) { return owned_by(each, "b") == 6; });
  BOOST_TEST(found.at("members").at(0).at("state") == "drained");
}

BOOST_AUTO_TEST_CASE(a_shard_is_transferred_and_stays) {
  begin_with_two();
  const std::string shard = owner_of(group_owning(shards), 0) == "a" ? "0" : "1";
  const auto done = ask({"transfer", shard, "b", "--wait", "--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.err == "create " + path() + "/operator data=\ncreate " + path() + "/operator/pin-000" + shard +
                             R"( data={"zkrecipes":"shard_pin","member":"b"})" + "\n");
  BOOST_TEST(done.out == "pinned shard " + shard + " of " + path() + " to b\nshard " + shard + " of " + path() +
                             " is owned by b\n");
  const auto found = group([](const auto& each) { return owned_by(each, "a") == 3 && owned_by(each, "b") == 3; });
  BOOST_TEST(json::serialize(found.at("pins")) == R"([{"shard":)" + shard + R"(,"member":"b","assigned_to":"b"}])");
  BOOST_TEST(zkadmin({"groups", path()}).out.find("PINNED  MEMBER  OWNER TO BE\n     " + shard + "  b       b\n") !=
             std::string::npos);
  BOOST_TEST(ask({"transfer", shard, "b", "--rw"}).err ==
             "zkadmin: shard " + shard + " of " + path() + " is pinned to b already: nothing was sent\n");

  const auto back = ask({"transfer", shard, "a", "--wait", "--rw"});
  BOOST_TEST(back.err == "# shard " + shard + " of " + path() + " is pinned to b, perhaps by another operator\nset " +
                             path() + "/operator/pin-000" + shard +
                             R"( version=0 data={"zkrecipes":"shard_pin","member":"a"})" + "\n");
  BOOST_TEST(back.code == 0, back.err);
  const auto unpinned = ask({"unpin", shard, "--rw"});
  BOOST_TEST(unpinned.err == "delete " + path() + "/operator/pin-000" + shard + " version=1\n");
  BOOST_TEST(group([](const auto& each) { return each.at("pins").as_array().empty(); }).at("owned").as_int64() == 6);
  BOOST_TEST(ask({"unpin", shard, "--rw"}).err ==
             "zkadmin: shard " + shard + " of " + path() + " is not pinned: nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(more_shards_than_a_share_can_be_pinned) {
  begin_with_two();
  for (const char* each : {"0", "1", "2", "3", "4"}) BOOST_TEST(ask({"transfer", each, "a", "--rw"}).code == 0);
  group([](const auto& each) { return owned_by(each, "a") == 5 && owned_by(each, "b") == 1; });
}

BOOST_AUTO_TEST_CASE(a_member_that_comes_back_gets_what_is_pinned_to_it) {
  begin_with_two();
  BOOST_TEST(ask({"transfer", "2", "b", "--wait", "--rw"}).code == 0);
  stop_member(1);
  const auto alone = group([](const auto& each) { return owned_by(each, "a") == 6; });
  BOOST_TEST(json::serialize(alone.at("pins")) == R"([{"shard":2,"member":"b","assigned_to":"a"}])");
  BOOST_TEST(ask({"transfer", "3", "b", "--rw"}).code == 1);
  add("b");
  group([](const auto& each) { return owned_by(each, "a") == 3 && owner_of(each, 2) == "b"; });
}

BOOST_AUTO_TEST_CASE(a_wait_tells_where_it_stands) {
  auto& a = add("a");
  wait_complete();
  auto& hold = a.hold_back();
  add("b");
  group([](const auto& each) { return each.at("moving").as_int64() == 3; });
  const auto waited = ask({"drain", "a", "--wait", "--for", "2s", "--rw"});
  BOOST_TEST(waited.code == 1);
  BOOST_TEST(waited.err.ends_with("\nzkadmin: a of " + path() + " has 6 shards after 2.0 s\n"), waited.err);
  hold.open();
  BOOST_TEST(ask({"drain", "a", "--wait"}).code == 0);
  BOOST_TEST(ask({"drain", "a", "--for", "300ms"}).code == 2);
}

BOOST_AUTO_TEST_CASE(a_shard_in_quarantine_is_not_transferred) {
  begin_with_two();
  create("/g/quarantine");
  create("/g/quarantine/0004");
  BOOST_TEST(ask({"transfer", "4", "a", "--rw"}).err ==
             "zkadmin: shard 4 of " + path() + " is in quarantine, release it first: nothing was sent\n");
  BOOST_TEST(ask({"transfer", "6", "a", "--rw"}).err ==
             "zkadmin: " + path() + " has no shard 6: its shards are 0 to 5: nothing was sent\n");
  BOOST_TEST(!contains("/g/operator"));
  create("/g/operator");
  create("/g/operator/pin-0001", "garbage");  // notes of others are not heeded, and harm nobody
  create("/g/operator/drain-%", "");
  create("/g/operator/other", "");
  BOOST_TEST(group_owning(shards - 1).at("pins").as_array().empty());
}

// The group is its members' to write, and everybody's to read, to extend and to remove.
BOOST_AUTO_TEST_CASE(what_an_operator_makes_has_the_acl_of_the_group) {
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  mine.default_acl = {{perm_all, "auth", ""}, {perm_read | perm_create | perm_delete, "world", "anyone"}};
  auto owner = connect(mine);
  for (const char* each : {"a", "b"}) add(each, 0ms, connect(mine));
  group([](const auto& each) { return owned_by(each, "a") == 3 && owned_by(each, "b") == 3; });
  const auto acl_of = [&](const std::string& node) { return std::get<1>(run(owner.async_get_acl(node, tuple))); };
  const std::string shown = " acl=digest:admin:cdrwa,world:anyone:cdr data=";
  const std::map<std::string, std::string> credentials{{"ZKADMIN_DIGEST", "admin:topsecret"}};
  const auto as_admin = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "group");
    words.insert(words.begin() + 2, path());
    return zkadmin(std::move(words), credentials);
  };

  for (const auto& words : std::vector<std::vector<std::string>>{{"drain", "b", "--rw"}, {"freeze", "--rw"}}) {
    const auto refused = ask(words);
    BOOST_TEST(refused.code == 5, refused.err);
    BOOST_TEST(refused.err.find("the ACL of " + path() + " is hidden from these credentials") != std::string::npos,
               refused.err);
  }
  BOOST_TEST((!contains("/g/operator") && !contains("/g/frozen")));
  const auto drained = as_admin({"drain", "b", "--rw"});
  BOOST_TEST(drained.code == 0, drained.err);
  BOOST_TEST(drained.err ==
             "create " + path() + "/operator" + shown + "\ncreate " + path() + "/operator/drain-b" + shown + "\n");
  const auto pinned = as_admin({"transfer", "0", "a", "--rw"});
  BOOST_TEST(pinned.code == 0, pinned.err);
  BOOST_TEST(pinned.err ==
             "create " + path() + "/operator/pin-0000" + shown + R"({"zkrecipes":"shard_pin","member":"a"})" + "\n");
  BOOST_TEST(as_admin({"freeze", "--rw"}).code == 0);
  for (const char* node : {"/g/operator", "/g/operator/drain-b", "/g/operator/pin-0000", "/g/frozen"}) {
    BOOST_TEST((acl_of(node) == acl_of("/g")), node);
    BOOST_TEST(std::get<0>(run(zk().async_set(node, "other", any_version, tuple))) == errc::no_auth, node);
  }
  BOOST_TEST(as_admin({"thaw", "--rw"}).code == 0);
  group([](const auto& each) { return owned_by(each, "a") == 6; });
}

BOOST_AUTO_TEST_SUITE_END()
