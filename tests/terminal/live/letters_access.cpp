// The ACL of what `zkadmin queue requeue` puts back, against real servers.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <zkrecipes/queue.hpp>

#include "live/recipe_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// A queue that is its owner's to write, and everybody's to read, to fill and to empty.
struct letters_access_fixture : recipe_fixture {
  const std::map<std::string, std::string> credentials{{"ZKADMIN_DIGEST", "admin:topsecret"}};
  const std::string path = root() + "/q";

  session connect_owner() {
    auto mine = options();
    mine.digest.push_back({"admin", "topsecret"});
    mine.default_acl = {{perm_all, "auth", ""}, {perm_read | perm_create | perm_delete, "world", "anyone"}};
    return connect(mine);
  }
  void bury_one(queue& from, const std::string& data) {
    BOOST_TEST_REQUIRE(!std::get<0>(run(from.async_put(data, tuple))));
    auto taken = run(from.async_take(tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(taken));
    BOOST_TEST_REQUIRE(!std::get<0>(run(from.async_reject(std::get<1>(taken), "no luck", tuple))));
  }
  std::vector<std::string> sorted_children(const std::string& node) {
    auto names = children(node);
    std::erase_if(names, [](const std::string& each) { return each.starts_with('_'); });
    std::ranges::sort(names);
    return names;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(letters_access_suite, letters_access_fixture)

BOOST_AUTO_TEST_CASE(an_item_that_is_put_back_has_the_acl_of_its_queue) {
  removes("/q");
  auto owner = connect_owner();
  queue jobs(owner, "/q");
  for (const auto* each : {"old", "older"}) bury_one(jobs, each);
  const auto acl_of = [&](const std::string& node) { return std::get<1>(run(owner.async_get_acl(node, tuple))); };

  const auto refused = zkadmin({"queue", "requeue", path, "--all", "--rw"});
  BOOST_TEST(refused.code == 5, refused.err);
  BOOST_TEST(refused.err.find("the ACL of " + path + " is hidden from these credentials") != std::string::npos,
             refused.err);
  BOOST_TEST(sorted_children("/q").empty());
  const auto letters = sorted_children("/q/_dead");
  BOOST_TEST_REQUIRE(letters.size() == 2u);
  const auto one = zkadmin({"queue", "requeue", path, letters[0], "--rw"}, credentials);
  BOOST_TEST(one.code == 0, one.err);
  BOOST_TEST(one.err == "delete " + path + "/_dead/" + letters[0] + " version=0\ncreate " + path +
                            "/qn-N acl=digest:admin:cdrwa,world:anyone:cdr data=old\n");
  const auto rest = zkadmin({"queue", "requeue", path, "--all", "--rw"}, credentials);
  BOOST_TEST(rest.code == 0, rest.err);
  const auto items = sorted_children("/q");
  BOOST_TEST_REQUIRE(items.size() == 2u);
  for (const auto& each : items) {
    const auto node = "/q/" + each;
    BOOST_TEST((acl_of(node) == acl_of("/q")), node);
    BOOST_TEST(std::get<0>(run(zk().async_set(node, "other", any_version, tuple))) == errc::no_auth, node);
  }
  BOOST_TEST(get("/q/" + items[0]).data == "old");
}

BOOST_AUTO_TEST_SUITE_END()
