// The record of a term: a record is read as it was written, and garbage is never believed and never fatal.
#include "election/term_record.hpp"

#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include "line/line_spec.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;
using namespace std::chrono_literals;

namespace {

term_record sample() {
  term_record record;
  record.epoch = 7;
  record.phase = term_phase::executing;
  record.how = takeover::clean;
  record.hand_over_deadline = 10s;
  record.leader_id = "billing \"2\" \xc3\xa4";
  record.leader_node = "_c_6b1f-latch-0000000012";
  record.leader_token = 4294967321;
  return record;
}

bool equal(const term_record& a, const term_record& b) {
  return a.epoch == b.epoch && a.phase == b.phase && a.how == b.how && a.leader_id == b.leader_id &&
         a.hand_over_deadline == b.hand_over_deadline && a.leader_node == b.leader_node &&
         a.leader_token == b.leader_token;
}

std::string with(const std::string& from, const std::string& to) {
  auto text = serialize(sample());
  const auto found = text.find(from);
  BOOST_TEST_REQUIRE(found != text.npos, from << " in " << text);
  return text.replace(found, from.size(), to);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(term_records)

BOOST_AUTO_TEST_CASE(what_is_written_is_read_again) {
  for (auto phase : {term_phase::none, term_phase::inaugurating, term_phase::executing, term_phase::handing_over,
                     term_phase::retired, term_phase::stalled, term_phase::died}) {
    for (auto how : {takeover::first, takeover::clean, takeover::confirmed_late, takeover::forced, takeover::died}) {
      auto record = sample();
      record.phase = phase;
      record.how = how;
      auto read = parse_record(serialize(record));
      BOOST_TEST_REQUIRE(read.has_value());
      BOOST_TEST(equal(*read, record), to_string(phase) << ' ' << to_string(how));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_id_of_any_bytes_is_no_obstacle) {
  auto record = sample();
  record.leader_id = "\xff\xfe latin-1 \xe4";
  auto read = parse_record(serialize(record));
  BOOST_TEST_REQUIRE(read.has_value());
  BOOST_TEST(equal(*read, record));
}

BOOST_AUTO_TEST_CASE(a_record_says_whether_its_leader_is_done) {
  auto record = sample();
  for (auto phase : {term_phase::none, term_phase::retired, term_phase::stalled, term_phase::died}) {
    record.phase = phase;
    BOOST_TEST(record.finished(), to_string(phase));
  }
  for (auto phase : {term_phase::inaugurating, term_phase::executing, term_phase::handing_over, term_phase::unknown}) {
    record.phase = phase;
    BOOST_TEST(!record.finished(), to_string(phase));
  }
}

BOOST_AUTO_TEST_CASE(no_data_is_the_record_of_no_term) {
  auto record = parse_record("");
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(equal(*record, term_record{}));
}

BOOST_AUTO_TEST_CASE(what_more_a_later_version_may_write_is_no_problem) {
  auto record = parse_record(with("{\"zkrecipes\"", "{\"more\":[1,{}],\"zkrecipes\""));
  BOOST_TEST_REQUIRE(record.has_value());
  BOOST_TEST(equal(*record, sample()));
  BOOST_TEST(record->unknown_fields.raw("more") == "[1,{}]");
}

BOOST_AUTO_TEST_CASE(a_term_without_an_aftermath_has_no_field_for_it) {
  BOOST_TEST(serialize(sample()).find("aftermath") == std::string::npos);
  BOOST_TEST((parse_record(serialize(sample()))->aftermath == 0ms));
}

BOOST_AUTO_TEST_CASE(the_aftermath_is_read_as_it_was_written) {
  auto record = sample();
  record.aftermath = 2500ms;
  BOOST_TEST((parse_record(serialize(record))->aftermath == 2500ms));
}

BOOST_AUTO_TEST_CASE(an_aftermath_that_can_not_be_read_counts_as_the_deadline) {
  for (const char* text : {"-1", "3600001", "\"2\"", "null", "2.5"}) {
    const auto record = parse_record(with("\"token\"", std::string("\"aftermath_ms\":") + text + ",\"token\""));
    BOOST_TEST_REQUIRE(record.has_value(), text);
    BOOST_TEST((record->aftermath == 10s), text);
  }
}

BOOST_AUTO_TEST_CASE(a_death_changes_the_phase_and_nothing_else) {
  for (auto phase : {term_phase::inaugurating, term_phase::executing, term_phase::handing_over}) {
    auto alive = sample();
    alive.phase = phase;
    alive.aftermath = 2s;
    alive.deaths = 2;
    alive.notes.set("crashes", std::int64_t(3)).set("later", "a");
    auto text = serialize(alive);
    text.insert(1, R"("later":[1],)");
    text.insert(text.find("\"token\""), R"("later":{"a":2},)");
    const auto written = record_of_death(text);
    BOOST_TEST_REQUIRE(written.has_value());
    const auto dead = parse_record(*written);
    BOOST_TEST_REQUIRE(dead.has_value());
    BOOST_TEST((dead->phase == term_phase::died));
    BOOST_TEST((dead->died_in == phase));
    BOOST_TEST((dead->aftermath == 2s));
    BOOST_TEST(dead->deaths == 2);
    BOOST_TEST((dead->notes == alive.notes));
    BOOST_TEST(dead->unknown_fields.raw("later") == "[1]");
    BOOST_TEST(json_object::parse(*written)->object("leader")->raw("later") == R"({"a":2})");
    auto revived = *dead;
    revived.phase = phase;
    BOOST_TEST(equal(revived, alive));
  }
}

BOOST_AUTO_TEST_CASE(only_a_term_that_is_known_to_go_on_can_die) {
  for (auto phase : {term_phase::none, term_phase::retired, term_phase::stalled, term_phase::died}) {
    auto record = sample();
    record.phase = phase;
    BOOST_TEST(!record_of_death(serialize(record)).has_value(), to_string(phase));
  }
  BOOST_TEST(!record_of_death(with("executing", "draining")).has_value());
  for (const char* text : {"", "x", "{}", "127.0.0.1"}) BOOST_TEST(!record_of_death(text).has_value(), text);
}

BOOST_AUTO_TEST_CASE(the_phase_of_a_death_that_is_not_told_is_unknown) {
  auto record = sample();
  record.phase = term_phase::died;
  auto object = json_object::parse(serialize(record)).value();
  auto leader = object.object("leader").value();
  object.set("leader", leader.erase("died_in"));
  BOOST_TEST((parse_record(object.to_text())->died_in == term_phase::unknown));
}

BOOST_AUTO_TEST_CASE(other_data_is_not_a_record) {
  for (std::string text :
       {"x", "7", "null", "[]", "{}", "127.0.0.1", "{\"zkrecipes\":\"queue\"}", "{\"zkrecipes\":7}"}) {
    BOOST_TEST(!parse_record(text).has_value(), text);
  }
  BOOST_TEST(!parse_record(with("\"term\"", "\"terms\"")).has_value());
  BOOST_TEST(!parse_record(with("\"epoch\":7", "\"epoch\":-1")).has_value());
  BOOST_TEST(!parse_record(with("\"epoch\":7", "\"epoch\":7.5")).has_value());
  BOOST_TEST(!parse_record(with("\"epoch\":7", "\"epoch\":\"7\"")).has_value());
  BOOST_TEST(!parse_record(with("\"epoch\":7", "\"age\":7")).has_value());
  BOOST_TEST(!parse_record(with(":10000", ":-1")).has_value());
  BOOST_TEST(!parse_record(with(":10000", ":86400001")).has_value());
  BOOST_TEST(!parse_record(with("\"leader\"", "\"ledger\"")).has_value());
}

// The epoch after it must be a valid number, too.
BOOST_AUTO_TEST_CASE(an_epoch_without_a_successor_is_refused) {
  const auto last = std::to_string(std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(!parse_record(with("\"epoch\":7", "\"epoch\":" + last)).has_value());
  BOOST_TEST(parse_record(with("\"epoch\":7", "\"epoch\":9007199254740992")).has_value());
}

BOOST_AUTO_TEST_CASE(no_truncation_is_believed) {
  const auto text = serialize(sample());
  for (std::size_t size = 1; size < text.size(); ++size) {
    BOOST_TEST(!parse_record(text.substr(0, size)).has_value(), size);
  }
}

BOOST_AUTO_TEST_CASE(no_garbage_throws) {
  std::mt19937 random(4711);
  const auto good = serialize(sample());
  for (int i = 0; i < 20'000; ++i) {
    auto text = good;
    for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
      text[random() % text.size()] = static_cast<char>(random());
    }
    BOOST_CHECK_NO_THROW(parse_record(text));
    std::string noise(random() % 64, '{');
    for (auto& each : noise) each = static_cast<char>(random());
    BOOST_CHECK_NO_THROW(parse_record(noise));
  }
  BOOST_CHECK_NO_THROW(parse_record(std::string(100'000, '[')));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(candidates)

BOOST_AUTO_TEST_CASE(a_candidate_says_who_it_is_and_what_it_does) {
  const auto plain = candidate_data("me", false);
  BOOST_TEST(member_id(plain) == "me");
  BOOST_TEST(keeps_record(plain));
  BOOST_TEST(!is_awaiting(plain));
  BOOST_TEST(is_awaiting(candidate_data("me", true)));
}

BOOST_AUTO_TEST_CASE(one_that_only_campaigns_says_who_it_is) {
  const auto plain = campaigner_data("me");
  BOOST_TEST(member_id(plain) == "me");
  BOOST_TEST(!keeps_record(plain));
  BOOST_TEST(is_of_ours(plain));
}

BOOST_AUTO_TEST_CASE(candidates_of_ours_are_told_from_foreign_ones) {
  for (const auto& data : {campaigner_data("me"), candidate_data("me", false), candidate_data("\xff", true),
                           with_revocation(campaigner_data("me"))}) {
    BOOST_TEST(is_of_ours(data), data);
  }
  for (std::string data : {"", "10.1.1.0", "{\"id\":\"me\"}", "{\"id\":7,\"keeps_record\":true}", "{broken",
                           "{\"keeps_record\":true}", "__REVOKE__", "[]", "\xff\xfe"}) {
    BOOST_TEST(!is_of_ours(data), data);
  }
}

BOOST_AUTO_TEST_CASE(foreign_candidates_keep_no_record) {
  for (std::string data : {"", "host-7", "{", "{}", "{\"keeps_record\":1}", "{\"keeps_record\":\"true\"}", "[true]"}) {
    BOOST_TEST(!keeps_record(data), data);
    BOOST_TEST(!is_awaiting(data), data);
  }
}

BOOST_AUTO_TEST_CASE(an_id_is_plain_text_or_a_field) {
  BOOST_TEST(member_id("") == "");
  BOOST_TEST(member_id("host-7") == "host-7");
  BOOST_TEST(member_id("{\"id\":\"host-7\"}") == "host-7");
  BOOST_TEST(member_id("{\"id\":7}") == "{\"id\":7}");
  BOOST_TEST(member_id("{broken") == "{broken");
}

BOOST_AUTO_TEST_CASE(a_request_to_give_up_keeps_the_rest) {
  const auto asked = with_revocation(candidate_data("me", true));
  BOOST_TEST(asks_revocation(asked));
  BOOST_TEST(member_id(asked) == "me");
  BOOST_TEST(is_awaiting(asked));
  BOOST_TEST(keeps_record(asked));
  BOOST_TEST(asks_revocation(with_revocation(asked)));
}

BOOST_AUTO_TEST_CASE(plain_ids_and_garbage_can_be_asked_too) {
  for (std::string data : {"", "host-7", "{broken", "[]", "\"x\"", "\xff\xfe"}) {
    const auto asked = with_revocation(data);
    BOOST_TEST(asks_revocation(asked), data);
    BOOST_TEST(member_id(asked) == data);
  }
}

BOOST_AUTO_TEST_CASE(who_was_not_asked_is_not) {
  for (std::string data : {"", "host-7", "revoke", "{\"revoke\":false}", "{\"revoke\":1}", "{\"revoke\":", "[]"}) {
    BOOST_TEST(!asks_revocation(data), data);
  }
  BOOST_TEST(asks_revocation("__REVOKE__"));  // Curator's word for it
}

BOOST_AUTO_TEST_SUITE_END()

// The history of terms in the record: what it tells, how long it stays, and what is not believed.
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
