// `zkadmin lock` and `zkadmin lead` in a tree that is not open to everybody.
#include <signal.h>

#include "live/hold_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using words = std::vector<std::string>;

const acl_entry everybody{perm_read | perm_create | perm_delete, "world", "anyone"};

struct rights_fixture : hold_fixture {
  rights_fixture() {
    auto mine = options();
    mine.digest.push_back({"admin", "topsecret"});
    owner = connect(mine);
  }
  void teardown() {
    owner.reset();
    admin_fixture::teardown();
  }

  /// Closed to others but for what they need to be in line, and to clear up.
  void make_closed(const std::string& name) {
    leaves(name);
    const auto made =
        run(owner->async_create(name, "", create_mode::persistent, {{perm_all, "auth", ""}, everybody}, tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(made), std::get<0>(made).message());
  }

  acl acl_of(const std::string& name) {
    settle(*owner);
    return std::get<1>(run(owner->async_get_acl(name, tuple)));
  }

  running_program start_as_admin(const std::string& command, const std::string& name, const words& more = {}) {
    return start(words{command, root() + name} + more + witness("w"), {{"ZKADMIN_DIGEST", "admin:topsecret"}});
  }

  /// The place in line at `name` has this ACL. Ends the command.
  void check_place(running_program& running, const std::string& name, const acl& expected) {
    BOOST_TEST_REQUIRE(begins("w"));
    const auto place = name + "/" + children(name).at(0);
    BOOST_TEST((acl_of(place) == expected));
    running.send(SIGTERM);
    const auto ended = running.wait();
    BOOST_TEST(ended.code == 128 + SIGTERM);
    BOOST_TEST(ended.err == "");
    BOOST_TEST(length(name) == 0);
  }

  std::optional<session> owner;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hold_rights_suite, rights_fixture)

BOOST_AUTO_TEST_CASE(a_place_in_line_has_the_acl_of_the_line) {
  make_closed("/l");
  for (const std::string command : {"lock", "lead"}) {
    auto running = start_as_admin(command, "/l");
    BOOST_TEST_REQUIRE(begins("w"));
    const auto place = "/l/" + children("/l").at(0);
    BOOST_TEST(std::get<0>(run(zk().async_set(place, "other", any_version, tuple))) == errc::no_auth);
    check_place(running, "/l", acl_of("/l"));
    std::filesystem::remove(file("w"));
  }
}

BOOST_AUTO_TEST_CASE(permits_have_the_acl_of_the_semaphore) {
  make_closed("/s");
  auto running = start_as_admin("lock", "/s", {"-n", "2"});
  BOOST_TEST_REQUIRE(begins("w"));
  for (const auto& each : children("/s")) BOOST_TEST((acl_of("/s/" + each) == acl_of("/s")), each);
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_line_that_is_made_has_the_acl_of_the_nearest_node_above) {
  make_closed("/app");
  leaves("/app/jobs");
  leaves("/app/jobs/report");
  auto running = start_as_admin("lock", "/app/jobs/report");
  BOOST_TEST_REQUIRE(begins("w"));
  const auto closed = acl_of("/app");
  BOOST_TEST((acl_of("/app/jobs") == closed));
  BOOST_TEST((acl_of("/app/jobs/report") == closed));
  check_place(running, "/app/jobs/report", closed);
}

BOOST_AUTO_TEST_CASE(an_open_line_stays_open) {
  leaves("/l");
  create("/l");
  auto running = start_as_admin("lock", "/l");
  check_place(running, "/l", open_acl());
}

// Its place could not have the ACL that is hidden from it, and would be open.
BOOST_AUTO_TEST_CASE(nobody_gets_in_line_to_whom_the_acl_is_hidden) {
  make_closed("/l");
  for (const std::string command : {"lock", "lead"}) {
    BOOST_TEST(fails(finish({command, root() + "/l", "--", "true"}), 125,
                     "the ACL of " + root() + "/l is hidden from these credentials"));
  }
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
