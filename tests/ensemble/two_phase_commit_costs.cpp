// Two-phase commit: its costs while decided transactions are kept, and transactions that an older version left.
#include <algorithm>

#include "ensemble/commit_case.hpp"
#include "ensemble/request_log.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

struct commit_costs_case : commit_case {
  /// Coordinates for as long as the object lives.
  struct coordination {
    coordination(commit_costs_case& of, trace_hook hook)
        : test(of), zk(of.connect(with(of, std::move(hook)))), held(of.executor()) {
      test.over(zk).async_coordinate({.vote_timeout = 1h}, held.token());
    }
    ~coordination() {
      held.cancel();
      test.run_until([&] { return held.done(); });
      test.run_until([&] { return test.children("/t/_coordinator").empty(); });
    }
    static session_options with(commit_costs_case& of, trace_hook hook) {
      auto options = of.options();
      options.trace = std::move(hook);
      return options;
    }

    commit_costs_case& test;
    session zk;
    recorder<> held;
  };

  bool is_indexed(const std::string& id) { return !exists("/t/_undecided/" + id); }
  void commit(const std::string& id) {
    begin(id, {"a"});
    vote(id, "a", ballot::yes);
    BOOST_TEST(outcome_of(id).decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return is_indexed(id); }));
  }
  /// The logged paths include the root path of the case, so their ends are compared.
  static long count(const request_log& log, const std::string& operation, const std::string& path) {
    return std::ranges::count_if(
        log.all(), [&](const std::string& each) { return each.starts_with(operation + ' ') && each.ends_with(path); });
  }
  static bool mentions(const std::string& request, const std::string& what) {
    return request.find(what) != request.npos;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(two_phase_commit_costs, commit_costs_case)

BOOST_AUTO_TEST_CASE(what_is_kept_costs_a_coordinator_nothing) {
  std::vector<long> requests;
  for (const int kept : {0, 40}) {
    for (int i = 0; i < kept; ++i) {
      const auto id = "kept-" + std::to_string(i);
      begin(id, {"a"});
      vote(id, "a", ballot::no);
      BOOST_TEST_REQUIRE(run_until([&] { return is_indexed(id); }));
    }
    request_log log;
    {
      coordination leading(*this, log.hook());
      commit("first-" + std::to_string(kept));
      requests.push_back(static_cast<long>(log.all().size()) - log.count("multi"));
    }
    if (kept == 0) continue;  // the first coordinator of a path lists it, to give every transaction a mark
    for (const auto& each : log.all()) {
      BOOST_TEST(!mentions(each, "kept-"), each);
      BOOST_TEST(!(each.starts_with("children ") && each.ends_with("/t")), "what is kept is not listed");
    }
  }
  BOOST_TEST(requests[1] <= requests[0] + 4, "but for changes that are seen one by one or together");
  finish();
}

BOOST_AUTO_TEST_CASE(a_vote_makes_nobody_read_the_record_again) {
  begin("x", {"a", "b", "c", "d"}, std::string(100'000, 'x'));
  request_log log;
  auto leading = std::make_unique<coordination>(*this, log.hook());
  BOOST_TEST_REQUIRE(run_until([&] { return log.count("get") > 0 && mentions(log.all().back(), "/t/x"); }));
  for (const auto* each : {"a", "b", "c"}) {
    const auto lists = count(log, "children", "/t/x");
    vote("x", each, ballot::yes);
    BOOST_TEST_REQUIRE(run_until([&] { return count(log, "children", "/t/x") > lists; }));
  }
  BOOST_TEST(count(log, "get", "/t/x") == 1);
  vote("x", "d", ballot::yes);
  BOOST_TEST(outcome_of("x").decision == decision::committed);
  BOOST_TEST_REQUIRE(run_until([&] { return is_indexed("x"); }));
  leading.reset();
  finish();
}

BOOST_AUTO_TEST_CASE(what_an_older_version_began_is_finished_and_cleaned_up) {
  const auto record = [](const std::string& decision) {
    return R"({"zkrecipes":"commit","by":"guid","participants":["a"],"data":"old","decision":")" + decision +
           R"(","reason":""})";
  };
  create("/t", R"({"zkrecipes":"two_phase_commit"})");
  create("/t/open", record("pending"));
  create("/t/done", record("pending"));
  BOOST_TEST_REQUIRE(!std::get<0>(run(zk().async_set("/t/done", record("aborted"), any_version, tuple))));
  create("/t/note", "not ours");
  BOOST_TEST(undecided() == (zkrecipes::test::names{"open"}), boost::test_tools::per_element());
  {
    coordination leading(*this, {});
    vote("open", "a", ballot::yes);
    BOOST_TEST(outcome_of("open").decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return exists("/t/_undecided") && is_indexed("open"); }));
  }
  BOOST_TEST(outcome_of("done").decision == decision::aborted);
  BOOST_TEST(clean_up() == 2u);
  BOOST_TEST(exists("/t/note"));
  remove("/t/note");
  finish();
}

BOOST_AUTO_TEST_CASE(a_transaction_that_somebody_has_removed_is_forgotten) {
  begin("x", {"a"});
  begin("y", {"a"});
  remove("/t/x");
  {
    coordination leading(*this, {});
    BOOST_TEST(run_until([&] { return is_indexed("x"); }));
    vote("y", "a", ballot::yes);
    BOOST_TEST(outcome_of("y").decision == decision::committed);
    BOOST_TEST_REQUIRE(run_until([&] { return is_indexed("y"); }));
  }
  remove("/t/y/vote-a");
  remove("/t/y");
  BOOST_TEST(clean_up() == 0u);
  BOOST_TEST(children("/t/_decided").empty(), "no mark is left");
  finish();
}

BOOST_AUTO_TEST_SUITE_END()
