// `zkadmin lead` against real servers.
#include <signal.h>

#include "live/hold_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

using words = std::vector<std::string>;

struct lead_fixture : hold_fixture {
  lead_fixture() : at(root() + "/e") { leaves("/e"); }
  words lead(const words& more) const { return words{"lead", at} + more; }
  program_result resign() { return finish({"resign", at, "--rw"}); }

  std::string at;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lead_suite, lead_fixture)

BOOST_AUTO_TEST_CASE(one_leads_and_the_next_follows) {
  auto first = start(lead({"--id", "a"}) + witness("a"));
  BOOST_TEST_REQUIRE(begins("a"));
  BOOST_TEST(finish(lead({"--try", "--", "true"})).code == 123);
  auto second = start(lead({"--id", "b"}) + witness("b"));
  BOOST_TEST_REQUIRE(gets_length("/e", 2));
  BOOST_TEST(begin_of("b") == 0);
  first.send(SIGTERM);
  BOOST_TEST(first.wait().code == 128 + SIGTERM);
  BOOST_TEST(begins("b"));
  BOOST_TEST(last_sign_of("a") < begin_of("b"));
  second.send(SIGTERM);
  BOOST_TEST(second.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_request_to_resign_ends_the_command) {
  auto running = start(lead(witness("w")));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto asked = resign();
  BOOST_TEST(asked.code == 0, asked.err);
  const auto result = running.wait();
  BOOST_TEST(result.code == 122);
  BOOST_TEST(result.err == "zkadmin: leadership " + at + ": another client asks for it: the command is ended\n");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(length("/e") == 0);
}

BOOST_AUTO_TEST_CASE(again_leads_once_more) {
  auto running = start(lead({"--again"}) + witness("w"));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto first = begin_of("w");
  const auto token = member("/e").stat.czxid;
  BOOST_TEST(resign().code == 0);
  BOOST_TEST_REQUIRE(run_until([&] { return begin_of("w") > first; }));
  BOOST_TEST(member("/e").stat.czxid > token);
  const auto second = begin_of("w");
  cluster().expire(member("/e").stat.ephemeral_owner);
  BOOST_TEST_REQUIRE(run_until([&] { return begin_of("w") > second; }));
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(a_signal_while_the_command_is_being_ended_is_not_lost) {
  auto running = start(lead({"--again", "--grace", "5s"}) + witness("w", {"stubborn"}));
  BOOST_TEST_REQUIRE(begins("w"));
  const auto first = begin_of("w");
  BOOST_TEST(resign().code == 0);
  BOOST_TEST_REQUIRE(run_until([&] { return running.err().find("the command is ended") != std::string::npos; }));
  running.send(SIGTERM);
  BOOST_TEST(running.wait().code == 128 + SIGTERM);
  BOOST_TEST(begin_of("w") == first, "it does not lead once more");
  BOOST_TEST(is_gone("w"));
  BOOST_TEST(length("/e") == 0);
}

BOOST_AUTO_TEST_SUITE_END()
