// `zkadmin resign` against real servers.
#include "live/admin_fixture.hpp"

#include <zkrecipes/election.hpp>

using namespace zkrecipes;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(resign_suite, admin_fixture)

BOOST_AUTO_TEST_CASE(without_rw_the_request_is_shown_and_nothing_is_sent) {
  auto& leader = join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const auto node = children("/e").at(0);
  const auto before = get("/e/" + node);
  const auto result = zkadmin({"resign", root() + "/e"});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err == "zkadmin: nothing was sent; add --rw to send this\n");
  BOOST_TEST(result.out.starts_with("set " + root() + "/e/" + node +
                                    " version=" + std::to_string(before.stat.version) + " data={"),
             result.out);
  BOOST_TEST(get("/e/" + node).stat.mzxid == before.stat.mzxid);
  BOOST_TEST(leader.leads);
}

// What is shown is what the library writes when it does both in one go.
BOOST_AUTO_TEST_CASE(the_request_is_the_one_of_the_library) {
  for (const std::string data : {"plain", "", R"({"id":"x","other":[1,2]})", "{broken"}) {
    create("/e");
    create("/e/_c_x-latch-0000000001", data);
    const auto shown = zkadmin({"resign", root() + "/e"}).out;
    zkrecipes::election contest(zk(), "/e", {.id = "observer"});
    const auto asked = run(contest.async_request_resignation(tuple));
    BOOST_TEST(!std::get<0>(asked), std::get<0>(asked).message());
    BOOST_TEST(shown == "set " + root() + "/e/_c_x-latch-0000000001 version=0 data=" +
                            get("/e/_c_x-latch-0000000001").data + "\n");
    remove("/e/_c_x-latch-0000000001");
    remove("/e");
  }
}

BOOST_AUTO_TEST_CASE(with_rw_the_leader_hands_over) {
  auto& first = join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  auto& gate = first.hold_back();
  const auto result = zkadmin({"resign", root() + "/e", "--rw"});
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(result.err.starts_with("set " + root() + "/e/"));
  BOOST_TEST(result.out == "asked a to give up " + root() + "/e\n");

  const auto going = election("/e", [](const auto& each) { return !each.at("hand_over").is_null(); });
  BOOST_TEST(going.at("phase") == "handing_over");
  const auto& hand_over = going.at("hand_over");
  BOOST_TEST(hand_over.at("from") == "a");
  BOOST_TEST(hand_over.at("to") == "b");
  BOOST_TEST(hand_over.at("state") == "finishing");
  BOOST_TEST(hand_over.at("deadline_ms").as_int64() == 20'000);
  BOOST_TEST(hand_over.at("elapsed_ms").as_int64() >= 0);

  gate.open();
  const auto done = election("/e", [](const auto& each) { return each.at("epoch").as_int64() == 2; });
  BOOST_TEST(done.at("takeover") == "clean");
  BOOST_TEST(done.at("leader").at("id") == "b");
  BOOST_TEST(run_until([&] { return second.leads; }));
}

BOOST_AUTO_TEST_CASE(there_has_to_be_a_leader) {
  create("/e");
  leaves("/e");
  BOOST_TEST(zkadmin({"resign", root() + "/e", "--rw"}).err == "zkadmin: nobody leads at " + root() + "/e\n");
  const auto missing = zkadmin({"resign", "/no/such/path", "--rw"});
  BOOST_TEST(missing.code == 1);
  BOOST_TEST(missing.err == "zkadmin: there is no election at /no/such/path\n");
  BOOST_TEST(zkadmin({"resign", "relative"}).code == 2);
}

BOOST_AUTO_TEST_CASE(nobody_answers) {
  const auto result = zkadmin({"resign", "/e", "--hosts", "127.0.0.1:1", "--timeout", "300ms"});
  BOOST_TEST(result.code == 3);
  BOOST_TEST(result.err == "zkadmin: none of the servers answers\n");
}

BOOST_AUTO_TEST_SUITE_END()
