// `zkadmin group drain`, `undrain`, `transfer` and `unpin` against real servers.
#include <map>
#include <sstream>
#include <vector>

#include "live/group_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
namespace json = boost::json;

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
  BOOST_TEST(back.err == "set " + path() + "/operator/pin-000" + shard +
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
