// Credentials, ACLs and the root path.
#include <boost/test/unit_test.hpp>

#include "ensemble/print.hpp"
#include "support/fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct access_case : fixture {
  session_options as(const std::string& user) {
    auto with = options();
    with.digest.push_back({user, "secret of " + user});
    with.default_acl = creator_acl();
    return with;
  }
  error_code read(session& which, const std::string& path) {
    catch_up(which);
    return std::get<0>(run(which.async_get(path, tuple)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(rights, access_case)

BOOST_AUTO_TEST_CASE(what_one_user_made_is_closed_to_others_on_every_connection) {
  create("/open");  // this makes the root, too
  session owner = connect(as("owner"));
  session other = connect(as("other"));
  auto made = run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST(!read(owner, "/open/closed"));
    BOOST_TEST(read(other, "/open/closed") == errc::no_auth);
    BOOST_TEST(std::get<0>(run(other.async_set("/open/closed", "", any_version, tuple))) == errc::no_auth);
    BOOST_TEST(read(zk(), "/open/closed") == errc::no_auth);
    cluster().proxy(server_of(owner)).cut();
    cluster().proxy(server_of(other)).cut();
  }
  catch_up(owner);  // because a removal whose connection breaks is not sent again
  BOOST_TEST(!std::get<0>(run(owner.async_remove("/open/closed", any_version, tuple))));
  remove("/open");
}

BOOST_AUTO_TEST_CASE(a_new_incarnation_has_the_credentials_too) {
  create("/open");
  session owner = connect(as("owner"));
  auto made = run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  cluster().expire(owner.status().session_id);
  BOOST_TEST(run_until([&] { return owner.status().incarnation == 2; }));
  BOOST_TEST(!read(owner, "/open/closed"));
  BOOST_TEST(!std::get<0>(run(owner.async_remove("/open/closed", any_version, tuple))));
  remove("/open");
}

BOOST_AUTO_TEST_CASE(credentials_that_are_added_open_a_node_on_this_connection_and_on_later_ones) {
  create("/open");
  session owner = connect(as("owner"));
  auto made = run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(made));
  session late = connect();
  BOOST_TEST(read(late, "/open/closed") == errc::no_auth);
  auto wrong = run(late.async_add_credentials({"owner", "wrong"}, tuple));
  BOOST_TEST(!std::get<0>(wrong), "a server takes any");
  BOOST_TEST(read(late, "/open/closed") == errc::no_auth);
  auto added = run(late.async_add_credentials({"owner", "secret of owner"}, tuple));
  BOOST_TEST(!std::get<0>(added));
  BOOST_TEST(late.counters().connects == 1u);
  BOOST_TEST(!read(late, "/open/closed"));
  for (int i = 0; i < 3; ++i) {
    cluster().proxy(server_of(late)).cut();
    BOOST_TEST(!read(late, "/open/closed"));
  }
  cluster().expire(late.status().session_id);
  BOOST_TEST(run_until([&] { return late.status().incarnation == 2; }));
  BOOST_TEST(!read(late, "/open/closed"));
  BOOST_TEST(!std::get<0>(run(late.async_remove("/open/closed", any_version, tuple))));
  remove("/open");
}

BOOST_AUTO_TEST_CASE(what_is_begun_behind_added_credentials_has_them) {
  create("/open");
  session late = connect();
  recorder<> adding(executor());
  recorder<created_node> creating(executor());
  late.async_add_credentials({"late", "secret"}, adding.token());
  late.async_create("/open/closed", "x", create_mode::persistent, creator_acl(), creating.token());
  BOOST_TEST(run_until([&] { return adding.done() && creating.done(); }));
  BOOST_TEST(!adding.error());
  BOOST_TEST(!creating.error(), creating.error().message());
  BOOST_TEST(read(zk(), "/open/closed") == errc::no_auth);
  BOOST_TEST(!std::get<0>(run(late.async_remove("/open/closed", any_version, tuple))));
  remove("/open");
}

BOOST_AUTO_TEST_CASE(an_address_is_an_identity_in_an_acl) {
  create("/open");
  const auto made_for = [&](const std::string& address) {
    auto made = run(zk().async_create("/open/node", "x", create_mode::persistent, acl{ip_entry(address)}, tuple));
    return std::get<0>(made);
  };
  BOOST_TEST(!made_for("127.0.0.0/8"));
  BOOST_TEST(!read(zk(), "/open/node"));
  remove("/open/node");
  BOOST_TEST(!made_for("10.1.0.0/16"));
  BOOST_TEST(read(zk(), "/open/node") == errc::no_auth);
  remove("/open/node");
  BOOST_TEST(made_for("2001:db8::1") == errc::invalid_acl);
  remove("/open");
}

BOOST_AUTO_TEST_CASE(an_acl_is_read_and_changed_if_its_version_is_the_expected_one) {
  create("/a");
  auto [error, before] = run(zk().async_get_acl("/a", tuple));
  BOOST_TEST(!error);
  BOOST_TEST((before == open_acl()));
  const acl readable{{perm_read | perm_admin, "world", "anyone"}};
  BOOST_TEST(!std::get<0>(run(zk().async_set_acl("/a", readable, 0, tuple))));
  BOOST_TEST(std::get<0>(run(zk().async_set_acl("/a", open_acl(), 0, tuple))) == errc::bad_version);
  BOOST_TEST((std::get<1>(run(zk().async_get_acl("/a", tuple))) == readable));
  BOOST_TEST(std::get<0>(run(zk().async_set("/a", "", any_version, tuple))) == errc::no_auth);
  const acl nonsense{{perm_all, "no-such-scheme", "x"}};
  BOOST_TEST(std::get<0>(run(zk().async_set_acl("/a", nonsense, any_version, tuple))) == errc::invalid_acl);
  remove("/a");
}

BOOST_AUTO_TEST_CASE(the_creators_acl_without_credentials_is_refused) {
  auto made = run(zk().async_create("/a", "", create_mode::persistent, creator_acl(), tuple));
  BOOST_TEST(std::get<0>(made) == errc::invalid_acl);
  BOOST_TEST(children("/").empty());
}

BOOST_AUTO_TEST_CASE(a_root_is_made_with_its_parents_or_must_be_there) {
  create("/x");
  auto with = options();
  with.root = root() + "/x/y/z";
  with.create_root = false;
  session without = connect(with);
  BOOST_TEST(read(without, "/a") == errc::no_node);
  BOOST_TEST(std::get<0>(run(without.async_create("/a", "", create_mode::persistent, tuple))) == errc::no_node);
  with.hosts += root() + "/x/y";  // a root in the hosts goes in front
  with.root = "/z";
  with.create_root = true;
  session one = connect(with);
  auto [error, made] = run(one.async_create("/a", "", create_mode::persistent, tuple));
  BOOST_TEST(!error);
  BOOST_TEST(made.path == "/a", "paths are told below the root");
  for (auto path : {"/x/y/z/a", "/x/y/z", "/x/y", "/x"}) remove(path);
}

BOOST_AUTO_TEST_SUITE_END()
