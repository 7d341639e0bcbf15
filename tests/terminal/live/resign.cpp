// `zkadmin resign` against real servers.
#include <zkrecipes/election.hpp>

#include "live/admin_fixture.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {
const std::string leader_node = "/e/_c_x-latch-0000000001";
}

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
  BOOST_TEST(result.out.starts_with("set " + root() + "/e/" + node + " version=" + std::to_string(before.stat.version) +
                                    " data={"),
             result.out);
  BOOST_TEST(get("/e/" + node).stat.mzxid == before.stat.mzxid);
  BOOST_TEST(leader.leads);
}

// The request that is shown is the one that the library writes when it prepares and sends in one step.
BOOST_AUTO_TEST_CASE(the_request_is_the_one_of_the_library) {
  for (const std::string data :
       {R"({"id":"x","keeps_record":false})", R"({"id":"x","keeps_record":false,"other":[1,2]})"}) {
    create("/e");
    create(leader_node, data);
    const auto shown = zkadmin({"resign", root() + "/e"}).out;
    zkrecipes::election contest(zk(), "/e", {.id = "observer"});
    const auto asked = run(contest.async_request_resignation(tuple));
    BOOST_TEST(!std::get<0>(asked), std::get<0>(asked).message());
    BOOST_TEST(shown == "set " + root() + leader_node + " version=0 data=" + get(leader_node).data + "\n");
    remove(leader_node);
    remove("/e");
  }
}

BOOST_AUTO_TEST_CASE(long_data_is_shown_shortened) {
  create("/e");
  create(leader_node, R"({"id":"x","keeps_record":false,"more":")" + std::string(70'000, 'x') + "\"}");
  const auto shown = zkadmin({"resign", root() + "/e"}).out;
  BOOST_TEST(shown.size() < 2000u);
  BOOST_TEST(shown.find("xxx... (700") != std::string::npos, shown);
  remove(leader_node);
  remove("/e");
}

BOOST_AUTO_TEST_CASE(a_foreign_candidate_is_not_asked_and_keeps_its_data) {
  create("/e");
  for (const auto& data : {std::string("10.1.1.0"), std::string(), std::string("\xff\0\x1b", 3),
                           std::string(R"({"id":"10.1.1.0"})"), std::string(70'000, 'x')}) {
    create(leader_node, data);
    const auto result = zkadmin({"resign", root() + "/e", "--rw"});
    BOOST_TEST(result.code == 1);
    BOOST_TEST(result.out == "");
    BOOST_TEST(result.err.find("is no client of zkrecipes: it does not listen") != std::string::npos, result.err);
    BOOST_TEST(result.err.size() < 1000u);
    BOOST_TEST((get(leader_node).data == data));
    BOOST_TEST(get(leader_node).stat.version == 0);
    remove(leader_node);
  }
  remove("/e");
}

BOOST_AUTO_TEST_CASE(a_request_that_is_not_heeded_is_seen_and_not_repeated) {
  create("/e");
  create(leader_node, R"({"id":"deaf","keeps_record":false})");
  for (const auto& each : {std::string("/e"), leader_node}) leaves(each);
  const auto first = zkadmin({"resign", root() + "/e", "--rw"});
  BOOST_TEST(first.code == 0, first.err);
  const auto written = get(leader_node).stat.mzxid;
  const auto seen = election("/e", [](const auto& each) { return !each.at("resignation_asked_ms").is_null(); });
  BOOST_TEST(seen.at("leader").at("id") == "deaf");
  BOOST_TEST(seen.at("resignation_asked_ms").as_int64() >= 0);
  BOOST_TEST(zkadmin({"status"}).out.find("  resignation: deaf was asked ") != std::string::npos);
  const auto second = zkadmin({"resign", root() + "/e", "--rw"});
  BOOST_TEST(second.code == 1);
  BOOST_TEST(second.err.starts_with("zkadmin: deaf was asked to give up " + root() + "/e "), second.err);
  BOOST_TEST(second.err.ends_with(" ago, and is still there: nothing was sent\n"), second.err);
  BOOST_TEST(get(leader_node).stat.mzxid == written);
}

BOOST_AUTO_TEST_CASE(with_rw_the_leader_hands_over) {
  auto& first = join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  auto& hold = first.hold_back();
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

  hold.open();
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

BOOST_AUTO_TEST_CASE(without_a_quorum_it_is_not_said_that_nobody_answers) {
  const outage without(outage::quorum());
  program_result result;
  BOOST_TEST(run_until([&] {
               result = zkadmin({"resign", "/e", "--timeout", "3s"});
               return result.err == "zkadmin: no server is serving requests: the elections are not known\n";
             }),
             result.err);
  BOOST_TEST(result.code == 1);
}

BOOST_AUTO_TEST_SUITE_END()
