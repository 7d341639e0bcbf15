// `zkadmin lock` when what it holds ends, or one of its processes does: the command ends in time.
#include <signal.h>

#include <zkrecipes/lock.hpp>

#include "live/hold_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using words = std::vector<std::string>;

constexpr std::int64_t second = 1'000'000'000;

struct losses_fixture : hold_fixture {
  losses_fixture() : at(root() + "/l") { leaves("/l"); }
  words lock(const words& more) const { return words{"lock", at} + more; }

  bool is_refused(const std::string& node) {
    const auto got = run(zk().async_commit(transaction().check(node), tuple));
    return std::get<0>(got) == errc::no_node;
  }
  void revoke(std::chrono::milliseconds grace) {
    zkrecipes::lock line(zk(), "/l");
    const auto asked = run(line.async_request_revocation(grace, tuple));
    BOOST_TEST(!std::get<0>(asked), std::get<0>(asked).message());
  }
  /// Waits until the holder, which is to be the first in line, is followed by this one.
  running_program follow(const std::string& name) {
    auto next = start(lock(witness(name)));
    BOOST_TEST_REQUIRE(gets_length("/l", 2));
    return next;
  }
  void end(running_program& which) {
    which.send(SIGTERM);
    BOOST_TEST(which.wait().code == 128 + SIGTERM);
  }

  std::string at;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lock_losses_suite, losses_fixture)

BOOST_AUTO_TEST_CASE(somebody_else_closes_the_session) {
  auto running = start(lock(witness("w", {"stubborn", "child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  const auto node = member("/l");
  const auto path = "/l/" + children("/l").at(0);
  cluster().expire(node.stat.ephemeral_owner);
  const auto closed = present();
  const auto result = running.wait();
  BOOST_TEST(result.code == 121, result.err);
  BOOST_TEST(last_sign_of("w") < closed + second);
  BOOST_TEST(last_sign_of("c") < closed + second);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(is_refused(path));
  auto next = start(lock(witness("n")));
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(member("/l").stat.czxid > node.stat.czxid);
  end(next);
}

BOOST_AUTO_TEST_CASE(somebody_deletes_the_node) {
  auto running = start(lock(witness("w")));
  BOOST_TEST_REQUIRE(begins("w"));
  remove("/l/" + children("/l").at(0));
  const auto result = running.wait();
  BOOST_TEST(result.code == 121, result.err);
  BOOST_TEST(is_gone("w"));
}

BOOST_AUTO_TEST_CASE(somebody_asks_for_the_lock) {
  auto running = start(lock(witness("w", {"child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  revoke(30s);
  const auto result = running.wait();
  BOOST_TEST(result.code == 122);
  BOOST_TEST(result.err == "zkadmin: lock " + at + ": another client asks for it: the command is ended\n");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(a_command_that_ignores_sigterm_is_killed_after_the_grace) {
  auto running = start(lock({"--grace", "200ms"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  revoke(30s);
  BOOST_TEST(running.wait().code == 122);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
}

BOOST_AUTO_TEST_CASE(the_grace_of_the_one_that_asks_counts_if_it_is_shorter) {
  auto running = start(lock({"--grace", "1h"}) + witness("w", {"stubborn"}));
  BOOST_TEST_REQUIRE(begins("w"));
  auto next = follow("n");
  revoke(2s);
  BOOST_TEST(running.wait().code == 122);
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(zkadmin_is_killed) {
  auto running = start(lock(witness("w", {"child", file("c")})));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  running.send(SIGKILL);
  BOOST_TEST(running.wait().code == 128 + SIGKILL);  // its other process has ended, too
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST(length("/l") == 0);
}

BOOST_AUTO_TEST_CASE(the_keeper_is_killed) {
  auto running = start(lock({"--session-timeout", "4s"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  auto next = follow("n");
  ::kill(keeper_of(running), SIGKILL);
  BOOST_TEST(running.wait().code == 121);
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(is_gone("c"));
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  BOOST_TEST(last_sign_of("c") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(the_keeper_is_stopped) {
  auto running = start(lock({"--session-timeout", "4s"}) + witness("w", {"stubborn", "child", file("c")}));
  BOOST_TEST_REQUIRE((begins("w") && begins("c")));
  auto next = follow("n");
  ::kill(keeper_of(running), SIGSTOP);
  BOOST_TEST(running.wait().code == 121);
  BOOST_TEST_REQUIRE(begins("n"));
  BOOST_TEST(last_sign_of("w") < begin_of("n"));
  BOOST_TEST(last_sign_of("c") < begin_of("n"));
  end(next);
}

BOOST_AUTO_TEST_CASE(the_release_can_not_be_confirmed) {
  auto running = start(words{"lock", at, "--hosts", own().address(), "--timeout", "300ms"} + witness("w"));
  BOOST_TEST_REQUIRE(begins("w"));
  own().freeze(true);
  running.send(SIGTERM);
  const auto result = running.wait();
  BOOST_TEST(result.code == 128 + SIGTERM);
  BOOST_TEST(result.err.find("note: the servers have not confirmed that it is given up") != std::string::npos,
             result.err);
  own().freeze(false);
  BOOST_TEST(gets_length("/l", 0));
}

BOOST_AUTO_TEST_CASE(the_place_in_line_is_removed) {
  auto held = take("/l");
  auto waiting = start(lock({"--", "true"}));
  BOOST_TEST_REQUIRE(gets_length("/l", 2));
  for (const auto& each : children("/l"))
    if ("/l/" + each != held.path()) remove("/l/" + each);
  const auto result = waiting.wait();
  BOOST_TEST(result.code == 122);
  run(held.async_release(tuple));
}

BOOST_AUTO_TEST_SUITE_END()
