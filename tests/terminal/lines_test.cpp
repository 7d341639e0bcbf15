// Interventions in lines: what is asked for on the command line, who may be taken out of a line, and what is reported.
#include <sstream>

#include <boost/json/parse.hpp>
#include <boost/test/unit_test.hpp>

#include "base/failure.hpp"
#include "change/waiting_line.hpp"
#include "report/follow_report.hpp"
#include "settings/command_line.hpp"

using namespace zkadmin;
using namespace std::chrono_literals;
namespace json = boost::json;

namespace {

line_request parsed_line(std::vector<const char*> arguments) {
  std::ostringstream ignored;
  return parse_command_line(arguments, ignored).value().line;
}

template <class Call>
std::string usage_error_of(Call call) {
  try {
    call();
  } catch (const failure& error) {
    BOOST_TEST(static_cast<int>(error.code()) == static_cast<int>(exit_code::usage));
    return error.what();
  }
  return {};
}

bool has_usage_error(std::vector<const char*> arguments) {
  return !usage_error_of([&] { parsed_line(arguments); }).empty();
}

line_place member_of(std::string name, std::string id, place_role role) {
  line_place place{name, "/l/" + name, id, id};
  place.stat.czxid = 7;
  place.stat.version = 3;
  place.role = role;
  return place;
}

std::string permit(const std::string& who, int weight) {
  return "_c_" + std::string(35, '0') + who + "-" + std::to_string(weight) + "-permit-0000000001";
}

waiting_line sample(recipe which) {
  waiting_line line{"/l", {which}};
  line.places = {member_of("_c_a-lock-0000000001", "a", place_role::holder),
                 member_of("_c_b-lock-0000000002", "b", place_role::waiter),
                 member_of("_c_c-lock-0000000003", "c", place_role::waiter)};
  return line;
}

std::string refusal_of(const waiting_line& line, std::size_t which, bool force = false) {
  try {
    eviction_of(line, which, force);
  } catch (const failure& error) {
    return error.what();
  }
  return {};
}

std::string revocation_refusal(const waiting_line& line, const revocation_choice& choice) {
  try {
    revocation_of(line, choice);
  } catch (const failure& error) {
    return error.what();
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lines)

BOOST_AUTO_TEST_CASE(options_of_revoke) {
  const auto plain = parsed_line({"revoke", "/l"});
  BOOST_TEST((plain.of.empty() && !plain.grace && !plain.wait && !plain.force && !plain.in_curators_form));
  const auto full = parsed_line({"revoke", "/l", "--of", "a", "--grace", "2s", "--wait", "--for", "10s", "--force",
                                 "--yes", "/l", "--curator", "--kind", "lock", "-o", "ndjson", "--rw"});
  BOOST_TEST(full.of == "a");
  BOOST_TEST((full.grace == 2s && full.limit == 10s));
  BOOST_TEST((full.wait && full.force && full.in_curators_form && full.as_lines));
  BOOST_TEST((full.yes == "/l" && full.kind == "lock"));
  require_revocation(full);
  BOOST_TEST(usage_error_of([] { require_revocation({.limit = 1s}); }) == "revoke: --for, --force and -o need --wait");
  BOOST_TEST(usage_error_of([] { require_revocation({.grace = 1s, .force = true}); }) ==
             "revoke: --for, --force and -o need --wait");
  BOOST_TEST(usage_error_of([] { require_revocation({.wait = true, .force = true}); }) ==
             "revoke: --force needs --grace");
  BOOST_TEST(usage_error_of([] { require_revocation({.wait = true, .yes = "/l"}); }) == "revoke: --yes needs --force");
  BOOST_TEST(usage_error_of([] { require_revocation({.wait = true, .limit = 1s, .grace = 1s, .force = true}); }) ==
             "revoke: --grace has to be shorter than --for");
  BOOST_TEST(has_usage_error({"revoke", "/l", "-o", "json"}));
  BOOST_TEST(has_usage_error({"revoke"}));
}

BOOST_AUTO_TEST_CASE(options_of_evict_and_service) {
  BOOST_TEST(parsed_line({"evict", "/l", "--node", "n"}).node == "n");
  BOOST_TEST(parsed_line({"evict", "/l", "--id", "i", "--force", "--yes", "/l/n"}).yes.value() == "/l/n");
  for (const line_request& each : {line_request(), line_request{.node = "n", .id = "i"}})
    BOOST_TEST(usage_error_of([&] { require_eviction(each); }) == "evict: name the waiter by --node or by --id");
  BOOST_TEST(usage_error_of([] { require_eviction({.id = "i", .yes = "/l"}); }) == "evict: --yes needs --force");
  BOOST_TEST(parsed_line({"service", "drain", "/s/billing", "1"}).instance == "1");
  BOOST_TEST(parsed_line({"service", "undrain", "/s/billing", "1", "--rw"}).instance == "1");
  BOOST_TEST(has_usage_error({"service", "drain", "/s/billing"}));
  BOOST_TEST(has_usage_error({"service"}));
}

BOOST_AUTO_TEST_CASE(a_waiter_is_taken_out_while_somebody_ahead_is_there) {
  const auto change = eviction_of(sample(recipe::lock), 2, false);
  BOOST_TEST(to_text(change.requests) == "check /l/_c_a-lock-0000000001\ndelete /l/_c_c-lock-0000000003 version=3\n");
  BOOST_TEST((change.same == std::vector<seen_node>{{"/l/_c_c-lock-0000000003", 7}}));
  BOOST_TEST(change.done == "took c out of the line at /l");
  BOOST_TEST(change.to_confirm == "");
}

BOOST_AUTO_TEST_CASE(who_holds_or_may_hold_is_taken_out_by_force_only) {
  BOOST_TEST(refusal_of(sample(recipe::lock), 0) ==
             "a holds /l; ask it with `zkadmin revoke`, or end its place with --force: nothing was sent");
  BOOST_TEST(
      refusal_of(sample(recipe::election), 0).starts_with("a is first in line at /l, and leads or is about to; "));
  auto line = sample(recipe::lock);
  line.places[0].is_readable = false;
  BOOST_TEST(refusal_of(line, 1).starts_with("it is not known for certain that b waits at /l: "));
  BOOST_TEST(refusal_of(line, 2) == "", "the second in line may be read");
  line.places[2].role = place_role::unknown;
  BOOST_TEST(refusal_of(line, 2).starts_with("it is not known for certain that c waits at /l: "));
  const auto forced = eviction_of(line, 0, true);
  BOOST_TEST(to_text(forced.requests) == "delete /l/_c_a-lock-0000000001 version=3\n");
  BOOST_TEST(forced.to_confirm == "/l/_c_a-lock-0000000001");
}

BOOST_AUTO_TEST_CASE(readers_wait_for_writers_only) {
  waiting_line line{"/l", {recipe::read_write_lock}};
  line.places = {member_of("_c_a-__READ__0000000001", "a", place_role::holder),
                 member_of("_c_b-__WRIT__0000000002", R"({"id":"b","shared":true})", place_role::holder),
                 member_of("_c_c-__WRIT__0000000003", "c", place_role::waiter),
                 member_of("_c_d-__READ__0000000004", "d", place_role::waiter)};
  BOOST_TEST(to_text(conditions_of_waiting(line, 3).value()) == "check /l/_c_c-__WRIT__0000000003 version=3\n");
  BOOST_TEST(to_text(conditions_of_waiting(line, 2).value()) == "check /l/_c_a-__READ__0000000001 version=3\n");
  line.places[2].is_readable = false;
  BOOST_TEST(!conditions_of_waiting(line, 3), "it may let readers pass");
}

BOOST_AUTO_TEST_CASE(a_hold_of_the_same_session_keeps_nobody_waiting) {
  waiting_line line{"/l", {recipe::read_write_lock}};
  line.places = {member_of("_c_a-__READ__0000000001", "a", place_role::holder),
                 member_of("_c_b-__READ__0000000002", "b", place_role::holder),
                 member_of("_c_a-__WRIT__0000000003", "a", place_role::waiter)};
  line.places[0].stat.ephemeral_owner = line.places[2].stat.ephemeral_owner = 5;
  BOOST_TEST(to_text(conditions_of_waiting(line, 2).value()) == "check /l/_c_b-__READ__0000000002 version=3\n");
  line.places[1].stat.ephemeral_owner = 5;
  BOOST_TEST(!conditions_of_waiting(line, 2), "it may be a reader that has become a writer");
}

BOOST_AUTO_TEST_CASE(permits_are_counted) {
  waiting_line line{"/l", {recipe::semaphore}};
  line.root.data = R"({"zkrecipes":"semaphore","size":3})";
  line.root.stat.version = 5;
  line.places = {member_of(permit("a", 1), "a", place_role::holder), member_of(permit("b", 2), "b", place_role::holder),
                 member_of(permit("c", 1), "c", place_role::waiter)};
  BOOST_TEST(to_text(conditions_of_waiting(line, 2).value()) ==
             "check /l version=5\ncheck /l/" + permit("a", 1) + "\ncheck /l/" + permit("b", 2) + "\n");
  line.places[0].is_readable = false;
  BOOST_TEST(!conditions_of_waiting(line, 2), "those that can be checked leave room for one more");
  line.root.data = "other";
  BOOST_TEST(!conditions_of_waiting(line, 2));
}

BOOST_AUTO_TEST_CASE(all_holders_are_asked_in_one_transaction) {
  waiting_line line{"/l", {recipe::semaphore}};
  line.places = {member_of("_c_a-1-permit-0000000001", "a", place_role::holder),
                 member_of("_c_b-1-permit-0000000002", "b", place_role::holder)};
  const auto both = revocation_of(line, {.grace = 2s});
  BOOST_TEST(both.request.done == "asked a, b to give up /l");
  BOOST_TEST(to_text(both.request.requests) ==
             "set /l/_c_a-1-permit-0000000001 version=3 data="
             R"({"zkrecipes":"member","id":"a","revoke":true,"grace_ms":2000})"
             "\nset /l/_c_b-1-permit-0000000002 version=3 data="
             R"({"zkrecipes":"member","id":"b","revoke":true,"grace_ms":2000})"
             "\n");
  BOOST_TEST(revocation_of(line, {.of = "_c_b-1-permit-0000000002"}).holders.size() == 1u);
  line.places[1].id = "a";
  BOOST_TEST(revocation_refusal(line, {.of = "a"}) ==
             "2 holders have the id a; name the node of one: nothing was sent");
  line.places.assign(1'001, line.places[0]);
  BOOST_TEST(revocation_refusal(line, {}).find("1001 members hold /l, too many for one request; name one by --of") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_shorter_grace_is_kept) {
  auto line = sample(recipe::lock);
  line.places[0].data = R"({"zkrecipes":"member","id":"a","revocable":true,"revoke":true,"grace_ms":1000})";
  BOOST_TEST(revocation_of(line, {}).request.requests.empty(), "it has been asked already");
  BOOST_TEST(revocation_of(line, {.grace = 2s}).holders[0].was_asked);
  BOOST_TEST(to_text(revocation_of(line, {.grace = 500ms}).request.requests).find("\"grace_ms\":500") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(steps_and_the_end_as_text_and_as_lines) {
  revocation_progress progress{"/l", {{"a", "n1", true}, {"b", "n2", false}}};
  BOOST_TEST(to_line(progress.holders[0]) == "    +0 ms  asked         a\n");
  BOOST_TEST(to_line(progress.holders[1]) == "    +0 ms  not asked     b\n");
  progress.record_gone(0, 312ms);
  BOOST_TEST(!progress.is_done());
  BOOST_TEST(to_line(progress.holders[0]) == "  +312 ms  gone          a\n");
  BOOST_TEST(remainder_text(progress) == "b still holds /l");
  const auto open = json::parse(to_ndjson(progress, "b still holds /l after 1.0 s"));
  BOOST_TEST((!open.at("done").as_bool() && open.at("holders").is_null()));
  BOOST_TEST((open.at("gone") == json::array{"a"} && open.at("still_there") == json::array{"b"}));
  progress.record_gone(1, 1'500ms);
  BOOST_TEST(progress.is_done());
  BOOST_TEST(result_line(progress) == "a, b hold /l no more, 1.5 s after the request\n",
             "who holds it now is not known");
  progress.is_present_known = true;
  BOOST_TEST(result_line(progress) == "a, b hold /l no more, 1.5 s after the request; nobody holds it\n");
  progress.present = {"c\x1b"};
  BOOST_TEST(result_line(progress).ends_with("; c\ufffd holds it\n"));
  const auto end = json::parse(to_ndjson(progress, ""));
  BOOST_TEST((end.at("done").as_bool() && end.at("after_ms") == 1'500 && end.at("problem").is_null()));
}

BOOST_AUTO_TEST_SUITE_END()
