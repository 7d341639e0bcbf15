// `zkadmin resign --wait` against real servers.
#include <sstream>

#include <boost/json/parse.hpp>

#include <zkrecipes/election.hpp>

#include "live/admin_fixture.hpp"
#include "pseudo_terminal.hpp"

using namespace zkrecipes;
using namespace zkrecipes::test;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

struct wait_fixture : admin_fixture {
  program_result resign(std::vector<std::string> more, const output_hook& told = {}) {
    more.insert(more.begin(), {"resign", root() + "/e", "--wait"});
    return zkadmin(std::move(more), {}, told);
  }
  std::string node_of(const std::string& id) {
    for (const auto& each : children("/e"))
      if (get("/e/" + each).data.find("\"id\":\"" + id + "\"") != std::string::npos) return each;
    return {};
  }
};

std::vector<json::object> lines_of(const std::string& out) {
  std::vector<json::object> all;
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) all.push_back(json::parse(line).as_object());
  return all;
}

std::string states_of(const std::vector<json::object>& lines) {
  std::string names;
  for (const auto& each : lines)
    if (each.at("event") == "state") names += std::string(each.at("state").as_string()) + " ";
  return names;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(resign_wait_suite, wait_fixture)

BOOST_AUTO_TEST_CASE(a_clean_hand_over_is_followed_to_its_end) {
  auto& first = join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  auto& finishing = first.hold_back();
  auto& inaugurating = second.hold_inauguration();
  const auto result = resign({"--rw"}, [&](const std::string& out) {
    if (has(out, "finishing")) finishing.open();
    if (has(out, "inaugurating")) inaugurating.open();
  });
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(result.err.starts_with("set " + root() + "/e/"), result.err);
  for (const char* part :
       {"  requested     a\n", "  seen          a\n", "  finishing     a -> b\n", "  inaugurating  b  term 2, clean\n",
        "  executing     b  term 2, clean\n", "none: the leader retired"})
    BOOST_TEST(has(result.out, part), part << " in " << result.out);
  BOOST_TEST(has(result.out, "\nb executes term 2 of " + root() + "/e, "), result.out);
  BOOST_TEST(run_until([&] { return second.leads; }));
}

// The leader does not finish within the grace. Its place is ended, the successor waits for the deadline.
BOOST_AUTO_TEST_CASE(a_forced_hand_over_is_seen_in_all_its_states) {
  auto& first = join("/e", "a", connect(), 4s);
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  auto& never = first.hold_back();
  auto& inaugurating = second.hold_inauguration();
  const auto place = node_of("a");
  const auto told = [&](const std::string& out) {
    if (has(out, "inaugurating")) inaugurating.open();
  };
  const auto result = resign({"--rw", "--force", "--grace", "1s", "--yes", "a", "-o", "ndjson"}, told);
  BOOST_TEST(result.code == 0, result.err);
  BOOST_TEST(has(result.err, "after 1.0 s, if it is still there: delete " + root() + "/e/" + place + "\n"), result.err);
  BOOST_TEST(has(result.err, "\ndelete " + root() + "/e/" + place + " version=1\n"), result.err);
  BOOST_TEST(has(result.err, "zkadmin: ended the place of a at " + root() + "/e\n"), result.err);
  const auto lines = lines_of(result.out);
  BOOST_TEST(states_of(lines) == "requested seen finishing awaiting inaugurating executing ");
  const auto& end = lines.back();
  BOOST_TEST(end.at("done").as_bool());
  BOOST_TEST(end.at("leader") == "b");
  BOOST_TEST(end.at("takeover") == "forced");
  for (const auto& each : end.at("states").as_array()) {
    const auto state = each.at("state").as_string();
    BOOST_TEST(each.at("seen").as_bool(), state);
    if (state != "seen" && state != "executing") BOOST_TEST(each.at("lasted_ms").as_int64() >= 0, state);
  }
  BOOST_TEST(never.was_cut(), "the leader was cut at its deadline");
}

BOOST_AUTO_TEST_CASE(whose_place_it_is_has_to_be_said) {
  join("/e", "a");
  leaves("/e");
  election("/e", is_executing);
  const auto before = get("/e/" + node_of("a")).stat.mzxid;
  const auto silent = resign({"--rw", "--force", "--grace", "1s"});
  BOOST_TEST(silent.code == 2);
  BOOST_TEST(has(silent.err, "zkadmin: --force needs --yes a\n"), silent.err);
  const auto wrong = resign({"--rw", "--force", "--grace", "1s", "--yes", "b"});
  BOOST_TEST(wrong.code == 1);
  BOOST_TEST(has(wrong.err, "the leader is a, not b: nothing was sent\n"), wrong.err);
  const auto shown = resign({"--force", "--grace", "1s", "--yes", "a"});
  BOOST_TEST(shown.code == 1);
  BOOST_TEST(has(shown.out, "if it is still there: delete "), shown.out);
  BOOST_TEST(get("/e/" + node_of("a")).stat.mzxid == before);
}

BOOST_AUTO_TEST_CASE(the_id_can_be_typed) {
  join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  const std::vector<std::string> command{ZKADMIN_PROGRAM, "resign",  root() + "/e", "--wait",
                                         "--rw",          "--force", "--grace",     "20s"};
  for (const char* typed : {"b", "a"}) {
    pseudo_terminal terminal(io(), 120, 40);
    terminal.start(command, {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
    BOOST_TEST(terminal.shows("type the id of the leader, a, to go on"));
    terminal.type(std::string(typed) + "\r");
    if (typed == std::string("b")) BOOST_TEST(terminal.shows("not b: nothing was sent"));
    BOOST_TEST(terminal.exit_code() == (typed == std::string("b") ? 1 : 0));
    BOOST_TEST(second.leads == (typed == std::string("a")));
  }
}

BOOST_AUTO_TEST_CASE(a_leader_that_has_changed_while_the_user_typed_is_left_alone) {
  auto& first = join("/e", "a");
  auto& second = join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  pseudo_terminal terminal(io(), 120, 40);
  terminal.start({ZKADMIN_PROGRAM, "resign", root() + "/e", "--wait", "--rw", "--force", "--grace", "20s"},
                 {{"ZKADMIN_HOSTS", hosts}, {"ZKADMIN_TIMEOUT", "20s"}});
  BOOST_TEST(terminal.shows("type the id of the leader, a, to go on"));
  first.stop();
  BOOST_TEST_REQUIRE(run_until([&] { return second.leads; }));
  terminal.type("a\r");
  BOOST_TEST(terminal.shows("the leader has changed, and is b now: nothing was sent"));
  BOOST_TEST(terminal.exit_code() == 1);
  BOOST_TEST(second.leads);
}

BOOST_AUTO_TEST_CASE(what_does_not_end_in_time_says_where_it_stands) {
  auto& first = join("/e", "a");
  join("/e", "b");
  leaves("/e");
  election("/e", is_executing);
  auto& finishing = first.hold_back();
  const auto late = resign({"--rw", "--for", "1s"});
  BOOST_TEST(late.code == 1);
  BOOST_TEST(has(late.err, "/e: no successor executes after 1.0 s: "), late.err);
  // A second one follows what the first one has asked for.
  bool is_open = false;
  const auto again = resign({"--rw"}, [&](const std::string& out) {
    if (has(out, "finishing") && !std::exchange(is_open, true)) finishing.open();
  });
  BOOST_TEST(again.code == 0, again.err);
  BOOST_TEST(has(again.err, "nothing: a was asked "), again.err);
  BOOST_TEST(has(again.out, "\nb executes term 2 of "), again.out);
}

BOOST_AUTO_TEST_CASE(nobody_follows) {
  create("/e");
  create("/e/_c_x-latch-0000000001", R"({"id":"deaf","keeps_record":false})");
  for (const char* each : {"/e", "/e/_c_x-latch-0000000001"}) leaves(each);
  const auto result = resign({"--rw", "--for", "500ms", "-o", "ndjson"});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(has(result.err, "requested for "), result.err);
  BOOST_TEST(has(result.err, "(deaf, nobody waits)"), result.err);
  const auto end = lines_of(result.out).back();
  BOOST_TEST(!end.at("done").as_bool());
  BOOST_TEST(end.at("problem").is_string());
}

BOOST_AUTO_TEST_SUITE_END()
