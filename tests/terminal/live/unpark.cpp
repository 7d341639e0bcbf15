// `zkadmin queue unpark` against real servers.
#include <algorithm>

#include "live/recipe_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

constexpr const char* mark_of_k = "01234567-89ab-5cde-8123-456789abcdef";
constexpr const char* mark_of_j = "11234567-89ab-5cde-8123-456789abcdef";

struct unpark_fixture : recipe_fixture {
  unpark_fixture() {
    removes("/q");
    create("/q");
    make_folders("/q");
  }

  std::string at(const std::string& path) const { return root() + path; }
  std::string mark() const { return at("/q/_parked/") + mark_of_k; }

  void make_folders(const std::string& side) {
    create(side + "/_dead");
    create(side + "/_parked");
  }

  /// A parked key with letters of these items, as a consumer leaves it.
  void park(const std::string& side, const std::string& mark, const std::string& key,
            const std::vector<std::string>& items) {
    create(side + "/_parked/" + mark, R"({"zkrecipes":"parked_key","key":")" + key + "\"}");
    create(side + "/_parked/" + mark + "/p-1");
    for (std::size_t i = 0; i < items.size(); ++i) {
      create(side + "/_dead/" + mark + "-letter-000000000" + std::to_string(i),
             R"({"zkrecipes":"dead_letter","item":")" + items[i] + R"(","attempts":3,"reason":"no luck","key":")" +
                 key + "\"}\n" + items[i]);
    }
  }

  program_result unpark(const std::string& key, std::vector<std::string> more = {},
                        const std::map<std::string, std::string>& environment = {}) {
    more.insert(more.begin(), {"queue", "unpark", at("/q"), key});
    return zkadmin(std::move(more), environment);
  }

  std::vector<std::string> items(const std::string& path) {
    auto names = children(path);
    std::erase_if(names, [](const std::string& each) { return each.starts_with("_"); });
    std::sort(names.begin(), names.end());
    return names;
  }
};

using name_list = std::vector<std::string>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(unpark_suite, unpark_fixture)

BOOST_AUTO_TEST_CASE(the_letters_of_a_key_get_their_old_places) {
  park("/q", mark_of_k, "k", {"qn-0000000001", "qn-0000000002"});
  park("/q", mark_of_j, "j", {"qn-0000000003"});
  const auto shown = unpark("k");
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(shown.out == "# then puts 2 messages back in order, and removes the mark\ncheck " + mark() + "/p-1\nset " +
                              mark() + R"( version=0 data={"zkrecipes":"parked_key","key":"k"})" + "\n");
  BOOST_TEST(shown.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(items("/q") == name_list());
  BOOST_TEST(get(std::string("/q/_parked/") + mark_of_k).stat.version == 0);

  const auto done = unpark("k", {"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(done.out == "holds the key, with 2 messages\nunparked: 2 messages back in " + at("/q") + "\n");
  BOOST_TEST(items("/q") == (name_list{"qn-0000000001", "qn-0000000002"}));
  BOOST_TEST(get("/q/qn-0000000002").data == "qn-0000000002");
  BOOST_TEST(children("/q/_parked") == name_list{mark_of_j});
  BOOST_TEST(children("/q/_dead") == name_list{std::string(mark_of_j) + "-letter-0000000000"});

  const auto by_mark = unpark(mark_of_j, {"--rw"});
  BOOST_TEST(by_mark.code == 0, by_mark.err);
  BOOST_TEST(items("/q").size() == 3u);
  const auto again = unpark("k", {"--rw"});
  BOOST_TEST(again.code == 1);
  BOOST_TEST(again.err == "zkadmin: no key k of " + at("/q") + " is parked; those that are: -: nothing was sent\n");
}

BOOST_AUTO_TEST_CASE(what_was_interrupted_is_completed) {
  park("/q", mark_of_k, "k", {"qn-0000000001", "qn-0000000002"});
  remove(std::string("/q/_dead/") + mark_of_k + "-letter-0000000000");
  create("/q/qn-0000000001", "qn-0000000001");
  const auto held = run(zk().async_set(std::string("/q/_parked/") + mark_of_k, "", any_version, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(held));
  const auto done = unpark(mark_of_k, {"--rw"});
  BOOST_TEST(done.code == 0, done.err);
  BOOST_TEST(items("/q") == (name_list{"qn-0000000001", "qn-0000000002"}));
  BOOST_TEST(children("/q/_parked") == name_list());
}

BOOST_AUTO_TEST_CASE(queues_of_other_kinds) {
  removes("/q-side");
  create("/q-side");
  make_folders("/q-side");
  park("/q-side", mark_of_k, "k", {"entry-009-0000000001"});
  const auto priority = unpark("k");
  BOOST_TEST(priority.out.find("set " + at("/q-side/_parked/") + mark_of_k) != std::string::npos, priority.out);
  park("/q", mark_of_j, "j", {"at-0000000000000007-0000000001"});
  const auto delayed = unpark("j", {"--rw"});
  BOOST_TEST(delayed.code == 0, delayed.err);
  BOOST_TEST(items("/q") == name_list{"at-0000000000000007-0000000001"});
}

// The queue was removed and made again since: another item may get a name of old.
BOOST_AUTO_TEST_CASE(places_that_may_be_taken_are_not_given_back) {
  removes("/q-side");
  create("/q-side");
  make_folders("/q-side");
  park("/q-side", mark_of_k, "k", {"entry-009-0000000001"});
  for (const char* each : {"/q/_dead", "/q/_parked", "/q"}) remove(each);
  create("/q");
  const auto refused = unpark("k", {"--rw"});
  BOOST_TEST(refused.code == 1);
  BOOST_TEST(refused.err.find("was removed since the key was parked") != std::string::npos, refused.err);
  BOOST_TEST(get(std::string("/q-side/_parked/") + mark_of_k).stat.version == 0);
}

BOOST_AUTO_TEST_CASE(items_have_the_acl_of_the_queue) {
  park("/q", mark_of_k, "k", {"qn-0000000001"});
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  auto owner = connect(mine);
  const acl closed{{perm_all, "auth", ""}, {perm_read | perm_create | perm_delete, "world", "anyone"}};
  BOOST_TEST_REQUIRE(!std::get<0>(run(owner.async_set_acl("/q", closed, any_version, tuple))));
  settle(zk());
  const auto refused = unpark("k", {"--rw"});
  BOOST_TEST(refused.code == 5, refused.err);
  BOOST_TEST(get(std::string("/q/_parked/") + mark_of_k).stat.version == 0);
  const auto done = unpark("k", {"--rw"}, {{"ZKADMIN_DIGEST", "admin:topsecret"}});
  BOOST_TEST(done.code == 0, done.err);
  settle(owner);
  const auto acl_of = [&](const std::string& node) { return std::get<1>(run(owner.async_get_acl(node, tuple))); };
  BOOST_TEST((acl_of("/q/qn-0000000001") == acl_of("/q")));
}

BOOST_AUTO_TEST_SUITE_END()
