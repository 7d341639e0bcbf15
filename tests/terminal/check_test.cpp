// The output of `check`, and what it takes for an answer.
#include <algorithm>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "commands/targets.hpp"
#include "report/check_report.hpp"
#include "samples.hpp"
#include "settings/command_line.hpp"
#include "settings/values.hpp"

using namespace zkadmin;
namespace json = boost::json;

namespace {

verdict two_problems() {
  verdict judged;
  judged.problems = {{"nobody-in-line", severity::critical, "/e", "nobody is there"},
                     {"server-down", severity::warning, "a:2181", "Connection refused"}};
  judged.extent = "3 servers";
  return judged;
}

std::string state_with(problem_list problems, std::vector<survey_note> unknown) {
  return to_string(state_of({std::move(problems), std::move(unknown), ""}));
}

std::string refused_targets(const std::vector<std::string>& only) {
  try {
    parse_targets(only);
  } catch (const failure& error) {
    return error.what();
  }
  return "not refused";
}

bool is_check(std::vector<const char*> arguments) { return is_for_check(arguments); }

}  // namespace

BOOST_AUTO_TEST_SUITE(check_output)

BOOST_AUTO_TEST_CASE(the_first_line_says_it_all) {
  BOOST_TEST(to_lines(judge(samples::healthy(), {}, {})) ==
             "ZKADMIN OK - 2 servers, 1 election, 0 shard groups, 0 topics, 0 two-phase commits, 0 other recipes\n");
  BOOST_TEST(to_lines(two_problems()) ==
             "ZKADMIN CRITICAL - 2 problems: nobody-in-line /e, server-down a:2181\n"
             "critical nobody-in-line /e: nobody is there\n"
             "warning server-down a:2181: Connection refused\n");
  auto many = two_problems();
  many.problems.insert(many.problems.end(), 3, many.problems[1]);
  many.unknown = {{"/closed", "may not be read"}};
  const auto text = to_lines(many);
  BOOST_TEST(text.substr(0, text.find('\n')) ==
             "ZKADMIN CRITICAL - 5 problems: nobody-in-line /e, server-down a:2181, server-down a:2181, 2 more; "
             "1 thing not known");
  BOOST_TEST(text.ends_with("\nunknown /closed: may not be read\n"));
}

BOOST_AUTO_TEST_CASE(unknown_outweighs_a_warning_and_not_what_is_critical) {
  const problem warning{"server-down", severity::warning, "a", ""};
  const problem critical{"stalled", severity::critical, "/e", ""};
  const survey_note note{"/x", "closed"};
  BOOST_TEST(state_with({}, {}) == "ok");
  BOOST_TEST(state_with({warning}, {}) == "warning");
  BOOST_TEST(state_with({warning}, {note}) == "unknown");
  BOOST_TEST(state_with({}, {note}) == "unknown");
  BOOST_TEST(state_with({warning, critical}, {note}) == "critical");
  BOOST_TEST(static_cast<int>(check_state::unknown) == 3);
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_not_none) {
  findings seen = samples::healthy();
  seen.groups.reset();
  seen.topics.reset();
  seen.trouble = "no connection";
  BOOST_TEST(to_lines(judge(seen, {}, {})) ==
             "ZKADMIN UNKNOWN - 1 thing not known\n"
             "unknown shard groups, topics: not known: no connection\n");
  BOOST_TEST((state_of(judge(seen, {true, true, false, false, true, false}, {})) == check_state::ok));
  seen = samples::healthy();
  seen.elections->refused = true;
  seen.groups->complete = false;
  BOOST_TEST(to_lines(judge(seen, {}, {})) ==
             "ZKADMIN UNKNOWN - 2 things not known\n"
             "unknown elections: something may not be read with these credentials\n"
             "unknown shard groups: there may be more than those that were found\n");
}

// The search is the same for all kinds.
BOOST_AUTO_TEST_CASE(a_note_of_the_search_is_told_once) {
  findings seen = samples::healthy();
  const std::vector<survey_note> notes{{"/closed", "may not be read with these credentials"}};
  seen.elections->notes = seen.groups->notes = seen.topics->notes = seen.commits->notes = notes;
  seen.elections->complete = seen.groups->complete = seen.topics->complete = seen.commits->complete = false;
  BOOST_TEST(judge(seen, {}, {}).unknown.size() == 1u);
}

BOOST_AUTO_TEST_CASE(critical_problems_come_first) {
  const auto judged = judge(samples::sick(), samples::all_kinds, {});
  const auto is_critical_one = [](const problem& each) { return each.how_bad == severity::critical; };
  BOOST_TEST(std::is_partitioned(judged.problems.begin(), judged.problems.end(), is_critical_one));
  BOOST_TEST((judged.problems[0].how_bad == severity::critical));
}

BOOST_AUTO_TEST_CASE(only_the_wanted_kinds_are_judged) {
  const wanted_kinds topics{false, false, false, true, false, false, false};
  for (const auto& each : judge(samples::sick(), topics, {}).problems) BOOST_TEST(each.where == "/mail");
  BOOST_TEST(judge(samples::sick(), topics, {}).extent == "1 topic");
}

BOOST_AUTO_TEST_CASE(json_of_a_check) {
  auto judged = two_problems();
  judged.unknown = {{"/closed", "may not be read"}};
  const auto text = to_json(judged);
  BOOST_TEST(text.find('\n') == text.size() - 1);
  BOOST_TEST(json::serialize(json::parse(text)) ==
             R"({"schema":1,"state":"critical","complete":false,"problems":[)"
             R"({"name":"nobody-in-line","severity":"critical","where":"/e","text":"nobody is there"},)"
             R"({"name":"server-down","severity":"warning","where":"a:2181","text":"Connection refused"}],)"
             R"("notes":[{"path":"/closed","text":"may not be read"}]})");
}

BOOST_AUTO_TEST_CASE(tsv_of_a_check) {
  auto judged = two_problems();
  judged.unknown = {{"/closed", "may not be read"}};
  BOOST_TEST(to_tsv(judged) ==
             "check\tcritical\tincomplete\t2\n"
             "problem\tcritical\tnobody-in-line\t/e\tnobody is there\n"
             "problem\twarning\tserver-down\ta:2181\tConnection refused\n"
             "note\t/closed\tmay not be read\n");
}

BOOST_AUTO_TEST_CASE(texts_from_the_cluster_can_harm_neither_a_terminal_nor_a_plug_in) {
  auto judged = two_problems();
  judged.problems[0].where = "/a|b\n\x1b[2J\xff";
  for (const unsigned char c : to_lines(judged)) BOOST_TEST((c != '|' && (c == '\n' || (c >= 0x20 && c != 0x7f))));
  BOOST_TEST(to_lines(judged).find("/a¦b") != std::string::npos);
  BOOST_TEST(to_line("a|b\nc") == "ZKADMIN UNKNOWN - a¦b\uFFFDc\n");
}

BOOST_AUTO_TEST_CASE(a_part_of_the_cluster) {
  const auto everything = parse_targets({});
  BOOST_TEST((everything.kinds.servers && everything.kinds.has_recipes()));
  BOOST_TEST(everything.paths.empty());
  const auto servers = parse_targets({"servers"});
  BOOST_TEST((servers.kinds.servers && !servers.kinds.has_recipes()));
  const auto below = parse_targets({"/orders/", "/b", "/orders/x", "/orders", "/b2"});
  BOOST_TEST((below.paths == std::vector<std::string>{"/b", "/b2", "/orders"}));
  BOOST_TEST(below.named.size() == 5u, "each has to hold something");
  BOOST_TEST((!below.kinds.servers && below.kinds.elections && below.kinds.commits));
  const auto both = parse_targets({"servers", "groups", "/orders"});
  BOOST_TEST((both.kinds.servers && both.kinds.groups && !both.kinds.topics));
  BOOST_TEST(refused_targets({"locks"}).starts_with("--only: expected servers, elections, groups"));
  BOOST_TEST(refused_targets({"queues"}).starts_with("--only queues: there are none; declare them"));
  BOOST_TEST(refused_targets({"/a//b"}).starts_with("PATH: expected an absolute path"));
}

BOOST_AUTO_TEST_CASE(queues_are_declared) {
  const std::vector<std::string> declared{"/jobs", "/shop/jobs"};
  BOOST_TEST((parse_targets({}, declared).queues == declared));
  BOOST_TEST(parse_targets({}, declared).kinds.queues);
  BOOST_TEST(!parse_targets({}).kinds.queues);
  BOOST_TEST((parse_paths("/b,/a,/b") == std::vector<std::string>{"/a", "/b"}), "none twice");
  const auto below = parse_targets({"/shop"}, declared);
  BOOST_TEST((below.kinds.queues && below.queues == std::vector<std::string>{"/shop/jobs"}));
  BOOST_TEST(!parse_targets({"/other"}, declared).kinds.queues);
  const auto alone = parse_targets({"queues"}, declared);
  BOOST_TEST((alone.kinds.queues && !alone.kinds.elections && alone.queues == declared));
  BOOST_TEST(!parse_targets({"topics"}, declared).kinds.queues);
}

// Also a mistake in its arguments makes `check` exit with 3.
BOOST_AUTO_TEST_CASE(the_command_is_known_before_the_arguments_are_parsed) {
  BOOST_TEST(is_check({"check", "--nonsense"}));
  BOOST_TEST(is_check({"--hosts", "a", "check"}));
  BOOST_TEST(!is_check({"resign", "check"}));
  BOOST_TEST(!is_check({}));
}

BOOST_AUTO_TEST_CASE(the_value_of_an_option_is_no_command) {
  BOOST_TEST(!is_check({"--name", "check", "status"}));
  BOOST_TEST(!is_check({"--name", "check", "--nonsense"}));
  BOOST_TEST(is_check({"--name", "status", "check"}));
  BOOST_TEST(is_check({"--name=status", "check"}));
  BOOST_TEST(is_check({"--no-color", "check"}), "a flag has no value");
  BOOST_TEST(is_check({"--config", "--name", "status", "check"}), "an option without its value");
}

BOOST_AUTO_TEST_SUITE_END()
