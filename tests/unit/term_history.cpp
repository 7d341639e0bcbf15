// The history of terms in the record: what it tells, how long it stays, and what is not believed.
#include "election/term_history.hpp"

#include <boost/test/unit_test.hpp>

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

constexpr std::int64_t ms = 1'700'000'000'000;

std::int64_t to_ms(const std::optional<ended_term::time_point>& time) {
  return time ? time->time_since_epoch() / std::chrono::milliseconds(1) : -1;
}

term_record term_of(std::int64_t epoch, term_phase phase, std::string id = "billing-2") {
  term_record record;
  record.epoch = epoch;
  record.phase = phase;
  record.leader_id = std::move(id);
  record.leader_node = "n";
  record.began_ms = ms;
  return record;
}

term_record after(const term_record& before, takeover how, std::int64_t ended_ms) {
  auto next = term_of(before.epoch + 1, term_phase::inaugurating);
  next.how = how;
  next.began_ms = 0;
  next.history = history_after(before, how, ended_ms);
  return next;
}

ended_term last_of(const term_record& record, std::int64_t written_ms = 0) {
  const auto terms = read_history(record, written_ms);
  BOOST_TEST_REQUIRE(!terms.empty());
  return terms.back();
}

term_record read_again(const term_record& record) {
  auto read = parse_record(serialize(record));
  BOOST_TEST_REQUIRE(read.has_value());
  return *read;
}

term_record parsed_with(const std::string& history) {
  auto text = serialize(term_of(9, term_phase::executing));
  text.insert(1, "\"history\":" + history + ",");
  auto read = parse_record(text);
  BOOST_TEST_REQUIRE(read.has_value(), text);
  return *read;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(term_histories)

BOOST_AUTO_TEST_CASE(the_term_before_is_told_as_it_was) {
  const auto told = last_of(read_again(after(term_of(7, term_phase::retired), takeover::clean, ms + 5)));
  BOOST_TEST(told.epoch == 7);
  BOOST_TEST(told.leader == "billing-2");
  BOOST_TEST(to_ms(told.began) == ms);
  BOOST_TEST(to_ms(told.ended) == ms + 5);
  BOOST_TEST((told.outcome == term_outcome::retired));
}

BOOST_AUTO_TEST_CASE(how_a_term_ended) {
  const auto outcome = [](term_phase phase, takeover how) {
    return last_of(after(term_of(7, phase), how, ms)).outcome;
  };
  BOOST_TEST((outcome(term_phase::retired, takeover::clean) == term_outcome::retired));
  BOOST_TEST((outcome(term_phase::retired, takeover::confirmed_late) == term_outcome::confirmed_late));
  BOOST_TEST((outcome(term_phase::stalled, takeover::forced) == term_outcome::stalled));
  BOOST_TEST((outcome(term_phase::died, takeover::died) == term_outcome::died));
  for (auto phase : {term_phase::inaugurating, term_phase::executing, term_phase::handing_over, term_phase::unknown})
    BOOST_TEST((outcome(phase, takeover::forced) == term_outcome::forced), to_string(phase));
}

BOOST_AUTO_TEST_CASE(the_end_that_no_record_tells_is_the_beginning_of_the_next_term) {
  const auto forced = after(term_of(7, term_phase::executing), takeover::forced, ms + 5);
  BOOST_TEST(to_ms(last_of(forced, ms + 9).ended) == ms + 9, "the record is the first of the next term");
  auto executing = forced;
  executing.phase = term_phase::executing;
  BOOST_TEST(to_ms(last_of(executing, ms + 20).ended) == -1, "a version without `began_ms` has written it");
  executing.began_ms = ms + 9;
  BOOST_TEST(to_ms(last_of(executing, ms + 20).ended) == ms + 9);
  executing.phase = term_phase::retired;
  const auto later = read_history(after(executing, takeover::clean, ms + 30), ms + 31);
  BOOST_TEST_REQUIRE(later.size() == 2u);
  BOOST_TEST(to_ms(later[0].ended) == ms + 9);
  BOOST_TEST(to_ms(later[1].ended) == ms + 30);
}

BOOST_AUTO_TEST_CASE(a_term_that_never_executed_began_when_its_record_was_written) {
  auto short_one = term_of(7, term_phase::inaugurating);
  short_one.began_ms = 0;
  BOOST_TEST(to_ms(last_of(after(short_one, takeover::forced, ms)).began) == ms);
  short_one.phase = term_phase::executing;
  BOOST_TEST(to_ms(last_of(after(short_one, takeover::forced, ms)).began) == -1);
}

BOOST_AUTO_TEST_CASE(there_is_nothing_before_the_first_term) {
  BOOST_TEST(history_after(term_record{}, takeover::first, ms).empty());
  BOOST_TEST(serialize(term_of(1, term_phase::executing)).find("history") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(ten_thousand_terms_stay_bounded) {
  // The longest of everything: each byte of the id takes six in JSON.
  auto record = term_of(last_epoch - 10'000, term_phase::retired, std::string(256, '\x01'));
  record.began_ms = latest_ms;
  const auto bare = serialize(record).size();
  for (int i = 0; i < 10'000; ++i) {
    auto next = after(record, takeover::confirmed_late, latest_ms);
    next.phase = term_phase::retired;
    next.began_ms = latest_ms;
    next.leader_id = record.leader_id;
    record = read_again(next);
    BOOST_TEST_REQUIRE(serialize(record).size() < bare + 1200);
  }
  const auto terms = read_history(record, 0);
  BOOST_TEST_REQUIRE(terms.size() == most_ended_terms);
  for (std::size_t i = 0; i < terms.size(); ++i) {
    BOOST_TEST(terms[i].epoch == last_epoch - 8 + static_cast<std::int64_t>(i));
    BOOST_TEST(terms[i].leader == std::string(10, '\x01'));
  }
}

BOOST_AUTO_TEST_CASE(a_long_id_is_cut_at_the_end_of_a_character) {
  const auto cut_to = [](std::string id) {
    return last_of(read_again(after(term_of(7, term_phase::retired, std::move(id)), takeover::clean, ms))).leader;
  };
  BOOST_TEST(cut_to(std::string(64, 'x')) == std::string(64, 'x'));
  BOOST_TEST(cut_to(std::string(65, 'x')) == std::string(64, 'x'));
  BOOST_TEST(cut_to(std::string(63, 'x') + "\xc3\xa4") == std::string(63, 'x'));
  BOOST_TEST(cut_to(std::string(33, '"')) == std::string(32, '"'));
  BOOST_TEST(cut_to("a b  c ") == "a b  c ");
  BOOST_TEST(cut_to(" ") == " ");
}

BOOST_AUTO_TEST_CASE(what_can_not_be_believed_is_dropped_and_the_rest_stays) {
  const std::string good = R"("3 1 2 retired a")";
  for (const std::string& bad : std::vector<std::string>{
           R"("2 1 2 retired a")",  // the epochs have to grow
           R"("9 1 2 retired a")",  // not below that of the record
           R"("0 1 2 retired a")",
           R"("x 1 2 retired a")",
           R"("4 -1 2 retired a")",
           R"("4 1 2 retired")",  // no id
           R"("")",
           '"' + ("4 1 2 retired " + std::string(200, 'x')) + '"',
       }) {
    const auto record = parsed_with("[" + good + "," + bad + "]");
    BOOST_TEST(record.history == std::vector<std::string>{"3 1 2 retired a"}, boost::test_tools::per_element());
  }
  for (const char* other : {"7", "{}", "null", "[1]", "\"3 1 2 retired a\""})
    BOOST_TEST(parsed_with(other).history.empty(), other);
}

BOOST_AUTO_TEST_CASE(an_outcome_of_a_later_version_is_carried_along) {
  auto record = parsed_with(R"(["3 1 2 promoted a"])");
  BOOST_TEST((last_of(record).outcome == term_outcome::unknown));
  record.phase = term_phase::retired;
  const auto next = read_again(after(record, takeover::clean, ms));
  BOOST_TEST_REQUIRE(next.history.size() == 2u);
  BOOST_TEST(next.history[0] == "3 1 2 promoted a");
}

BOOST_AUTO_TEST_CASE(a_death_keeps_the_history) {
  auto alive = after(term_of(7, term_phase::retired), takeover::clean, ms);
  alive.phase = term_phase::executing;
  alive.began_ms = ms + 1;
  const auto dead = parse_record(record_of_death(serialize(alive)).value());
  BOOST_TEST_REQUIRE(dead.has_value());
  BOOST_TEST((dead->history == alive.history));
  BOOST_TEST(dead->began_ms == ms + 1);
}

BOOST_AUTO_TEST_CASE(a_time_beyond_the_clock_is_not_known) {
  auto text = serialize(term_of(9, term_phase::executing));
  text.replace(text.find("1700000000000"), 13, "9223372036854775807");
  BOOST_TEST(parse_record(text)->began_ms == 0);
  BOOST_TEST(to_ms(last_of(parsed_with(R"(["3 9223372036854775807 9223372036854775807 retired a"])")).began) == -1);
}

BOOST_AUTO_TEST_SUITE_END()
