// A real server that serves only sessions with credentials, and its superuser.
#include <chrono>
#include <fstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/session.hpp>

#include <testcluster/ensemble.hpp>

#include "ensemble/print.hpp"
#include "support/coroutine.hpp"
#include "support/single_server.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

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
