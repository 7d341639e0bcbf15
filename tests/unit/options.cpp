// Every field of the options is checked, and a refusal names the field.
#include <boost/test/unit_test.hpp>

#include <zkrecipes/consumer/consumer_coordinator.hpp>
#include <zkrecipes/election.hpp>
#include <zkrecipes/queue.hpp>

#include "session/core.hpp"
#include "support/fake_world.hpp"
#include "unit/refusal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;

namespace {

using change = std::function<void(session_options&)>;

std::string message_for(const change& make_bad) {
  return refusal([&] {
    session_options options;
    options.hosts = "127.0.0.1";
    make_bad(options);
    detail::check(options);
  });
}

void check_refused(const std::string& field, const change& make_bad) {
  const auto message = message_for(make_bad);
  BOOST_TEST(message.find(field) != std::string::npos, "for " << field << ": \"" << message << '"');
}

void check_accepted(const std::string& what, const change& make) { BOOST_TEST(message_for(make) == "", what); }

}  // namespace

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(defaults_are_good_and_hosts_are_needed) {
  check_accepted("defaults", [](auto&) {});
  check_refused("hosts", [](auto& o) { o.hosts = ""; });
}

BOOST_AUTO_TEST_CASE(root_is_a_path) {
  check_accepted("root", [](auto& o) { o.root = "/a/b"; });
  check_refused("session_options::root", [](auto& o) { o.root = "a"; });
  check_refused("session_options::root", [](auto& o) { o.root = "/a/"; });
}

BOOST_AUTO_TEST_CASE(timeout_is_from_100_ms_to_1_h) {
  check_accepted("100 ms", [](auto& o) { o.timeout = 100ms; });
  check_accepted("1 h", [](auto& o) { o.timeout = 1h; });
  check_refused("timeout is 99 ms; it must be from 100 to 3600000 ms", [](auto& o) { o.timeout = 99ms; });
  check_refused("timeout", [](auto& o) { o.timeout = 1h + 1ms; });
  check_refused("timeout", [](auto& o) { o.timeout = -1ms; });
}

BOOST_AUTO_TEST_CASE(connect_timeout_is_zero_or_up_to_1_h) {
  check_accepted("0", [](auto& o) { o.connect_timeout = 0ms; });
  check_refused("connect_timeout", [](auto& o) { o.connect_timeout = -1ms; });
  check_refused("connect_timeout", [](auto& o) { o.connect_timeout = 1h + 1ms; });
}

BOOST_AUTO_TEST_CASE(lease_margin_is_zero_or_up_to_the_timeout) {
  check_accepted("all of it", [](auto& o) { o.lease_margin = o.timeout; });
  check_refused("lease_margin", [](auto& o) { o.lease_margin = -1ms; });
  check_refused("lease_margin", [](auto& o) { o.lease_margin = o.timeout + 1ms; });
}

BOOST_AUTO_TEST_CASE(retry_has_bounds) {
  check_accepted("no limit", [](auto& o) { o.retry.limit = 0ms; });
  check_refused("retry.limit", [](auto& o) { o.retry.limit = -1ms; });
  check_refused("retry.limit", [](auto& o) { o.retry.limit = 24h + 1ms; });
  check_refused("retry.first_pause", [](auto& o) { o.retry.first_pause = 0ms; });
  check_refused("retry.first_pause", [](auto& o) { o.retry.first_pause = 1h + 1ms; });
  check_refused("retry.max_pause", [](auto& o) { o.retry.max_pause = o.retry.first_pause - 1ms; });
  check_refused("retry.max_pause", [](auto& o) { o.retry.max_pause = 1h + 1ms; });
}

BOOST_AUTO_TEST_CASE(a_digest_user_is_needed_and_the_secret_is_never_told) {
  check_accepted("a colon in the password", [](auto& o) { o.digest = {{"u", "p:q"}}; });
  check_refused("digest", [](auto& o) { o.digest = {{"", "hush"}}; });
  check_refused("digest", [](auto& o) { o.digest = {{"a:b", "hush"}}; });
  const auto message = message_for([](auto& o) { o.digest = {{"a:b", "hush"}}; });
  BOOST_TEST(message.find("hush") == std::string::npos);
}

// A C string would end there.
BOOST_AUTO_TEST_CASE(credentials_and_acls_have_no_nul_bytes) {
  const std::string cut("a\0b", 3);
  check_refused("session_options::digest", [&](auto& o) { o.digest = {{cut, "hush"}}; });
  check_refused("session_options::digest", [&](auto& o) { o.digest = {{"u", cut}}; });
  check_refused("session_options::digest", [&](auto& o) {
    o.digest = {{"u", "x"}, {"v", std::string(64 << 10, 'x')}};
  });
  check_accepted("an ACL", [](auto& o) { o.default_acl = open_acl(); });
  check_refused("session_options::default_acl", [&](auto& o) { o.default_acl = {{perm_all, cut, "anyone"}}; });
  check_refused("session_options::default_acl", [&](auto& o) { o.default_acl = {{perm_all, "digest", cut}}; });
}

BOOST_AUTO_TEST_CASE(a_session_without_an_executor_is_refused) {
  session_options options;
  options.hosts = "127.0.0.1";
  const auto message = refusal([&] { session(asio::any_io_executor(), options); });
  BOOST_TEST(message.starts_with("session executor"), message);
}

BOOST_AUTO_TEST_CASE(a_bad_session_is_refused_at_construction) {
  asio::io_context io;
  const auto message = refusal([&] { session(io.get_executor(), session_options{}); });
  BOOST_TEST(message.find("hosts") != std::string::npos, message);
}

BOOST_AUTO_TEST_CASE(recipes_name_their_bad_arguments) {
  fake_bench bench;
  session_options options;
  options.hosts = "127.0.0.1";
  auto zk = bench.make_session(options);
  BOOST_TEST(refusal([&] { election(zk, "e", {"me"}); }).starts_with("election path \"e\""));
  BOOST_TEST(refusal([&] { election(zk, "/e", {""}); }).starts_with("election_options::id"));
  BOOST_TEST(refusal([&] { queue(zk, "/q/"); }).starts_with("queue path"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), ""); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), "a/b"); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { producer(queue(zk, "/q"), "\xff"); }).starts_with("producer name"));
  BOOST_TEST(refusal([&] { election(zk, "/e\xff", {"me"}); }).find("UTF-8") != std::string::npos);
  const auto batches = [&](std::size_t most) { producer(queue(zk, "/q"), "p", {.max_batch = most}); };
  const auto lingers = [&](std::chrono::milliseconds time) { producer(queue(zk, "/q"), "p", {.linger = time}); };
  BOOST_TEST(refusal([&] { batches(0); }).starts_with("producer_options::max_batch is 0;"));
  BOOST_TEST(refusal([&] { batches(1001); }).starts_with("producer_options::max_batch is 1001;"));
  BOOST_TEST(refusal([&] { lingers(-1ms); }).starts_with("producer_options::linger is -1 ms;"));
  BOOST_TEST(refusal([&] { lingers(60'001ms); }).starts_with("producer_options::linger is 60001 ms;"));
  BOOST_TEST(refusal([&] {
               batches(1);
               batches(1000);
               lingers(60s);
             }) == "");
  BOOST_TEST(refusal([&] { consumer_coordinator(zk, "", {"me"}); }).starts_with("coordinator path"));
  BOOST_TEST(refusal([&] { consumer_coordinator(zk, "/c", {"a\n"}); }).starts_with("consumer_coordinator_options::id"));
  BOOST_TEST(refusal([&] {
               consumer_coordinator(zk, "/c", {"me", -1ms});
             }).starts_with("consumer_coordinator_options::rest"));
  BOOST_TEST(refusal([&] {
               consumer_coordinator(zk, "/c", {"me", 2h});
             }).starts_with("consumer_coordinator_options::rest"));
}

BOOST_AUTO_TEST_SUITE_END()
