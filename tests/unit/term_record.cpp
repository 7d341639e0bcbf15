// The record of a term: a record is read as it was written, and garbage is never believed and never fatal.
#include "election/term_record.hpp"

#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include "line/member_data.hpp"

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
