// Recipes that consist of one node, or of one node for each member: barrier, counter, group.
#include <boost/test/unit_test.hpp>

#include "interop_case.hpp"

using namespace interop;
using namespace zkrecipes::test;

BOOST_FIXTURE_TEST_SUITE(single_nodes, interop_case)

BOOST_AUTO_TEST_CASE(a_barrier_that_one_language_raises_holds_the_others_until_any_lifts_it) {
  open({{"cpp1", "nodes"}, {"java1", "nodes"}, {"python1", "nodes"}});
  const std::vector<std::string> all = opened;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& raises = all[i];
    const auto& lifts = all[(i + 1) % all.size()];
    const auto& waits = all[(i + 2) % all.size()];
    BOOST_TEST(ask(raises, "raise") == "ok");
    worker(waits).tell("pass");
    BOOST_TEST(!answers_soon(waits), waits << " is held by " << raises);
    BOOST_TEST(ask(lifts, "lift") == "ok");
    BOOST_TEST(answer_of(waits) == "ok", lifts << " lets " << waits << " go on");
  }
  finish();
}

BOOST_AUTO_TEST_CASE(what_kazoo_and_we_count_is_counted_once) {
  create("/line/sum", "5");
  open({{"cpp1", "nodes"}, {"python1", "nodes"}, {"cpp2", "nodes"}, {"python2", "nodes"}});
  for (const auto& each : opened) worker(each).tell(each.starts_with("cpp") ? "add 3 50" : "add -1 50");
  for (const auto& each : opened) BOOST_TEST(answer_of(each) == "ok");
  BOOST_TEST(get("/line/sum").data == "205");
  remove("/line/sum");
  finish();
}

BOOST_AUTO_TEST_CASE(curators_members_and_ours_see_each_other) {
  open({{"cpp1", "nodes"}, {"java1", "nodes"}});
  BOOST_TEST(ask("cpp1", "join ours one") == "ok");
  BOOST_TEST(ask("java1", "join theirs two") == "ok");
  for (const char* each : {"cpp1", "java1"}) {
    BOOST_TEST(run_until([&] { return ask(each, "members") == "ok ours=one theirs=two"; }), each << " sees both");
  }
  BOOST_TEST(ask("cpp1", "leave-group") == "ok");
  BOOST_TEST(run_until([&] { return ask("java1", "members") == "ok theirs=two"; }));
  BOOST_TEST(ask("cpp1", "join ours again") == "ok");
  BOOST_TEST(ask("java1", "leave-group") == "ok");
  BOOST_TEST(run_until([&] { return ask("cpp1", "members") == "ok ours=again"; }));
  BOOST_TEST(ask("cpp1", "leave-group") == "ok");
  remove("/line/group");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
