// Records that a later version of the library has written: they are read, and what this version does not know is kept
// when it writes them again. Records of older versions are still read.
#include <array>
#include <limits>

#include <zkrecipes/barrier.hpp>
#include <zkrecipes/semaphore.hpp>
#include <zkrecipes/two_phase_commit.hpp>

#include "barrier/round_view.hpp"
#include "commit/transaction_index.hpp"
#include "election/term_record.hpp"
#include "line/line_spec.hpp"
#include "queue/queue_layout.hpp"
#include "semaphore/semaphore.hpp"
#include "unit/fake_session.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace zkrecipes::test;

namespace {

/// Numbers that a double or 64 bits do not hold, and other texts that would come out differently if they were read.
const std::string later = R"("later":{"a":[1,null,0.1000000000000000055511,12345678901234567890123,-0,1e999,2.50],)"
                          R"("b":"\u0041\/","b":9007199254740993.0})";

/// The record with a field that this version does not know.
std::string with_later(const std::string& record) { return "{" + later + "," + record.substr(1); }
bool has_later(const std::string& record) { return record.find(later) != record.npos; }

const std::string term_seven = R"({"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean",)"
                               R"("hand_over_deadline_ms":10000,"leader":{"id":"a","node":"n","token":5}})";
const std::string permits_of_three = R"({"zkrecipes":"semaphore","size":3})";
const std::string round_seven = R"({"zkrecipes":"double_barrier","round":7,"members":["g"],"places":[12]})";
const std::string begun = R"({"zkrecipes":"commit","by":"g","participants":["a"],"data":"d","decision":"pending",)"
                          R"("reason":""})";
const std::string commit_home = R"({"zkrecipes":"two_phase_commit","layout":2})";

std::string with(std::string record, const std::string& from, const std::string& to) {
  const auto found = record.find(from);
  BOOST_TEST_REQUIRE(found != record.npos, from << " in " << record);
  return record.replace(found, from.size(), to);
}

struct future_case : connected_session {
  /// Answers requests with nothing, until one of this kind is next.
  const backend::request& until(backend::opcode what) {
    for (int i = 0; i < 100 && !last().pending.empty() && last().pending.front().first.op != what; ++i) answer();
    BOOST_TEST_REQUIRE(!last().pending.empty());
    BOOST_TEST_REQUIRE((last().pending.front().first.op == what));
    return last().pending.front().first;
  }
  backend::request answer_data(std::string data, std::int32_t version) {
    return answer_with({.data = std::move(data), .stat = {.version = version}});
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(records_from_the_future)

BOOST_AUTO_TEST_CASE(a_term_keeps_what_is_unknown) {
  auto record = parse_record(with_later(term_seven));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(record->epoch == 7);
  BOOST_TEST((record->phase == term_phase::executing));
  record->phase = term_phase::retired;
  const auto again = serialize(*record);
  BOOST_TEST(has_later(again), again);
  BOOST_TEST(again.starts_with(R"({"zkrecipes":"term")"));
  BOOST_TEST((parse_record(again)->phase == term_phase::retired));
}

BOOST_AUTO_TEST_CASE(a_term_in_an_unknown_phase_is_not_finished) {
  for (const std::string phase : {"draining", "unknown", ""}) {
    const auto record = parse_record(with(term_seven, "executing", phase));
    BOOST_TEST_REQUIRE(record.has_value(), phase);
    BOOST_TEST((record->phase == term_phase::unknown));
    BOOST_TEST(!record->finished());
    BOOST_TEST((record->hand_over_deadline == 10s));
  }
}

BOOST_AUTO_TEST_CASE(a_term_that_took_over_in_an_unknown_way_was_forced) {
  const auto record = parse_record(with(term_seven, "clean", "by_vote"));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST((record->how == takeover::forced));
}

BOOST_AUTO_TEST_CASE(a_known_field_is_of_its_type_and_within_its_bounds) {
  using change = std::array<std::string, 3>;
  const change changes[] = {{term_seven, R"("executing")", "7"},
                            {term_seven, R"("clean")", "null"},
                            {term_seven, R"("epoch":7)", R"("epoch":-1)"},
                            {term_seven, ":10000", ":86400001"},
                            {term_seven, R"("token":5)", R"("token":9223372036854775808)"}};
  for (const auto& [record, from, to] : changes) {
    BOOST_TEST(!parse_record(with_later(with(record, from, to))).has_value(), to);
  }
  BOOST_TEST(!parse_permits(with_later(with(permits_of_three, ":3", ":0"))).has_value());
  BOOST_TEST(!parse_permits(with_later(with(permits_of_three, ":3", R"(:"3")"))).has_value());
  BOOST_TEST(!parse_round(with_later(with(round_seven, ":7", ":7.5"))).has_value());
  BOOST_TEST(!parse_round(with_later(with(round_seven, "12", "2147483648"))).has_value());
  BOOST_TEST(!parse_commit(with_later(with(begun, R"(["a"])", R"(["a",1])"))).has_value());
  BOOST_TEST(!parse_commit(with_later(with(begun, "pending", "postponed"))).has_value());
  BOOST_TEST(!layout_of(with_later(with(commit_home, ":2", ":3"))).has_value());
  BOOST_TEST(!layout_of(with_later(with(commit_home, ":2", R"(:"2")"))).has_value());
}

BOOST_AUTO_TEST_CASE(a_semaphore_keeps_what_is_unknown) {
  auto record = parse_permits(with_later(permits_of_three));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(record->size == 3);
  record->size = 5;
  const auto again = serialize(*record);
  BOOST_TEST(has_later(again), again);
  BOOST_TEST(parse_permits(again)->size == 5);
}

BOOST_AUTO_TEST_CASE(a_semaphore_is_marked_for_older_versions_too) {
  BOOST_TEST(serialize(permit_record{3}) == R"({"zkrecipes":"semaphore","recipe":"semaphore","size":3})");
  const auto old = parse_permits(R"({"recipe":"semaphore","size":3,"before":2,"shrunk_from":4})");
  BOOST_TEST_REQUIRE(old.has_value());
  BOOST_TEST((*old == permit_record{3, 2, 4}));
  BOOST_TEST(serialize(*old) ==
             R"({"zkrecipes":"semaphore","recipe":"semaphore","size":3,"before":2,"shrunk_from":4})");
  BOOST_TEST(!parse_permits(R"({"zkrecipes":"term","recipe":"semaphore","size":3})").has_value());
}

BOOST_AUTO_TEST_CASE(a_round_keeps_what_is_unknown) {
  auto record = parse_round(with_later(round_seven));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(record->round == 7);
  BOOST_TEST(record->knows("g"));
  const auto again = serialize(*record);
  BOOST_TEST(has_later(again), again);
  BOOST_TEST(parse_round(again)->places == record->places, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_transaction_keeps_what_is_unknown) {
  auto record = parse_commit(with_later(begun));
  BOOST_TEST_REQUIRE(record.has_value());
  record->outcome = {decision::committed, ""};
  const auto again = serialize(*record);
  BOOST_TEST(has_later(again), again);
  BOOST_TEST((parse_commit(again)->outcome.decision == decision::committed));
}

BOOST_AUTO_TEST_CASE(votes_are_marked_and_older_ones_are_read) {
  BOOST_TEST(serialize(commit_vote{"a", ballot::yes, "r"}) == R"({"zkrecipes":"vote","vote":"yes","reason":"r"})");
  for (const std::string vote :
       {R"({"vote":"yes","reason":"r"})", R"({"zkrecipes":"vote","vote":"yes","reason":"r"})"}) {
    for (const auto& each : {vote, with_later(vote)}) {
      const auto read = parse_vote(each);
      BOOST_TEST_REQUIRE(read.has_value(), each);
      BOOST_TEST((read->ballot == ballot::yes));
      BOOST_TEST(read->reason == "r");
    }
  }
  BOOST_TEST(!parse_vote(R"({"zkrecipes":"term","vote":"yes","reason":"r"})").has_value());
}

BOOST_AUTO_TEST_CASE(dead_letters_are_marked_and_older_ones_are_read) {
  const std::string about = R"("item":"qn-1","attempts":2,"reason":"r"})";
  BOOST_TEST(write_letter({.item = "qn-1", .data = "data", .reason = "r", .attempts = 2}) ==
             R"({"zkrecipes":"dead_letter",)" + about + "\ndata");
  for (const auto& each : {"{" + about, with_later("{" + about), R"({"zkrecipes":"dead_letter",)" + about}) {
    const auto read = read_letter(each + "\ndata");
    BOOST_TEST_REQUIRE(read.has_value(), each);
    BOOST_TEST(read->item == "qn-1");
    BOOST_TEST(read->attempts == 2);
    BOOST_TEST(read->data == "data");
  }
  BOOST_TEST(!read_letter(R"({"zkrecipes":"term",)" + about + "\ndata").has_value());
  const std::string unusual = R"({"zkrecipes":"dead_letter","item":"qn-1","reason":"r","attempts":)";
  BOOST_TEST(read_letter(unusual + "2147483647}\n").value().attempts == 2147483647);
  for (const char* number : {"-1", "2147483648", "4294967297", "2.5"}) {
    BOOST_TEST(!read_letter(unusual + number + "}\n").has_value(), number);
  }
}

BOOST_AUTO_TEST_CASE(members_of_lines_are_marked_and_keep_what_is_unknown) {
  BOOST_TEST(revocable_data("me") == R"({"zkrecipes":"member","id":"me","revocable":true})");
  BOOST_TEST(with_shared("me") == R"({"zkrecipes":"member","id":"me","shared":true})");
  BOOST_TEST(campaigner_data("me") == R"({"zkrecipes":"candidate","id":"me","keeps_record":false})");
  BOOST_TEST(candidate_data("me", true) ==
             R"({"zkrecipes":"candidate","id":"me","keeps_record":true,"awaiting":true})");
  for (const std::string data :
       {R"({"id":"me","revocable":true})", R"({"zkrecipes":"member","id":"me","revocable":true})"}) {
    for (const auto& next : {with_revocation(with_later(data), 1s), with_shared(with_later(data))}) {
      BOOST_TEST(has_later(next), next);
      BOOST_TEST(member_id(next) == "me");
      BOOST_TEST(is_revocable(next));
    }
  }
  BOOST_TEST(is_of_ours(with_later(R"({"id":"me","keeps_record":false})")));
}

BOOST_AUTO_TEST_CASE(the_home_of_transactions_keeps_what_is_unknown) {
  BOOST_TEST(indexed_data() == commit_home);
  BOOST_TEST((layout_of("") == commit_layout::mixed));
  BOOST_TEST((layout_of(R"({"zkrecipes":"two_phase_commit"})") == commit_layout::mixed));
  BOOST_TEST((layout_of(commit_home) == commit_layout::indexed));
  BOOST_TEST((layout_of(with_later(commit_home)) == commit_layout::indexed));
  BOOST_TEST(indexed_data(R"({"zkrecipes":"two_phase_commit"})") == commit_home);
  BOOST_TEST(indexed_data(with_later(commit_home)) == with_later(commit_home));
  for (const std::string other : {"x", "{}", "[]", R"({"zkrecipes":"term"})"}) {
    BOOST_TEST(!layout_of(other).has_value(), other);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(rewritten_records_from_the_future, future_case)

BOOST_AUTO_TEST_CASE(a_resize_keeps_what_is_unknown) {
  semaphore all(zk, "/s", 3);
  auto resized = all.async_resize(5, begun());
  until(backend::opcode::get);
  answer_data(with_later(permits_of_three), 4);
  const auto written = until(backend::opcode::set);
  BOOST_TEST(has_later(written.data), written.data);
  BOOST_TEST(parse_permits(written.data)->size == 5);
  BOOST_TEST(parse_permits(written.data)->before == 3);
  BOOST_TEST(written.version == 4);
}

// The data of the path is written again by each clean-up, which takes the time from that write.
BOOST_AUTO_TEST_CASE(a_clean_up_keeps_what_is_unknown_also_if_it_comes_meanwhile) {
  two_phase_commit commits(zk, "/c");
  auto cleaned = commits.async_clean_up(1h, begun());
  until(backend::opcode::get);
  answer_data(commit_home, 4);
  auto written = until(backend::opcode::set);
  BOOST_TEST(written.data == commit_home);
  BOOST_TEST(written.version == 4);
  fail(errc::bad_version);
  until(backend::opcode::get);
  answer_data(with_later(commit_home), 5);
  written = until(backend::opcode::set);
  BOOST_TEST(written.data == with_later(commit_home));
  BOOST_TEST(written.version == 5);
}

BOOST_AUTO_TEST_CASE(a_barrier_of_a_later_version_is_lifted) {
  const std::string plain = R"({"zkrecipes":"barrier"})";
  for (const auto& data : {plain, with_later(plain)}) {
    barrier gate(zk, "/b");
    auto lifted = gate.async_lift(begun());
    until(backend::opcode::get);
    answer_data(data, 0);
    until(backend::opcode::remove);
    answer();
    BOOST_TEST_REQUIRE(lifted.done());
    BOOST_TEST(!lifted.error(), data);
  }
}

BOOST_AUTO_TEST_CASE(an_object_of_another_recipe_is_no_barrier) {
  for (const std::string data : {"{", "{}", R"({"zkrecipes":"barriers"})"}) {
    barrier gate(zk, "/b");
    auto lifted = gate.async_lift(begun());
    until(backend::opcode::get);
    answer_data(data, 0);
    BOOST_TEST_REQUIRE(lifted.done());
    BOOST_TEST((lifted.error() == errc::foreign_data), data);
  }
}

BOOST_AUTO_TEST_SUITE_END()
