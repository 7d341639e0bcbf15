// `zkadmin check` against real servers.
#include <boost/json/parse.hpp>

#include <zkrecipes/consumer/topic.hpp>
#include <zkrecipes/queue.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;

namespace {

/// The record of a term that goes on.
constexpr const char* in_office =
    R"({"zkrecipes":"term","epoch":3,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
    R"("leader":{"id":"a","node":"_c_x-latch-0000000001","token":1}})";

struct check_fixture : admin_fixture {
  program_result check(std::vector<std::string> more = {}) {
    more.insert(more.begin(), "check");
    return zkadmin(std::move(more));
  }
  /// Whether a check exits with this status and prints this text.
  bool tells(int code, const std::string& text, const std::vector<std::string>& more = {}) {
    return logged(looks_like(code, text, more));
  }
  bool comes_to_tell(int code, const std::string& text, const std::vector<std::string>& more = {}) {
    return logged(run_until([&] { return looks_like(code, text, more); }));
  }
  /// All that the last check printed.
  std::string last() const { return last_.out + last_.err; }

  void make_abandoned(const std::string& path) {
    create(path, in_office);
    leaves(path);
  }
  void begin_transaction(const std::string& id) {
    two_phase_commit commit(zk(), "/pay");
    const auto begun = run(commit.async_begin(id, {"a", "b"}, "", tuple));
    BOOST_TEST_REQUIRE(!std::get<0>(begun), std::get<0>(begun).message());
  }
  void remove_all(const std::string& path) {
    BOOST_TEST(!std::get<0>(run(zk().async_remove_with_children(path, tuple))));
  }

 private:
  bool looks_like(int code, const std::string& text, const std::vector<std::string>& more) {
    last_ = check(more);
    return last_.code == code && last_.out.find(text) != std::string::npos;
  }
  bool logged(bool holds) const {
    if (!holds) BOOST_TEST_MESSAGE("the last check exited with " << last_.code << ":\n" << last());
    return holds;
  }

  program_result last_;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(check_suite, check_fixture)

BOOST_AUTO_TEST_CASE(all_is_well) {
  join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  BOOST_TEST(
      tells(0, "ZKADMIN OK - 3 servers, 1 election, 0 shard groups, 0 topics, 0 two-phase commits, 0 other recipes\n"));
  const auto document = boost::json::parse(check({"-o", "json"}).out);
  BOOST_TEST(document.at("state") == "ok");
  BOOST_TEST(document.at("complete").as_bool());
  BOOST_TEST(document.at("problems").as_array().empty());
}

BOOST_AUTO_TEST_CASE(an_office_with_nobody_in_line_is_critical) {
  make_abandoned("/e");
  zk();
  const auto where = root() + "/e";
  BOOST_TEST(tells(2, "ZKADMIN CRITICAL - 1 problem: nobody-in-line " + where + "\n"));
  BOOST_TEST(tells(2, "critical nobody-in-line " + where + ": its record has a leader, but nobody is in line\n"));
  BOOST_TEST(tells(2, "problem\tcritical\tnobody-in-line\t" + where + "\t", {"-o", "tsv"}));
}

BOOST_AUTO_TEST_CASE(a_part_is_checked_alone) {
  make_abandoned("/bad");
  join("/good", "a");
  leaves("/good");
  election("/good", is_executing);
  BOOST_TEST(tells(0, "ZKADMIN OK - 1 election,", {"--only", root() + "/good"}));
  BOOST_TEST(tells(2, "nobody-in-line", {"--only", root() + "/good", root() + "/bad"}));
  BOOST_TEST(tells(0, "ZKADMIN OK - 3 servers\n", {"--only", "servers"}));
  BOOST_TEST(tells(0, "ZKADMIN OK - 0 topics\n", {"--only", "topics"}));
  BOOST_TEST(tells(2, "nobody-in-line", {"--only", "elections"}));
}

BOOST_AUTO_TEST_CASE(a_resignation_that_is_not_heeded_is_a_warning) {
  create("/e");
  leaves("/e");
  create("/e/_c_x-latch-0000000001", R"({"zkrecipes":"candidate","id":"a","keeps_record":false,"revoke":true})",
         create_mode::ephemeral);
  BOOST_TEST(comes_to_tell(1, "warning resignation-not-heeded " + root() + "/e: a was asked to give up ",
                           {"--resignation-limit", "100ms"}));
  BOOST_TEST(tells(0, "ZKADMIN OK", {"--resignation-limit", "1h"}));
}

BOOST_AUTO_TEST_CASE(a_candidate_without_a_session_is_an_orphan) {
  create("/e");
  create("/e/_c_x-latch-0000000001", "x");
  for (const char* each : {"/e", "/e/_c_x-latch-0000000001"}) leaves(each);
  BOOST_TEST(tells(2, "critical orphan-candidate " + root() + "/e: in line without a session: x; "));
}

// The first in line keeps a record and never writes it.
BOOST_AUTO_TEST_CASE(a_candidate_that_does_not_begin_its_term_is_critical) {
  create("/e");
  leaves("/e");
  create("/e/_c_x-latch-0000000001", R"({"zkrecipes":"candidate","id":"a","keeps_record":true})",
         create_mode::ephemeral);
  BOOST_TEST(comes_to_tell(2, "critical no-leader " + root() + "/e: a is first in line, and has not begun its term",
                           {"--takeover-limit", "100ms"}));
  BOOST_TEST(tells(0, "ZKADMIN OK", {"--takeover-limit", "1h"}));
}

BOOST_AUTO_TEST_CASE(an_election_that_all_have_left_is_a_warning_and_critical_if_work_waits_beside_it) {
  auto& only = join("/app/consumer", "a");
  election("/app/consumer", is_executing);
  only.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return only.has_ended(); }));
  const std::vector<std::string> hasty{"--takeover-limit", "100ms"};
  const auto where = root() + "/app/consumer";
  BOOST_TEST(
      comes_to_tell(1, "warning nobody-leads " + where + ": its last term has ended, and nobody has been", hasty));
  BOOST_TEST(tells(0, "ZKADMIN OK", {"--takeover-limit", "1h"}));
  queue jobs(zk(), "/app/jobs");
  BOOST_TEST(!std::get<0>(run(jobs.async_put("x", tuple))));
  BOOST_TEST(comes_to_tell(2, "critical nobody-leads " + where, hasty));
  BOOST_TEST(last().find("; 1 item waiting in " + root() + "/app/jobs\n") != std::string::npos);
  remove_all("/app");
}

BOOST_AUTO_TEST_CASE(transactions_in_doubt_are_critical) {
  begin_transaction("order-1");
  BOOST_TEST(comes_to_tell(2, "critical transactions-in-doubt " + root() + "/pay: undecided transactions: 1, ",
                           {"--transaction-limit", "100ms"}));
  BOOST_TEST(tells(0, "0 topics, 1 two-phase commit, 0 other recipes\n", {"--transaction-limit", "1h"}));
  two_phase_commit commit(zk(), "/pay");
  BOOST_TEST(!std::get<0>(run(commit.async_vote("order-1", "a", ballot::no, "", tuple))));
  BOOST_TEST(comes_to_tell(0, "1 two-phase commit, 0 other recipes\n", {"--transaction-limit", "100ms"}));
  remove_all("/pay");
}

BOOST_AUTO_TEST_CASE(dead_letters_of_a_topic_are_a_warning) {
  topic_options with;
  with.shards = 4;
  topic log(zk(), "/t", with);
  const auto moved = run(log.async_seek(1, "billing", source_position::begin(), tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(moved), std::get<0>(moved).message());
  BOOST_TEST(tells(0, "1 topic,"));
  if (!contains("/t/_dead")) create("/t/_dead");
  create("/t/_dead/billing");
  create("/t/_dead/billing/letter-0000000000");
  BOOST_TEST(tells(1, "warning dead-letters " + root() + "/t: dead letters: 1 of billing\n"));
  remove_all("/t");
}

BOOST_AUTO_TEST_CASE(queues_that_are_declared_are_checked) {
  const auto path = root() + "/jobs";
  zk();
  BOOST_TEST(tells(3, "unknown " + path + ": there is no queue\n", {"--queues", path}));
  queue jobs(zk(), "/jobs");
  for (int i = 0; i < 2; ++i) BOOST_TEST(!std::get<0>(run(jobs.async_put("x", tuple))));
  const std::vector<std::string> hasty{"--queues", path, "--message-limit", "100ms"};
  BOOST_TEST(comes_to_tell(1, "warning queue-without-consumers " + path + ": 2 items, the oldest for ", hasty));
  {
    pseudo_terminal terminal(io(), 100, 20);
    terminal.start({ZKADMIN_PROGRAM, "--root", root(), "--queues", path, "--message-limit", "100ms"},
                   {{"ZKADMIN_HOSTS", hosts}});
    BOOST_TEST(terminal.shows("1 warning"));
    terminal.type("2");
    BOOST_TEST(terminal.shows("queue-without-consumers"));
    terminal.type("g\r");
    BOOST_TEST(terminal.shows("RECIPE " + path));
    terminal.type("q");
    BOOST_TEST(terminal.exit_code() == 0);
  }
  BOOST_TEST(tells(0, "0 two-phase commits, 1 queue, 0 other recipes\n", {"--queues", path}));
  const auto taken = run(jobs.async_take(tuple));
  BOOST_TEST_REQUIRE(!std::get<0>(taken));
  BOOST_TEST(comes_to_tell(1, "warning old-messages " + path + ": 2 items, the oldest for ", hasty));
  BOOST_TEST(!std::get<0>(run(jobs.async_reject(std::get<1>(taken), "no good", tuple))));
  BOOST_TEST(
      comes_to_tell(1, "warning dead-letters " + path + ": dead letters: 1\n", {"--only", "queues", "--queues", path}));
  remove_all("/jobs");
}

BOOST_AUTO_TEST_CASE(a_server_of_three_that_is_down_is_a_warning) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const int down = cluster().leader() == 1 ? 2 : 1;
  const auto& name = direct_hosts()[static_cast<std::size_t>(down - 1)];
  const outage without({down});
  BOOST_TEST(comes_to_tell(1, "ZKADMIN WARNING - 1 problem: server-down " + name + "\n"));
  BOOST_TEST(last().find("warning server-down " + name + ": Connection refused\n") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_quorum_is_critical_and_the_recipes_are_unknown) {
  const outage without(outage::quorum());
  BOOST_TEST(comes_to_tell(2,
                           "critical no-quorum ensemble: no server that answers serves requests: 1 of 3 say that they "
                           "do not, 2 do not answer",
                           {"--timeout", "3s"}));
  BOOST_TEST(last().find("unknown elections, shard groups, topics, two-phase commits, other recipes: not known: no "
                         "server is serving requests") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_answer_at_all_is_critical) {
  BOOST_TEST(
      tells(2, "critical no-answer ensemble: no server answers: 0 of 2\n", {"--hosts", "127.0.0.1:1,127.0.0.1:2"}));
}

BOOST_AUTO_TEST_CASE(a_gap_is_unknown_and_not_ok) {
  zk();
  BOOST_TEST(tells(3, "ZKADMIN UNKNOWN - 1 thing not known\n", {"--root", "/no/such/root"}));
  BOOST_TEST(last().find("the root /no/such/root does not exist") != std::string::npos);
  create("/plain");
  leaves("/plain");
  BOOST_TEST(tells(3, "unknown " + root() + "/plain: nothing to check was found at or below it\n",
                   {"--only", root() + "/plain"}));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--nonsense"}, {"--only", "queues"}, {"--timeout", "soon"}}) {
    BOOST_TEST(tells(3, "ZKADMIN UNKNOWN - ", wrong));
    BOOST_TEST(last().find('\n') == last().size() - 1);
  }
}

BOOST_AUTO_TEST_CASE(a_part_that_may_not_be_read_is_unknown_unless_something_is_critical) {
  auto mine = options();
  mine.digest.push_back({"admin", "topsecret"});
  auto owner = connect(mine);
  run(owner.async_create("/closed", "", create_mode::persistent, creator_acl(), tuple));
  BOOST_TEST(tells(3, "unknown " + root() + "/closed: may not be read with these credentials\n"));
  create("/e", in_office);
  BOOST_TEST(tells(2, "; 1 thing not known\n"));
  remove("/e");
  run(owner.async_remove("/closed", any_version, tuple));
  run(owner.async_close(tuple));
}

BOOST_AUTO_TEST_SUITE_END()
