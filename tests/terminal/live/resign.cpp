// `zkadmin resign` against real servers.
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

BOOST_AUTO_TEST_CASE(a_lock_is_no_election) {
  create("/e");
  const std::string holder = "/e/_c_x-lock-0000000001", data = R"({"zkrecipes":"member","id":"cron-1"})";
  create(holder, data);
  const auto result = zkadmin({"resign", root() + "/e", "--rw"});
  BOOST_TEST(result.code == 1);
  BOOST_TEST(result.err == "zkadmin: " + root() + "/e is a lock, which cron-1 holds: ask for it by `zkadmin revoke`\n");
  BOOST_TEST(get(holder).data == data);
  remove(holder);
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

// `zkadmin resign --wait` against real servers.

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
  BOOST_TEST(fails(resign({"--rw", "--force", "--grace", "1s"}), 2, "zkadmin: --force needs --yes a\n"));
  BOOST_TEST(fails(resign({"--rw", "--force", "--grace", "1s", "--yes", "b"}), 1,
                   "the leader is a, not b: nothing was sent\n"));
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
  BOOST_TEST(fails(resign({"--rw", "--for", "1s"}), 1, "/e: no successor executes after 1.0 s: "));
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
  BOOST_TEST(fails(result, 1, "requested for "));
  BOOST_TEST(has(result.err, "(deaf, nobody waits)"), result.err);
  const auto end = lines_of(result.out).back();
  BOOST_TEST(!end.at("done").as_bool());
  BOOST_TEST(end.at("problem").is_string());
}

BOOST_AUTO_TEST_SUITE_END()
