// Credentials, ACLs and the root path.
#include <chrono>
#include <fstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include <testcluster/ensemble.hpp>

#include "ensemble/print.hpp"
#include "support/coroutine.hpp"
#include "support/fixture.hpp"
#include "support/single_server.hpp"

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
  must(run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple)));
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
  must(run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple)));
  cluster().expire(owner.status().session_id);
  BOOST_TEST(run_until([&] { return owner.status().incarnation == 2; }));
  BOOST_TEST(!read(owner, "/open/closed"));
  BOOST_TEST(!std::get<0>(run(owner.async_remove("/open/closed", any_version, tuple))));
  remove("/open");
}

BOOST_AUTO_TEST_CASE(credentials_that_are_added_open_a_node_on_this_connection_and_on_later_ones) {
  create("/open");
  session owner = connect(as("owner"));
  must(run(owner.async_create("/open/closed", "x", create_mode::persistent, tuple)));
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

// A real server that serves only sessions with credentials, and its superuser.

namespace {

testcluster::ensemble& demanding_server() {
  static testcluster::ensemble shared(single_server({.digest_superuser = true, .auth_required = true}));
  return shared;
}

struct demanding_case {
  asio::io_context io;
  testcluster::ensemble& cluster = demanding_server();
  std::string told;

  session connect(std::vector<credentials> with) {
    session_options options;
    options.hosts = cluster.hosts();
    options.timeout = 5s;
    options.digest = std::move(with);
    options.log = [this](const log_event& each) { told += to_string(each) + '\n'; };
    return session(io.get_executor(), std::move(options));
  }
  credentials superuser() {
    std::string line;
    std::getline(std::ifstream(cluster.superuser_file()), line);
    const auto colon = line.find(':');
    return {line.substr(0, colon), line.substr(colon + 1)};
  }
  template <class T>
  T run(asio::awaitable<T> body) {
    return run_coroutine(io, std::move(body));
  }
  error_code read(session& zk, const std::string& path) { return std::get<0>(run(zk.async_get(path, tuple))); }
  error_code create(session& zk, const std::string& path, acl access) {
    auto made = run(zk.async_create(path, "data", create_mode::persistent, std::move(access), tuple));
    return std::get<0>(made);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(demanding_servers, demanding_case)

BOOST_AUTO_TEST_CASE(any_credentials_are_served) {
  session zk = connect({{"anybody", "anything"}});
  BOOST_TEST(!read(zk, "/"));
  BOOST_TEST(zk.status().failures.empty());
  run(zk.async_close(tuple));
}

BOOST_AUTO_TEST_CASE(a_session_without_any_is_told_why_and_served_once_it_has_some) {
  session zk = connect({});
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST_REQUIRE(run_until(io, [&] { return !zk.status().failures.empty(); }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 2s));
  const auto failure = zk.status().failures.front();
  BOOST_TEST((failure.reason == failure_reason::authentication), to_string(failure.reason));
  BOOST_TEST((failure.error == errc::auth_required), failure.error.message());
  BOOST_TEST(told.find("session_options::digest") != std::string::npos, told);
  BOOST_TEST(run_until(io, [&] { return zk.counters().connects >= 5; }));
  BOOST_TEST((std::chrono::steady_clock::now() - begin > 300ms), "it is asked again with growing pauses");
  auto added = run(zk.async_add_credentials({"anybody", "hush"}, tuple));
  BOOST_TEST(!std::get<0>(added));
  BOOST_TEST(!read(zk, "/"));
  BOOST_TEST(zk.status().failures.empty());
  BOOST_TEST(told.find("hush") == std::string::npos, told);
  run(zk.async_close(tuple));
}

BOOST_AUTO_TEST_CASE(a_session_without_any_is_closed_without_delay) {
  session zk = connect({});
  BOOST_TEST_REQUIRE(run_until(io, [&] { return !zk.status().failures.empty(); }));
  const auto begin = std::chrono::steady_clock::now();
  auto closed = run(zk.async_close(tuple));
  BOOST_TEST(!std::get<0>(closed));
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 2s));
}

BOOST_AUTO_TEST_CASE(the_superuser_reads_what_is_closed_to_all) {
  session owner = connect({{"owner", "secret"}});
  BOOST_TEST(!create(owner, "/closed", {digest_entry({"nobody", "nobody knows"})}));
  BOOST_TEST(read(owner, "/closed") == errc::no_auth);
  session super = connect({superuser()});
  BOOST_TEST(!read(super, "/closed"));
  session late = connect({{"owner", "secret"}});
  BOOST_TEST(read(late, "/closed") == errc::no_auth);
  BOOST_TEST(!std::get<0>(run(late.async_add_credentials(superuser(), tuple))));
  BOOST_TEST(!read(late, "/closed"));
  BOOST_TEST(!std::get<0>(run(super.async_remove("/closed", any_version, tuple))));
  for (auto* each : {&owner, &super, &late}) run(each->async_close(tuple));
}

BOOST_AUTO_TEST_CASE(an_acl_names_another_user) {
  session owner = connect({{"owner", "secret"}});
  session other = connect({{"other", "of:another"}});
  BOOST_TEST(!create(owner, "/shared", {auth_entry(), digest_entry({"other", "of:another"}, perm_read)}));
  BOOST_TEST(!read(other, "/shared"));
  auto written = run(other.async_set("/shared", "", any_version, tuple));
  BOOST_TEST(std::get<0>(written) == errc::no_auth);
  session wrong = connect({{"other", "of:a stranger"}});
  BOOST_TEST(read(wrong, "/shared") == errc::no_auth);
  BOOST_TEST(!std::get<0>(run(owner.async_remove("/shared", any_version, tuple))));
  for (auto* each : {&owner, &other, &wrong}) run(each->async_close(tuple));
}

BOOST_AUTO_TEST_SUITE_END()
