// What a queue consumer notes in the record of its term, and what the version before, which knows no notes, makes of
// it.
#include "notes/consumer_notes.hpp"

#include <string>

#include <boost/test/unit_test.hpp>

#include "election/term_record.hpp"
#include "shards/group_view_maker.hpp"

using namespace zkrecipes;
using namespace zkrecipes::detail;

namespace {

term_record noted() {
  term_record record;
  record.epoch = 7;
  record.phase = term_phase::executing;
  record.how = takeover::forced;
  record.leader_id = "a";
  record.leader_node = "n";
  record.leader_token = 5;
  consumer_notes notes;
  notes.crashes = 2;
  notes.in_hand = {"qn-0000000001", "qn-0000000004"};
  notes.figures.set("done", std::int64_t(12));
  record.notes = to_json(notes);
  return record;
}

/// The rules by which the version before reads a record and begins the next term: it knows five fields, and carries
/// the others along as they are.
struct version_before {
  explicit version_before(const std::string& text) : object(json_object::parse(text).value()) {
    BOOST_TEST(object.is("term"));
    leader = object.object("leader").value();
  }
  std::int64_t epoch() const { return object.integer("epoch").value(); }
  std::string phase() const { return object.text("phase").value(); }
  /// The record as it writes it, with the unknown fields behind its own.
  std::string write(std::int64_t epoch, const std::string& phase) const {
    auto next = json_object::of_kind("term");
    next.set("epoch", epoch).set("phase", phase).set("how", "clean");
    next.set("hand_over_deadline_ms", object.integer("hand_over_deadline_ms").value()).set("leader", leader);
    return next.add(object.without({"epoch", "phase", "how", "hand_over_deadline_ms", "leader"})).to_text();
  }

  json_object object;
  json_object leader;
};

term_record read(const std::string& text) {
  auto record = parse_record(text);
  BOOST_TEST_REQUIRE(record.has_value(), text);
  return std::move(*record);
}

/// Shows a figure in the notes.
void show(term_record& record, const char* name, const char* value) {
  auto notes = read_notes(record.notes);
  BOOST_TEST(notes.figures.set_raw(name, value));
  record.notes = to_json(notes);
}

std::string with_consumer(const std::string& field) {
  return R"({"zkrecipes":"term","epoch":7,"phase":"executing","how":"clean","hand_over_deadline_ms":0,)"
         R"("leader":{"id":"a","node":"n","token":5},"consumer":)" +
         field + "}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(consumer_note)

BOOST_AUTO_TEST_CASE(notes_are_read_as_they_were_written) {
  BOOST_TEST((read(serialize(noted())).notes == noted().notes));
  BOOST_TEST((to_json(read_notes(noted().notes)) == noted().notes));
}

BOOST_AUTO_TEST_CASE(a_record_without_notes_is_as_the_version_before_wrote_it) {
  auto record = noted();
  record.notes = {};
  BOOST_TEST(!json_object::parse(serialize(record))->object("consumer").has_value());
}

BOOST_AUTO_TEST_CASE(the_version_before_understands_a_record_with_notes) {
  const version_before old(serialize(noted()));
  BOOST_TEST(old.epoch() == 7);
  BOOST_TEST(old.phase() == "executing");
  BOOST_TEST(old.leader.text("id").value() == "a");
  BOOST_TEST(old.leader.text("node").value() == "n");
  BOOST_TEST(old.leader.integer("token").value() == 5);
}

BOOST_AUTO_TEST_CASE(notes_that_the_version_before_has_carried_into_its_term_count_as_none) {
  const version_before old(serialize(noted()));
  const auto next = read(old.write(8, "executing"));
  BOOST_TEST(next.epoch == 8);
  BOOST_TEST((next.notes == json_object()));
  const auto written = serialize(next);  // and they are not written again
  BOOST_TEST(!json_object::parse(written)->object("consumer").has_value(), written);
}

BOOST_AUTO_TEST_CASE(notes_of_its_own_term_outlive_a_write_of_the_version_before) {
  const version_before old(serialize(noted()));
  BOOST_TEST((read(old.write(7, "retired")).notes == noted().notes));
}

BOOST_AUTO_TEST_CASE(the_view_of_a_shard_tells_why_its_consumer_holds_off) {
  auto record = noted();
  BOOST_TEST(view_of_shard(3, serialize(record), {}).held_off.empty());
  show(record, "held_off", "\"the database is away\"");
  BOOST_TEST(view_of_shard(3, serialize(record), {}).held_off == "the database is away");
  record.phase = term_phase::retired;
  BOOST_TEST(view_of_shard(3, serialize(record), {}).held_off.empty());
}

BOOST_AUTO_TEST_CASE(the_view_of_a_shard_names_the_message_that_stays_in_process) {
  auto record = noted();
  show(record, "still_message", "\"qn-0000000007\"");
  BOOST_TEST(view_of_shard(3, serialize(record), {}).still_message.empty(), "it is not said to stand still");
  show(record, "still", "true");
  BOOST_TEST(view_of_shard(3, serialize(record), {}).still_message == "qn-0000000007");
  record.phase = term_phase::retired;
  BOOST_TEST(view_of_shard(3, serialize(record), {}).still_message.empty());
}

BOOST_AUTO_TEST_CASE(crashes_are_counted_up_to_what_can_be_read) {
  auto record = noted();
  const auto crash = [&record] {
    record.notes = next_notes(record, takeover::died);
    return read_notes(record.notes).crashes;
  };
  BOOST_TEST(crash() == 3);
  record.notes.set("crashes", std::int64_t(999'999));
  BOOST_TEST(crash() == 1'000'000);
  BOOST_TEST(crash() == 1'000'000);
}

BOOST_AUTO_TEST_CASE(a_field_of_another_type_counts_as_empty) {
  for (const char* crashes : {"-1", "1000001", "\"2\"", "2.5", "null", "[]"}) {
    const auto notes = read_notes(read(with_consumer(std::string(R"({"epoch":7,"crashes":)") + crashes + "}")).notes);
    BOOST_TEST(notes.crashes == 0, crashes);
  }
  for (const char* in_hand : {"\"a\"", "{}", "[1]", "7"}) {
    const auto field = std::string(R"({"epoch":7,"crashes":3,"in_hand":)") + in_hand + "}";
    const auto notes = read_notes(read(with_consumer(field)).notes);
    BOOST_TEST(notes.in_hand.empty(), in_hand);
    BOOST_TEST(notes.crashes == 3, in_hand);
  }
  for (const char* field : {"7", "[]", "\"a\"", "{}", R"({"epoch":6,"crashes":3})", R"({"epoch":"7","crashes":3})"}) {
    BOOST_TEST(read_notes(read(with_consumer(field)).notes).empty(), field);
  }
}

BOOST_AUTO_TEST_SUITE_END()
