// Credentials that are added to a living session, in the fake world.
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <zkrecipes/log.hpp>

#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

const credentials added_user{"user", "hush"};

struct credentials_case : fake_session {
  credentials_case() : fake_session(logged()) {}

  static session_options logged() {
    auto options = usual();
    options.log = [](const log_event& each) { told().push_back(to_string(each)); };
    options.trace = [](const trace_event& each) {
      told().push_back(std::string(each.operation) + ' ' + std::string(each.path));
    };
    options.jute_maxbuffer = 4096;
    told().clear();
    return options;
  }
  static strings& told() {
    static strings all;
    return all;
  }
  recorder<> add(const credentials& added) {
    auto adding = record<>();
    zk.async_add_credentials(added, adding.token());
    settle();
    return adding;
  }
  static error_code refused() { return boost::system::errc::make_error_code(boost::system::errc::connection_refused); }
  static bool is_cancelled(const recorder<>& which) {
    return which.done() && which.error() == asio::error::operation_aborted;
  }
  std::vector<std::string> users() {
    std::vector<std::string> all;
    for (const auto& each : last().options.digest) all.push_back(each.user + ':' + each.password);
    return all;
  }
  /// `authenticate` of these is the oldest request without an answer.
  void check_given(const std::string& secret) {
    const auto what = answer();
    BOOST_TEST((what.op == backend::opcode::authenticate));
    BOOST_TEST(what.secret->user + ':' + what.secret->password == secret);
  }
};

#define CHECK_USERS(...) BOOST_TEST(users() == (strings{__VA_ARGS__}), boost::test_tools::per_element())

}  // namespace

BOOST_FIXTURE_TEST_SUITE(added_credentials, credentials_case)

BOOST_AUTO_TEST_CASE(they_are_sent_at_once_and_every_later_connection_begins_with_them) {
  connect();
  auto adding = add(added_user);
  CHECK_PENDING("authenticate /");
  BOOST_TEST(!adding.done());
  check_given("user:hush");
  BOOST_TEST_REQUIRE(adding.done());
  BOOST_TEST(!adding.error());
  reconnect();
  CHECK_USERS("user:hush");
  CHECK_PENDING();
  expire();
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(what_is_begun_afterwards_is_sent_behind_them) {
  connect();
  auto adding = add(added_user);
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  CHECK_PENDING("authenticate /", "get /a");
}

BOOST_AUTO_TEST_CASE(without_a_connection_the_next_one_brings_them) {
  connect();
  lose(refused());
  lose(refused());
  auto adding = add(added_user);
  BOOST_TEST(!adding.done());
  advance(5s);
  CHECK_USERS("user:hush");
  accept(0x77);
  CHECK_PENDING("multi /", "authenticate /");
  answer();
  check_given("user:hush");
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(a_connection_that_was_begun_before_gets_them_ahead_of_everything_else) {
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  auto adding = add(added_user);
  adding.cancel();
  settle();
  BOOST_TEST(is_cancelled(adding));
  CHECK_USERS();
  accept(0x77);
  CHECK_PENDING("authenticate /", "sync /", "get /a");
  check_given("user:hush");
}

BOOST_AUTO_TEST_CASE(a_lost_reply_is_waited_for_on_the_next_connection) {
  connect();
  auto adding = add(added_user);
  lose();
  BOOST_TEST(!adding.done());
  CHECK_USERS("user:hush");
  accept(0x77);
  answer();
  check_given("user:hush");
  BOOST_TEST(adding.calls() == 1);
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(a_cancelled_wait_leaves_them_with_the_session) {
  connect();
  auto adding = add(added_user);
  adding.cancel();
  settle();
  BOOST_TEST(is_cancelled(adding));
  check_given("user:hush");
  reconnect();
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(no_connection_in_time_leaves_them_with_the_session) {
  auto adding = add(added_user);
  for (int i = 0; i < 60 && !adding.done(); ++i) advance(1s);
  BOOST_TEST((adding.error() == errc::connection_loss), adding.error().message());
  CHECK_USERS("user:hush");
}

BOOST_AUTO_TEST_CASE(the_same_ones_again_are_answered_and_not_kept_twice) {
  connect();
  for (int i = 0; i < 3; ++i) {
    auto adding = add(added_user);
    check_given("user:hush");
    BOOST_TEST(!adding.error());
  }
  auto other = add({"user", "another"});
  check_given("user:another");
  reconnect();
  CHECK_USERS("user:hush", "user:another");
}

BOOST_AUTO_TEST_CASE(those_that_no_server_could_read_are_refused_and_not_kept) {
  connect();
  const std::string cut("a\0b", 3);
  for (const auto& bad : {credentials{"", "hush"}, {"a:b", "hush"}, {cut, "hush"}, {"u", cut}}) {
    auto adding = add(bad);
    BOOST_TEST_REQUIRE(adding.done());
    BOOST_TEST((adding.error() == errc::bad_arguments));
  }
  auto large = add({"u", std::string(4096, 'x')});
  BOOST_TEST((large.error() == errc::too_large));
  CHECK_PENDING();
  reconnect();
  CHECK_USERS();
}

BOOST_AUTO_TEST_CASE(there_is_room_for_32) {
  connect();
  for (int i = 0; i < 32; ++i) {
    auto adding = add({"user" + std::to_string(i), "hush"});
    answer();
    BOOST_TEST(!adding.error());
  }
  auto adding = add(added_user);
  BOOST_TEST((adding.error() == errc::full), adding.error().message());
  auto known = add({"user7", "hush"});
  check_given("user7:hush");
  BOOST_TEST(!known.error());
  reconnect();
  BOOST_TEST(users().size() == 32u);
}

BOOST_AUTO_TEST_CASE(there_is_room_for_64_KiB) {
  connect();
  for (int i = 10; i < 26; ++i) {
    auto adding = add({std::to_string(i), std::string(4'000, 'x')});
    answer();
    BOOST_TEST(!adding.error());
  }
  const std::string rest((64 << 10) - 16 * 4'002 - 1, 'x');
  auto too_long = add({"u", rest + 'x'});
  BOOST_TEST((too_long.error() == errc::full), too_long.error().message());
  CHECK_PENDING();
  auto fitting = add({"u", rest});
  check_given("u:" + rest);
  BOOST_TEST(!fitting.error());
  auto one_more = add({"v", ""});
  BOOST_TEST((one_more.error() == errc::full), one_more.error().message());
  reconnect();
  BOOST_TEST(users().size() == 17u);
}

BOOST_AUTO_TEST_CASE(refused_ones_end_the_session_object) {
  connect();
  auto adding = add(added_user);
  lose(errc::auth_failed);
  BOOST_TEST((adding.error() == errc::auth_failed));
  BOOST_TEST((zk.status().state == session_state::closed));
  auto again = add(added_user);
  BOOST_TEST((again.error() == errc::auth_failed));
}

BOOST_AUTO_TEST_CASE(a_closed_session_takes_none) {
  connect();
  auto closing = record<>();
  zk.async_close(closing.token());
  auto adding = add(added_user);
  BOOST_TEST((adding.error() == errc::closed));
  lose(errc::closed);
  auto late = add(added_user);
  BOOST_TEST((late.error() == errc::closed));
  session none;
  auto nowhere = record<>();
  none.async_add_credentials(added_user, nowhere.token());
  settle();
  BOOST_TEST((nowhere.error() == errc::closed));
}

BOOST_AUTO_TEST_CASE(a_close_ends_the_wait) {
  connect();
  auto adding = add(added_user);
  auto closing = record<>();
  zk.async_close(closing.token());
  settle();
  lose(errc::closed);
  BOOST_TEST((adding.error() == errc::closed), adding.error().message());
}

BOOST_AUTO_TEST_CASE(a_throttled_server_is_asked_again) {
  connect();
  auto adding = add(added_user);
  throttle();
  BOOST_TEST(!adding.done());
  advance(5s);
  check_given("user:hush");
  BOOST_TEST(!adding.error());
}

BOOST_AUTO_TEST_CASE(nothing_that_is_told_holds_the_secret) {
  connect();
  auto adding = add(added_user);
  fail(errc::server_error);
  BOOST_TEST((adding.error() == errc::server_error));
  auto too_large = add({"u", std::string(4096, 'x') + "hush"});
  auto reading = record<node_data>();
  zk.async_get("/a", reading.token());
  settle();
  fail(errc::no_auth);
  auto lost = add({"other", "hush"});
  lose(errc::auth_failed);
  BOOST_TEST(told().size() >= 5u);
  bool has_advice = false;
  for (const auto& each : told()) {
    BOOST_TEST(each.find("hush") == std::string::npos, each);
    has_advice = has_advice || each.find("is it the right one?") != std::string::npos;
  }
  BOOST_TEST(has_advice, "the session has credentials now");
}

BOOST_AUTO_TEST_SUITE_END()
